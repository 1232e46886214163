"""The playground, used as people use it, in a real browser and against a real server."""

import asyncio
import json
import re
import subprocess

import httpx
import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Locator, Page, expect

from tests.entrypoints.browser.visiting import MARKUP, PHONE, REPAIRS, Visit
from tests.fakes.gemini import PERSONAS, blocked, failure, slow, verdict_for
from tests.fakes.waiting import until

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

CONTEXT = "My landlord has not repaired the boiler for three weeks, although I wrote twice."
QUERY = "Am I being unreasonable to ask for a date?"
GOOD = verdict_for(f"<REFERENCES>\n[1] {REPAIRS}\n[2] {MARKUP}\n</REFERENCES>")
BAD = json.loads(json.dumps(GOOD).replace("[1]", "[7]"))
BOTH = GOOD | {
    "summary": "You are not being unreasonable 🙂 [1], and the rent is due all the same [2].",
    "quotes": [
        {"number": 1, "quote": "must start repairs within a reasonable time"},
        {"number": 2, "quote": "but go on paying the rent"},
    ],
}


async def fill(page: Page, context: str = CONTEXT, query: str = QUERY) -> None:
    await page.get_by_label("What happened?").fill(context)
    await page.get_by_label("What would you like to know?").fill(query)


async def ask(page: Page, **words: str) -> None:
    await fill(page, **words)
    await page.get_by_role("button", name="Ask", exact=True).click()


def answer(page: Page) -> Locator:
    return page.get_by_role("heading", name="What we make of it")


def problem(page: Page) -> Locator:
    return page.get_by_role("alert")


async def assert_fits(page: Page) -> None:
    """Nothing is wider than the window."""
    wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0


async def assert_accessible(page: Page) -> None:
    """Axe finds nothing serious."""
    results = await Axe().run(page)
    serious = [
        (fault["id"], [node["target"] for node in fault["nodes"]])
        for fault in results.response["violations"]
        if fault["impact"] in {"serious", "critical"}
    ]
    assert serious == []


async def test_a_dispute_gets_three_verdicts_and_references(visit: Visit):
    page = await visit.open()
    visit.gemini.script(BOTH)
    await ask(page)
    await expect(answer(page)).to_be_focused()
    for name in PERSONAS:
        await expect(page.get_by_role("heading", name=name)).to_be_visible()
    await expect(page.locator(".word")).to_have_text(["Partially"] * 3)
    await expect(page.locator(".reference")).to_have_count(2)
    await expect(page.locator(".reference").first).to_contain_text("fetched just now")
    await expect(page.locator("#announcer")).to_have_text("The answer is here.")
    await expect(page.get_by_text("Every quotation was found")).to_be_visible()
    await page.get_by_text("How this answer came about").click()
    await expect(page.locator("dl")).to_contain_text("Renting a home")


async def test_a_citation_lights_up_and_leads_to_its_words_and_back(visit: Visit):
    page = await visit.open()
    visit.gemini.script(BOTH)
    await ask(page)
    summary = page.locator(".summary")
    await expect(summary).to_have_text(re.compile(r"unreasonable 🙂\s1, and the rent .* same\s2\."))
    chip = summary.get_by_role("button", name="Reference 2, quotation found on the page")
    await chip.click()
    second = page.locator("#reference-2")
    await expect(second).to_be_focused()
    await expect(second).to_have_class(re.compile(r"\blit\b"))
    await expect(chip).to_have_class(re.compile(r"\blit\b"))
    await expect(second.locator("mark")).to_have_text("but go on paying the rent")
    await expect(second).to_be_in_viewport()
    await second.get_by_role("button", name="Back to the text").click()
    await expect(chip).to_be_focused()
    await summary.get_by_role("button", name="Reference 1").click()
    await expect(second).not_to_have_class(re.compile(r"\blit\b"))
    await expect(page.locator("#reference-1 mark")).to_have_text(
        "must start repairs within a reasonable time"
    )


async def test_references_are_there_while_the_model_is_thinking(visit: Visit):
    page = await visit.open()
    visit.gemini.script(slow(json.dumps(GOOD), 20))
    await ask(page)
    await expect(page.locator("#steps .now")).to_have_text("Thinking it over")
    await expect(page.locator("#steps")).to_contain_text(
        "It is about: Renting a home. You mention landlord, boiler."
    )
    await expect(page.locator("#reference-1")).to_contain_text("reasonable time")
    await page.get_by_role("button", name="Stop").click()
    await expect(page.locator("#result")).to_be_hidden()
    await expect(page.get_by_label("What happened?")).to_be_focused()
    await until(visit.gemini.abandoned.is_set)


