"""The page judges a dispute, in a real browser and against a real server."""

import asyncio
import json
import re
import subprocess

import pytest
from playwright.async_api import expect

from tests.entrypoints.browser.acting import (
    BAD,
    BOTH,
    CARED_FOR,
    CITATIONS,
    EVENTS,
    OLD_REFERENCE,
    answer,
    ask,
    assert_accessible,
    assert_fits,
    event,
    fill,
    problem,
)
from tests.entrypoints.browser.visiting import PHONE, Visit
from tests.fakes.gemini import PERSONAS, verdict_for

PARTLY = "Partly: you have a point, and so do they"

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_dispute_gets_three_verdicts_and_references(visit: Visit):
    page = await visit.open()
    visit.gemini.script(BOTH)
    await ask(page)
    await expect(answer(page)).to_be_focused()
    for name in PERSONAS:
        await expect(page.get_by_role("heading", name=name)).to_be_visible()
    await expect(page.locator(".word")).to_have_text([PARTLY] * 3)
    await expect(page.locator(".reference")).to_have_count(2)
    await expect(page.locator(".reference").first).to_contain_text("fetched just now")
    await expect(page.locator("#announcer")).to_have_text("The answer is here.")
    await expect(page.get_by_text("Every citation names what it rests on")).to_be_visible()
    await page.get_by_text("How this answer came about").click()
    await expect(page.locator("dl")).to_contain_text("Renting a home")


async def test_citation_highlights_its_quote_and_links_there_and_back(visit: Visit):
    page = await visit.open()
    visit.gemini.script(BOTH)
    await ask(page)
    summary = page.locator(".summary")
    await expect(summary).to_have_text(re.compile(r"unreasonable 🙂\s1, and the rent .* same\s2\."))
    chip = summary.get_by_role(
        "button", name="Reference 2, the sentence it rests on is marked there"
    )
    await chip.click()
    second = page.locator("#reference-2")
    await expect(second).to_be_focused()
    await expect(second).to_have_class(re.compile(r"\blit\b"))
    await expect(chip).to_have_class(re.compile(r"\blit\b"))
    await expect(second.locator("mark")).to_have_text(re.compile(r"^Write .* by your landlord\.$"))
    await expect(second).to_be_in_viewport()
    await second.get_by_role("button", name="Back to the text").click()
    await expect(chip).to_be_focused()
    await summary.get_by_role("button", name="Reference 1").click()
    await expect(second).not_to_have_class(re.compile(r"\blit\b"))
    await expect(page.locator("#reference-1 mark")).to_have_text(
        "Your landlord has to keep the boiler in working order, and must start repairs within a "
        "reasonable time after you have told them that it has stopped working."
    )


async def test_cited_references_come_first_and_the_rest_is_folded(visit: Visit):
    page = await visit.open()
    visit.gemini.script(
        BOTH
        | {
            "summary": "You are not being unreasonable, and the rent is due all the same [2].",
            "personas": CARED_FOR["personas"],
            "quotes": [{"number": 2, "sentences": [1]}],
        }
    )
    await ask(page)
    await expect(answer(page)).to_be_focused()
    await expect(page.locator("#references .number")).to_have_text(["2"])
    folded = page.locator("#reference-1")
    await expect(folded).to_be_hidden()
    await page.get_by_text("Looked at, not used (1)").click()
    await expect(folded).to_contain_text("reasonable time")
    await expect(folded.locator(".number")).to_have_text("1")
    await assert_accessible(page)


async def test_unhelpful_references_are_folded_with_a_note(visit: Visit):
    page = await visit.open()
    visit.gemini.script(verdict_for("") | {"personas": CARED_FOR["personas"]})
    await ask(page)
    await expect(answer(page)).to_be_focused()
    assert len(visit.gemini.seen) == 1
    await expect(page.locator(".evidence")).to_contain_text("none bears on this dispute")
    await expect(page.locator("#references")).to_be_hidden()
    await expect(page.get_by_text("Looked at, not used (2)")).to_be_visible()
    await expect(page.locator(".warnings, .cite")).to_have_count(0)
    await assert_accessible(page)


async def test_page_works_with_the_keyboard_alone(visit: Visit):
    page = await visit.open()
    press = page.keyboard.press
    await press("Tab")
    await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    await press("Enter")
    await expect(page.locator("main")).to_be_focused()
    await press("Tab")
    await expect(page.get_by_role("button", name="The boiler")).to_be_focused()
    await press("Enter")
    await expect(page.get_by_label("What happened?")).to_be_focused()
    await press("Tab")
    await expect(page.get_by_label("What would you like to know?")).to_have_value(
        re.compile("boiler now")
    )
    await press("Control+Enter")
    await expect(answer(page)).to_be_focused()
    await press("Tab")
    chip = page.locator(".summary .cite")
    await expect(chip).to_be_focused()
    await press("Space")
    await expect(page.locator("#reference-1")).to_be_focused()
    await press("Tab")
    await press("Tab")
    await expect(page.get_by_role("button", name="Back to the text")).to_be_focused()
    await press("Enter")
    await expect(chip).to_be_focused()


