"""The search tab, and documents as references, with a real index."""

import re

import httpx
import pytest
from playwright.async_api import expect

from tests.entrypoints.browser.acting import answer, ask, assert_accessible
from tests.entrypoints.browser.visiting import Visit

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


LONG_RULE = " ".join(["Nobody has to give a reason."] * 30)
RULES = {
    "collection": "policies",
    "document_id": "rules",
    "title": "Deployment <b>rules</b>",
    "folder": "2024",
    "tags": ["home"],
    "text": f"The landlord looks after the boiler.\n\n{LONG_RULE}",
}


@pytest.fixture
def rules(visit: Visit) -> str:
    """A searchable document; returns its collection."""
    url = f"{visit.deployment.server.url}/api/documents"
    assert httpx.post(url, json=RULES, timeout=60).status_code == 201
    return RULES["collection"]


async def test_search_shows_its_scope_and_highlights(visit: Visit, rules):
    page = await visit.open("/#search")
    await page.get_by_role("button", name="Search").click()
    await expect(page.locator("#q-error")).to_have_text("Say what to look for.")
    field = page.get_by_role("searchbox", name="Look for")
    await expect(field).to_have_attribute("aria-invalid", "true")
    await field.fill("boilers")
    await page.get_by_role("button", name="a collection", exact=True).click()
    await page.keyboard.type(rules)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="1 passage found")).to_be_focused()
    hit = page.locator(".hit").first
    await expect(hit.locator("mark")).to_have_text("boiler")
    await expect(hit.get_by_role("heading", name="Deployment <b>rules</b>")).to_be_visible()
    await expect(hit).to_contain_text(re.compile(r"policies.*lines 1 to \d+.*home"))
    await assert_accessible(page)


async def test_documents_in_the_scope_become_references(visit: Visit, rules):
    page = await visit.open()
    await page.get_by_text("More options").click()
    await page.get_by_label("Also read your documents in").fill(f"@collection:{rules}")
    await ask(page)
    await expect(answer(page)).to_be_focused()
    await expect(page.locator(".reference").last).to_contain_text("From your documents")