async def test_what_is_missing_is_said_beside_its_field(visit: Visit):
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


async def test_what_only_the_service_finds_wrong_is_said_there_too(visit: Visit):
    page = await visit.open()
    await page.route(
        "**/api/judge/stream",
        lambda route: route.fulfill(
            status=400,
            content_type="application/problem+json",
            json={
                "type": "/problems/invalid-request",
                "errors": [{"field": "query", "message": "must not hold NUL characters"}],
            },
        ),
    )
    await ask(page)
    await expect(page.locator("#query-error")).to_have_text("This must not hold NUL characters.")
    await expect(page.get_by_label("What would you like to know?")).to_be_focused()


async def test_a_scope_that_cannot_be_used_is_explained(visit: Visit):
    page = await visit.open()
    await page.get_by_text("More options").click()
    await page.get_by_label("Also read your documents in").fill("@nonsense:x")
    await ask(page)
    await expect(problem(page)).to_contain_text("That limit cannot be used")


async def test_two_defective_replies_are_explained_and_can_be_tried_again(visit: Visit):
    page = await visit.open()
    visit.gemini.script(BAD, BAD, GOOD)
    await ask(page)
    await expect(problem(page)).to_contain_text("The answer did not pass our checks")
    await problem(page).get_by_text("What was wrong with it").click()
    await expect(problem(page)).to_contain_text(
        "The summary cites [7], which does not exist; it may cite a number from 1 to 2."
    )
    await expect(problem(page).locator(".defects li")).to_have_count(4)
    await problem(page).get_by_role("button", name="Try again").click()
    await expect(answer(page)).to_be_focused()


async def test_a_model_out_of_reach_is_nobodys_fault(visit: Visit):
    page = await visit.open()
    visit.gemini.script(failure(503), failure(503))
    await ask(page)
    await expect(problem(page)).to_contain_text("The model cannot be reached just now")
    await expect(problem(page).get_by_role("heading")).to_be_focused()
    await expect(page.get_by_label("What happened?")).to_have_value(CONTEXT)


async def test_a_blocked_dispute_brings_somebody_to_turn_to(visit: Visit):
    page = await visit.open()
    visit.gemini.script(blocked())
    await ask(page)
    await expect(problem(page)).to_contain_text("it says nothing about you")
    await expect(problem(page).get_by_role("link", name="0800 000 000")).to_have_attribute(
        "href", "tel:0800000000"
    )
    await expect(problem(page).get_by_role("button", name="Try again")).to_have_count(0)


async def test_a_restart_says_what_was_wrong_in_plain_words(visit: Visit):
    page = await visit.open()
    visit.gemini.script(BAD, slow(json.dumps(GOOD), 20))
    await ask(page)
    await expect(page.locator("#steps .now")).to_have_text("Thinking it over once more")
    await expect(page.locator("#steps")).to_contain_text("The first answer broke a rule")
    await expect(page.locator("#steps .defects")).to_contain_text(
        "The Therapist’s reasoning cites [7], which does not exist"
    )
    await page.get_by_role("button", name="Stop").click()


async def test_long_words_do_not_break_the_page(visit: Visit):
    page = await visit.open()
    await page.set_viewport_size(PHONE)
    word = "Donaudampfschifffahrt" * 8
    visit.gemini.script(BOTH | {"summary": f"{word} [1].", "paraphrase": word})
    await ask(page, context=f"My landlord {word}")
    await expect(answer(page)).to_be_focused()
    await assert_fits(page)


async def test_markup_on_a_page_is_shown_as_text(visit: Visit):
    page = await visit.open()
    visit.gemini.script(BOTH | {"paraphrase": "<img src=x onerror=window.broken=1><b>bold</b>"})
    await ask(page)
    await expect(page.locator("#reference-2")).to_contain_text("script>window.broken = 1")
    await expect(page.locator(".retold")).to_contain_text("<b>bold</b>")
    assert await page.evaluate("window.broken") is None
    assert await page.locator("#result img, #result script, #result b").count() == 0


async def test_the_keyboard_alone_is_enough(visit: Visit):
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


async def test_narrow_windows_hold_everything(visit: Visit):
    page = await visit.open()
    await page.set_viewport_size(PHONE)
    await assert_fits(page)
    visit.gemini.script(BOTH)
    await ask(page)
    await expect(answer(page)).to_be_focused()
    await assert_fits(page)
    await visit.open("/#search")
    await assert_fits(page)