async def test_page_fits_narrow_windows(visit: Visit):
    page = await visit.open()
    await page.set_viewport_size(PHONE)
    await assert_fits(page)
    visit.gemini.script(BOTH)
    await ask(page)
    await expect(answer(page)).to_be_focused()
    await assert_fits(page)
    await visit.open("/#search")
    await assert_fits(page)


async def test_nothing_of_a_dispute_is_stored(visit: Visit):
    page = await visit.open()
    await ask(page)
    await expect(answer(page)).to_be_focused()
    kept = await page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]")
    assert kept == [0, 0, ""]
    assert "boiler" not in page.url
    assert "boiler" not in visit.deployment.server.stderr


async def test_curl_command_sends_the_same_request_as_the_form(visit: Visit):
    page = await visit.open()
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await fill(page, context='It\'s "my" landlord; $HOME `boiler` \\ is broken\nsince May.')
    await page.get_by_text("More options").click()
    await page.get_by_role("button", name="Copy as a curl command").click()
    await expect(page.get_by_role("button", name="Copied")).to_be_visible()
    command = await page.evaluate("navigator.clipboard.readText()")
    assert command == await page.locator("#curl").text_content()
    done = await asyncio.to_thread(
        subprocess.run, ["sh", "-c", command], capture_output=True, timeout=60, check=True
    )
    assert json.loads(done.stdout)["domain"] == "tenancy"
    await page.get_by_role("button", name="Ask", exact=True).click()
    await expect(answer(page)).to_be_focused()
    by_curl, by_form = visit.gemini.prompts
    assert by_curl == by_form


async def test_help_lines_age_warnings_and_fallback_model_are_shown(visit: Visit):
    page = await visit.open()
    await page.route(
        "**/api/judge/stream",
        lambda route: route.fulfill(content_type="text/event-stream", body="".join(EVENTS)),
    )
    await ask(page)
    await expect(page.locator(".help")).to_contain_text("Who can help")
    await expect(page.get_by_role("link", name="0800 111 111")).to_be_visible()
    await expect(page.locator(".banner")).to_contain_text("another stood in for it")
    await expect(page.locator(".warnings li")).to_have_text(
        [
            "The Analyst’s reasoning was too long and is cut; at most 960 characters are wanted.",
            "One of 2 pages could not be read and is left out.",
        ]
    )
    await expect(page.locator(".evidence")).to_contain_text("says the opposite of what it cites")
    chips = page.locator(".summary .cite")
    await expect(chips).to_have_count(2)
    await expect(chips.first).to_have_accessible_name("Reference 1, which says the opposite")
    await expect(chips.last).to_have_accessible_name("Reference 1, no sentence of it is named")
    await expect(page.locator(".summary")).to_have_text("👩🏽‍🦰 Yes11.")
    reference = page.locator("#reference-1")
    await expect(reference).to_contain_text("May be out of date")
    await expect(reference).to_contain_text(re.compile(r"added \d+ days ago"))
    await expect(reference.locator("mark")).to_have_text("hours — “as agreed” — begin at ten.")
    await expect(reference).to_contain_text("The answer says the opposite")
    await expect(reference).to_contain_text("updated 1 April 2025")
    await expect(reference.get_by_role("link")).to_have_count(0)
    await assert_accessible(page)


async def test_markup_anywhere_in_a_reply_is_shown_as_text(visit: Visit):
    markup = "</p><script>window.broken = 1</script><img src=x onerror=window.broken=1>"
    reference = OLD_REFERENCE | {"text": f"Go on {markup} paying.", "title": markup}
    quoted = [CITATIONS[0] | {"quote": f"Go on {markup}", "quote_status": "verified"}]
    verdict = CARED_FOR | {
        "references": [reference],
        "citations": quoted,
        "paraphrase": markup,
        "warnings": [markup],
        "model": markup,
        "help": [{"title": markup, "url": "javascript:window.broken=1", "phone": markup}],
    }
    page = await visit.open()
    await page.route(
        "**/api/judge/stream",
        lambda route: route.fulfill(
            content_type="text/event-stream", body=EVENTS[0] + event("verdict", verdict)
        ),
    )
    await ask(page)
    await expect(page.locator("#reference-1 mark")).to_have_text(f"Go on {markup}")
    for place in (".retold", ".warnings", ".banner", ".help"):
        await expect(page.locator(place)).to_contain_text(markup)
    assert await page.locator("#result img, #result script").count() == 0
    assert await page.locator("a[href^='javascript']").count() == 0
    assert await page.evaluate("window.broken") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_every_state_is_accessible_in_both_themes(visit: Visit, scheme):
    page = visit.page
    await page.emulate_media(color_scheme=scheme)
    await visit.open()
    await assert_accessible(page)
    paper = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (max(map(int, re.findall(r"\d+", paper))) < 128) == (scheme == "dark")
    visit.gemini.script(BOTH, BAD, BAD)
    await ask(page)
    await page.locator(".summary .cite").first.click()
    await expect(page.locator("#reference-1")).to_be_focused()
    await assert_accessible(page)
    await ask(page, query="")
    await expect(page.locator("#query-error")).to_be_visible()
    await ask(page)
    await expect(problem(page)).to_be_visible()
    await assert_accessible(page)
    await visit.open("/#search")
    await assert_accessible(page)
