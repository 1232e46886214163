"""The page at `/schema`, which documents the HTTP API."""

import pytest
from playwright.async_api import expect

from tests.entrypoints.browser.acting import assert_accessible, assert_fits
from tests.entrypoints.browser.visiting import PHONE, Visit

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_each_route_has_its_summary_and_names_are_code(visit: Visit):
    page = await visit.open("/schema")
    section = page.locator("section", has=page.get_by_role("heading", name="post /api/judge")).first
    await expect(section.locator("p").first).to_have_text("Judge one dispute.")
    await expect(section.locator("p").nth(1)).to_contain_text("One to six personas")
    await expect(section.locator("p code", has_text="references")).to_be_visible()
    assert "`" not in await page.locator("main").inner_text()
    await assert_accessible(page)


async def test_page_fits_a_phone(visit: Visit):
    page = await visit.open("/schema")
    await page.set_viewport_size(PHONE)
    await expect(page.get_by_role("heading", name="Schemas")).to_be_visible()
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    await assert_fits(page)
