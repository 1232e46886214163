"""The page explains errors in plain words."""

import pytest
from playwright.async_api import expect

from tests.entrypoints.browser.acting import (
    BAD,
    GOOD,
    answer,
    ask,
    assert_accessible,
    problem,
)
from tests.entrypoints.browser.visiting import Visit
from tests.fakes.gemini import blocked

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_missing_field_is_reported_beside_it(visit: Visit):
    page = await visit.open()
    await ask(page, context="Too short", query="")
    field = page.get_by_label("What happened?")
    await expect(field).to_be_focused()
    await expect(field).to_have_attribute("aria-invalid", "true")
    await expect(page.locator("#context-error")).to_contain_text("at least 10 characters")
    await expect(page.locator("#query-error")).to_have_text("Please fill this in.")
    await ask(page, query="q" * 1001)
    await expect(page.locator("#context-error")).to_be_hidden()
    await expect(page.locator("#query-error")).to_contain_text("1000 can be read")
    assert visit.gemini.seen == []


async def test_invalid_reply_is_explained_with_a_retry(visit: Visit):
    page = await visit.open()
    visit.gemini.script(BAD, BAD, GOOD)
    await ask(page)
    await expect(problem(page)).to_contain_text(
        "The answer did not pass our checks, so it is withdrawn"
    )
    await problem(page).get_by_text("What was wrong with it").click()
    await expect(problem(page)).to_contain_text(
        "The summary cites something that is not there; it may only cite a number from 1 to 2"
    )
    await expect(problem(page).locator(".defects li")).to_have_count(4)
    await problem(page).get_by_role("button", name="Try again").click()
    await expect(answer(page)).to_be_focused()


async def test_blocked_dispute_shows_help_lines(visit: Visit):
    page = await visit.open()
    visit.gemini.script(blocked())
    await ask(page)
    await expect(problem(page)).to_contain_text("it says nothing about you")
    await expect(problem(page).get_by_role("link", name="0800 000 000")).to_have_attribute(
        "href", "tel:0800000000"
    )
    await expect(problem(page).get_by_role("button", name="Try again")).to_have_count(0)


async def test_key_is_requested_and_stored_for_the_tab_only(visit: Visit, locked_deployment):
    page = await visit.open(deployment=locked_deployment)
    await ask(page)
    key = page.get_by_label("API key")
    await expect(key).to_be_focused()
    await assert_accessible(page)
    for wrong in ("wrong", "schlüssel 🗝", "a\0b"):
        await key.fill(wrong)
        await page.get_by_role("button", name="Use this key").click()
        await expect(page.get_by_role("heading", name="That key was not accepted")).to_be_visible()
        await expect(key).to_have_value("")
    await key.fill("open-sesame")
    await key.press("Enter")
    await expect(answer(page)).to_be_focused()
    await expect(page.locator(".banner")).to_contain_text("No language model has judged this")
    await expect(page.locator(".word")).to_have_text(["No verdict"] * 3)
    await expect(page.get_by_label("What it is about")).to_contain_text("Renting a home")
    assert await page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 1]
    await page.get_by_text("More options").click()
    await page.get_by_role("button", name="Copy as a curl command").click()
    await expect(page.locator("#curl")).not_to_contain_text("open-sesame")
    await expect(page.locator("#curl")).to_contain_text("Bearer $JUDGE_API_KEY")
    other = await page.context.new_page()
    await other.goto(page.url)
    assert await other.evaluate("sessionStorage.length") == 0
    await page.get_by_role("button", name="Forget the API key").click()
    assert await page.evaluate("sessionStorage.length") == 0


async def test_offline_is_reported(visit: Visit):
    page = await visit.open()
    await page.context.set_offline(True)
    await ask(page)
    await expect(problem(page)).to_contain_text("There is no connection to the service")