async def test_less_motion_means_none(visit: Visit):
    page = visit.page
    await page.emulate_media(reduced_motion="reduce")
    await visit.open()
    visit.gemini.script(slow(json.dumps(GOOD), 20))
    await ask(page)
    await expect(page.locator("#steps .now")).to_be_visible()
    assert await page.evaluate("document.getAnimations().length") == 0
    await page.get_by_role("button", name="Stop").click()


async def test_nothing_of_a_dispute_is_stored(visit: Visit):
    page = await visit.open()
    await ask(page)
    await expect(answer(page)).to_be_focused()
    kept = await page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]")
    assert kept == [0, 0, ""]
    assert "boiler" not in page.url
    assert "boiler" not in visit.house.server.said


async def test_a_key_is_asked_for_and_kept_for_the_tab_alone(visit: Visit, locked_house):
    page = await visit.open(house=locked_house)
    await ask(page)
    key = page.get_by_label("API key")
    await expect(key).to_be_focused()
    await assert_accessible(page)
    await key.fill("wrong")
    await page.get_by_role("button", name="Use this key").click()
    await expect(page.get_by_role("heading", name="That key was not accepted")).to_be_visible()
    await key.fill("open-sesame")
    await key.press("Enter")
    await expect(answer(page)).to_be_focused()
    await expect(page.locator(".banner")).to_contain_text("No language model has judged this")
    await expect(page.locator(".word")).to_have_text(["No verdict"] * 3)
    await expect(page.get_by_label("What it is about")).to_contain_text("Renting a home")
    assert await page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 1]
    await page.get_by_role("button", name="Copy as a curl command").click()
    await expect(page.locator("#curl")).not_to_contain_text("open-sesame")
    await expect(page.locator("#curl")).to_contain_text("Bearer $JUDGE_API_KEY")
    other = await page.context.new_page()
    await other.goto(page.url)
    assert await other.evaluate("sessionStorage.length") == 0
    await page.get_by_role("button", name="Forget the API key").click()
    assert await page.evaluate("sessionStorage.length") == 0


async def test_the_curl_command_does_what_the_form_does(visit: Visit):
    page = await visit.open()
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await fill(page, context='It\'s "my" landlord; $HOME `boiler` \\ is broken\nsince May.')
    await page.get_by_role("button", name="Copy as a curl command").click()
    await expect(page.get_by_role("button", name="Copied")).to_be_visible()
    command = await page.evaluate("navigator.clipboard.readText()")
    assert command == await page.locator("#curl").text_content()
    done = await asyncio.to_thread(
        subprocess.run, ["sh", "-c", command], capture_output=True, timeout=10, check=True
    )
    assert json.loads(done.stdout)["domain"] == "tenancy"
    await page.get_by_role("button", name="Ask", exact=True).click()
    await expect(answer(page)).to_be_focused()
    by_curl, by_form = visit.gemini.prompts
    assert by_curl == by_form


async def test_without_a_network_it_says_so(visit: Visit):
    page = await visit.open()
    await page.context.set_offline(True)
    await ask(page)
    await expect(problem(page)).to_contain_text("There is no connection to the service")


async def test_an_answer_cut_off_says_so(visit: Visit):
    page = await visit.open()
    await page.route(
        "**/api/judge/stream",
        lambda route: route.fulfill(content_type="text/event-stream", body=EVENTS[0]),
    )
    await ask(page)
    await expect(problem(page)).to_contain_text("The connection broke")


def event(name: str, data: object) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


OLD_REFERENCE = {
    "number": 1,
    "kind": "passage",
    "url": "javascript:window.broken=1",
    "title": "House rules",
    "text": "Quiet  hours — “as agreed” — begin at ten.",
    "fetched_at": "2026-01-01T00:00:00Z",
    "stale": True,
    "cited": True,
}
CITATIONS = [
    {"number": 1, "field": "summary", "start": 8, "end": 11, "quote": quote, "support": 0.5}
    | {"quote_status": status}
    for quote, status in [('hours - "as agreed" - begin', "repaired"), (None, "unverified")]
]
CARED_FOR = {
    "id": "made-up-1",
    "paraphrase": "Somebody is afraid.",
    "summary": "👩🏽‍🦰 Yes[1].",
    "personas": [
        {"name": name, "verdict": word, "rationale": "Because.", "key_points": ["a", "b", "c"]}
        for name, word in zip(PERSONAS, ["Yes", "No", "Partially"], strict=True)
    ],
    "domain": "default",
    "domain_scores": [],
    "references": [OLD_REFERENCE],
    "snippets": [],
    "citations": CITATIONS,
    "evidence": "unverified",
    "help": [{"title": "The Night Line", "url": "https://night.example/", "phone": "0800 111 111"}],
    "warnings": [
        "personas.1.rationale: 1000 characters (length); expected at most 960 characters",
        "One of 2 pages could not be read and is left out.",
    ],
    "model": "another",
    "degraded": True,
    "attempts": 2,
    "versions": {"prompt": "a", "sources": "b"},
    "usage": {"input_tokens": 1, "output_tokens": 2, "thinking_tokens": 3},
    "timings_ms": {"references": 1.0, "model": 2.0, "total": 3.0},
}
EVENTS = [
    ": still here\n\n" + event("domain", {"domain": "default", "domain_scores": []}),
    event("references", {"references": [OLD_REFERENCE]}),
    event("verdict", CARED_FOR),
]


async def test_help_age_warnings_and_a_stand_in_are_told(visit: Visit):
    page = await visit.open()
    await page.route(
        "**/api/judge/stream",
        lambda route: route.fulfill(content_type="text/event-stream", body="".join(EVENTS)),
    )
    await ask(page)
    await expect(page.locator(".help")).to_contain_text("You do not have to carry this alone")
    await expect(page.get_by_role("link", name="0800 111 111")).to_be_visible()
    await expect(page.locator(".banner")).to_contain_text("another stood in for it")
    await expect(page.locator(".warnings li")).to_have_text(
        [
            "The Analyst’s reasoning is 1000 characters long; at most 960 characters are wanted.",
            "One of 2 pages could not be read and is left out.",
        ]
    )
    await expect(page.locator(".summary .cite")).to_have_count(2)
    await expect(page.locator(".summary")).to_have_text("👩🏽‍🦰 Yes11.")
    reference = page.locator("#reference-1")
    await expect(reference).to_contain_text("May be out of date")
    await expect(reference).to_contain_text(re.compile(r"added \d+ days ago"))
    await expect(reference.locator("mark")).to_have_text("hours — “as agreed” — begin")
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


LONG_RULE = " ".join(["Nobody has to give a reason."] * 30)
RULES = {
    "collection": "policies",
    "document_id": "rules",
    "title": "House <b>rules</b>",
    "folder": "2024",
    "tags": ["home"],
    "text": f"The landlord looks after the boiler.\n\n{LONG_RULE}",
}


@pytest.fixture
def rules(visit: Visit) -> str:
    """A document that can be searched; its collection."""
    url = f"{visit.house.server.url}/api/documents"
    assert httpx.post(url, json=RULES, timeout=20).status_code == 201
    return RULES["collection"]


async def test_a_search_shows_where_it_looked_and_what_matched(visit: Visit, rules):
    page = await visit.open("/#search")
    await page.get_by_role("button", name="Search").click()
    await expect(page.locator("#q-error")).to_have_text("Say what to look for.")
    await page.get_by_role("searchbox", name="Look for").fill("boilers")
    await page.get_by_role("button", name="a collection", exact=True).click()
    await page.keyboard.type(rules)
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="1 passage found")).to_be_focused()
    hit = page.locator(".hit").first
    await expect(hit.locator("mark")).to_have_text("boiler")
    await expect(hit.get_by_role("heading", name="House <b>rules</b>")).to_be_visible()
    await expect(hit).to_contain_text(re.compile(r"policies.*lines 1 to \d+.*home"))
    await assert_accessible(page)


async def test_a_search_that_finds_nothing_gives_its_hint(visit: Visit, rules):
    page = await visit.open("/#search")
    await page.get_by_role("searchbox", name="Look for").fill("boiler @tag:nowhere")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Nothing was found")).to_be_focused()
    await expect(page.locator("#found .banner")).to_contain_text("No tag is called 'nowhere'")


async def test_a_search_that_is_refused_says_why(visit: Visit, rules):
    page = await visit.open("/#search")
    await page.get_by_role("searchbox", name="Look for").fill("boiler @collection:nope")
    await page.keyboard.press("Enter")
    await expect(problem(page)).to_contain_text("There is no collection 'nope'.")
    await expect(problem(page)).to_contain_text("You can use: policies.")


async def test_documents_in_a_scope_are_references_too(visit: Visit, rules):
    page = await visit.open()
    await page.get_by_text("More options").click()
    await page.get_by_label("Also read your documents in").fill(f"@collection:{rules}")
    await ask(page)
    await expect(answer(page)).to_be_focused()
    await expect(page.locator(".reference").last).to_contain_text("From your documents")
