"""An answer read while it is written: what is shown stays, and what falls is said."""

import re

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.entrypoints.browser.acting import (
    CARED_FOR,
    OLD_REFERENCE,
    answer,
    ask,
    assert_accessible,
    assert_fits,
    problem,
)
from tests.entrypoints.browser.scripted_line import ScriptedLine, take_the_line
from tests.entrypoints.browser.visiting import PHONE, Visit

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

PAGES = [
    OLD_REFERENCE
    | {"number": number, "kind": "page", "url": f"https://advice.example/{number}"}
    | {"title": title, "cited": False, "stale": False, "updated": updated}
    for number, title, updated in [(1, "Repairs", "2025-04-01"), (2, "Paying the rent", None)]
]
CITED = {
    "number": 2,
    "field": "personas.1.rationale",
    "start": 11,
    "end": 14,
    "quote": "begin at ten.",
    "quote_status": "verified",
    "support": 0.5,
    "contradicts": False,
}
PERSONAS = [
    {"name": name, "verdict": word, "rationale": reason, "key_points": ["a", "b", "c"]}
    for name, word, reason in [
        ("Therapist", "No", "It is cold."),
        ("Analyst", "No", "He has to. [2]"),
        ("Coach", "Partially", "Write once."),
    ]
]
VERDICT = CARED_FOR | {
    "paraphrase": "Your boiler is broken.",
    "summary": "You may ask.",
    "personas": PERSONAS,
    "references": [PAGES[0], PAGES[1] | {"cited": True}],
    "citations": [CITED],
    "evidence": "grounded",
    "next_steps": [{"title": "Paying the rent", "url": "https://advice.example/2"}],
    "degraded": False,
    "warnings": ["One of 3 pages could not be read and is left out."],
    "other_side": None,
}
DEFECT = {"rule": "citation", "field": "personas.1.rationale", "expected": "a number from 1 to 2"}
OTHER_SIDE = {
    "retelling": "I own the flat, and my tenant has written twice.",
    "personas": [{"name": "Analyst", "verdict": "No", "rationale": "You are busy."}],
    "agrees": False,
    "note": "Both are told that they are right.",
}
BOTH_RIGHT = "Whoever tells this story is told that they are right."


@pytest_asyncio.fixture(loop_scope="session")
async def line(visit: Visit) -> ScriptedLine:
    """A dispute has been asked, and its references are there."""
    line = await take_the_line(visit.page)
    await visit.page.clock.install()
    await visit.open()
    await ask(visit.page)
    await line.say("domain", {"domain": "tenancy", "domain_scores": []})
    await line.say("references", {"references": PAGES})
    await line.say("attempt", {"number": 1})
    return line


def parts(line: ScriptedLine) -> Locator:
    """The personas that are shown."""
    return line.page.locator(".persona h3")


async def write_two(line: ScriptedLine) -> None:
    await line.field("paraphrase", VERDICT["paraphrase"])
    await line.field("personas.0", PERSONAS[0])
    await line.field("personas.1", PERSONAS[1], [CITED])
    await expect(parts(line)).to_have_text(["Therapist", "Analyst"])


async def test_each_field_is_shown_as_it_comes_with_the_time_elapsed(line: ScriptedLine):
    page = line.page
    heading = page.get_by_role("heading", name="Looking into it")
    await expect(heading).to_be_focused()
    await expect(page.locator("#elapsed")).to_have_text("0 seconds")
    await line.field("paraphrase", VERDICT["paraphrase"])
    await expect(page.locator(".retold")).to_have_text("Your boiler is broken.")
    await expect(page.locator("#announcer")).to_have_text("The retelling is there.")
    await page.clock.run_for(3000)
    await expect(page.locator("#elapsed")).to_have_text("3 seconds")
    await line.field("personas.0", PERSONAS[0])
    await expect(parts(line)).to_have_text(["Therapist"])
    await expect(page.locator("#announcer")).to_have_text("Therapist: No.")
    await expect(page.locator("#steps .now")).to_contain_text("Writing the answer")
    await expect(page.locator(".waiting")).to_be_visible()
    await line.field("summary", VERDICT["summary"])
    await expect(page.locator(".summary")).to_have_text("You may ask.")
    await expect(page.locator(".waiting")).to_have_count(0)


async def test_the_verdict_leaves_what_was_read_where_it_stands(line: ScriptedLine):
    page = line.page
    await write_two(line)
    chip = page.locator(".persona .cite")
    await chip.click()
    await expect(page.locator("#reference-2")).to_be_focused()
    await expect(page.locator("#reference-2 mark")).to_have_text("begin at ten.")
    await parts(line).first.evaluate("node => { node.isTheOld = true; }")
    await line.say("verdict", VERDICT)
    await expect(parts(line)).to_have_text(["Therapist", "Analyst", "Coach"])
    await expect(page.locator("#reference-2")).to_be_focused()
    await expect(page.locator("#reference-2")).to_have_class(re.compile("lit"))
    assert await parts(line).first.evaluate("node => node.isTheOld")
    await page.get_by_role("button", name="Back to the text").click()
    await expect(chip).to_be_focused()
    await expect(page.locator("#references .number")).to_have_text(["2"])
    await expect(page.locator("#announcer")).to_have_text("The answer is here.")


async def test_the_keyboard_reaches_what_is_written_and_then_what_stops_it(line: ScriptedLine):
    page = line.page
    await write_two(line)
    await expect(page.locator("#verdict-title")).to_be_focused()
    await page.keyboard.press("Tab")
    await expect(page.locator(".persona .cite")).to_be_focused()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("button", name="Stop")).to_be_focused()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Repairs")).to_be_focused()


async def test_a_restart_takes_away_only_what_is_not_kept(line: ScriptedLine):
    page = line.page
    await write_two(line)
    await line.say("restart", {"defects": [DEFECT], "keeps": ["paraphrase", "personas.1"]})
    await expect(parts(line)).to_have_text(["Analyst"])
    await expect(page.locator(".retold")).to_have_text("Your boiler is broken.")
    await expect(page.locator("#steps")).to_contain_text("what rests on it is taken away")
    await expect(page.locator("#announcer")).to_contain_text("what rests on it is taken away")
    await line.say("attempt", {"number": 2})
    await line.field("personas.0", PERSONAS[0] | {"verdict": "Yes"})
    await expect(parts(line)).to_have_text(["Therapist", "Analyst"])
    await expect(page.locator(".word")).to_have_text(["Yes", "No"])


async def test_a_restart_that_keeps_all_says_so(line: ScriptedLine):
    await write_two(line)
    keeps = ["paraphrase", "personas.0", "personas.1"]
    await line.say("restart", {"defects": [DEFECT], "keeps": keeps})
    await expect(line.page.locator("#steps")).to_contain_text("what is shown stays")
    await expect(parts(line)).to_have_text(["Therapist", "Analyst"])


async def test_a_reply_that_begins_anew_takes_away_all_without_a_fault(line: ScriptedLine):
    await write_two(line)
    await line.say("restart", {"defects": [], "keeps": []})
    await expect(line.page.locator("#steps")).to_contain_text("The answer broke off.")
    await expect(parts(line)).to_have_count(0)
    await expect(line.page.locator(".retold, .defects, .waiting")).to_have_count(0)


async def test_when_the_time_runs_out_what_was_shown_stays(line: ScriptedLine):
    page = line.page
    await write_two(line)
    late = {"type": "/problems/deadline-exceeded", "title": "Too late", "status": 504}
    await line.say("error", late | {"detail": "…", "instance": "", "error": "…"})
    await expect(problem(page)).to_contain_text("This took too long")
    await expect(problem(page)).to_contain_text("It is not the whole answer.")
    await expect(problem(page).get_by_role("heading")).to_be_focused()
    await expect(parts(line)).to_have_text(["Therapist", "Analyst"])
    await expect(page.locator("#references .number")).to_have_text(["1", "2"])
    await expect(page.get_by_role("heading", name="What was written by then")).to_be_visible()
    await expect(page.locator("#progress, .waiting")).to_be_hidden()
    await assert_accessible(page)
    await problem(page).get_by_role("button", name="Try again").click()
    await line.field("paraphrase", "Anew.")
    await expect(problem(page)).to_have_count(0)
    await expect(page.locator(".retold")).to_have_text("Anew.")


@pytest.mark.parametrize("is_silent", [False, True], ids=["dropped", "silent"])
async def test_when_the_connection_is_lost_what_was_shown_stays(line: ScriptedLine, is_silent):
    await write_two(line)
    if is_silent:
        await line.page.clock.run_for(31_000)
    else:
        await line.drop()
    await expect(problem(line.page)).to_contain_text("The connection broke")
    await expect(parts(line)).to_have_text(["Therapist", "Analyst"])
    await expect(line.page.locator(".reference")).to_have_count(2)


async def test_an_answer_of_another_shape_is_told_and_what_was_shown_stays(
    line: ScriptedLine, visit: Visit
):
    await write_two(line)
    await line.say("verdict", {"summary": "and no more"})
    await expect(line.page.get_by_role("alert")).to_contain_text("That did not work")
    await expect(line.page.get_by_role("button", name="Try again")).to_be_visible()
    await expect(parts(line)).to_have_text(["Therapist", "Analyst"])
    [complaint] = visit.complaints
    assert "TypeError" in complaint or "undefined" in complaint
    visit.complaints.clear()


async def test_references_stay_when_nothing_was_written(line: ScriptedLine):
    await line.drop()
    await expect(problem(line.page)).to_contain_text("The connection broke")
    await expect(problem(line.page)).not_to_contain_text("not the whole answer")
    await expect(line.page.locator(".reference")).to_have_count(2)


async def test_stopping_leaves_what_was_written(line: ScriptedLine):
    await write_two(line)
    await line.page.get_by_role("button", name="Stop").click()
    await expect(line.page.get_by_role("heading", name="You stopped it here")).to_be_visible()
    await expect(parts(line)).to_have_text(["Therapist", "Analyst"])


async def test_both_sides_told_that_they_are_right_is_said_before_the_verdict(visit: Visit):
    page = visit.page
    line = await take_the_line(page)
    await visit.open()
    await page.get_by_role("switch", name="Hear the other side too").check()
    await ask(page)
    assert (await line.asked())["hear_other_side"] is True
    await line.field("summary", VERDICT["summary"])
    await expect(page.locator("#steps .now")).to_have_text("Hearing the other side")
    warnings = [BOTH_RIGHT, *VERDICT["warnings"]]
    await line.say("verdict", VERDICT | {"other_side": OTHER_SIDE, "warnings": warnings})
    await expect(answer(page)).to_be_focused()
    await expect(page.locator("#announcer")).to_have_text(f"The answer is here. {BOTH_RIGHT}")
    await expect(page.locator("#outcome > .first > :first-child")).to_have_text(BOTH_RIGHT)
    await expect(page.locator(".warnings li")).to_have_text(VERDICT["warnings"])
    other = page.get_by_role("region", name="The other side")
    await expect(other.locator("blockquote")).to_have_text(OTHER_SIDE["retelling"])
    await expect(other.locator("li")).to_have_text("Analyst: No. You are busy.")
    await expect(other).to_contain_text(OTHER_SIDE["note"])


async def test_without_the_switch_one_side_is_heard_and_agreement_is_no_warning(visit: Visit):
    line = await take_the_line(visit.page)
    page = await visit.open()
    await ask(page)
    assert "hear_other_side" not in await line.asked()
    await line.say("verdict", VERDICT | {"other_side": OTHER_SIDE | {"agrees": True}})
    await expect(page.get_by_role("region", name="The other side")).to_be_visible()
    await expect(page.locator(".banner")).to_have_count(0)
    await expect(page.locator(".warnings li")).to_have_text(VERDICT["warnings"])


async def test_why_the_other_side_was_not_heard_is_said(line: ScriptedLine):
    unheard = {"retelling": "", "personas": [], "agrees": None, "note": "There was no time left."}
    warnings = [*VERDICT["warnings"], unheard["note"]]
    await line.say("verdict", VERDICT | {"other_side": unheard, "warnings": warnings})
    other = line.page.get_by_role("region", name="The other side")
    await expect(other).to_have_text("The other sideThere was no time left.")
    await expect(line.page.locator(".warnings li")).to_have_text(VERDICT["warnings"])
    await expect(line.page.locator(".banner")).to_have_count(0)


async def test_steps_lead_to_the_pages_cited_and_dates_stand_beside_them(line: ScriptedLine):
    page = line.page
    await line.say("verdict", VERDICT)
    steps = page.get_by_role("region", name="What you can do next")
    link = steps.get_by_role("link", name="Paying the rent")
    await expect(link).to_have_attribute("href", "https://advice.example/2")
    await expect(page.locator("#reference-2")).to_contain_text("the publisher gives no date")
    await page.get_by_text("Looked at, not used (1)").click()
    await expect(page.locator("#reference-1")).to_contain_text("updated 1 April 2025")


async def test_it_is_read_out_in_the_order_of_the_page(line: ScriptedLine):
    await line.say("verdict", VERDICT | {"other_side": OTHER_SIDE})
    await expect(answer(line.page)).to_be_focused()
    headings = line.page.locator("#result").get_by_role("heading")
    await expect(headings).to_have_text(
        [
            "What we make of it",
            "Who can help",
            *[one["name"] for one in PERSONAS],
            "The other side",
            "What you can do next",
            "References",
        ]
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_an_answer_is_accessible_while_it_is_written_and_when_it_is_whole(
    line: ScriptedLine, scheme
):
    page = line.page
    await page.emulate_media(color_scheme=scheme)
    await write_two(line)
    await assert_accessible(page)
    await line.say("restart", {"defects": [DEFECT], "keeps": ["paraphrase"]})
    await expect(parts(line)).to_have_count(0)
    await assert_accessible(page)
    warnings = [BOTH_RIGHT, *VERDICT["warnings"]]
    await line.say("verdict", VERDICT | {"other_side": OTHER_SIDE, "warnings": warnings})
    await expect(page.locator(".banner")).to_be_visible()
    await assert_accessible(page)


async def test_a_narrow_window_holds_an_answer_that_is_being_written(line: ScriptedLine):
    await line.page.set_viewport_size(PHONE)
    await write_two(line)
    await assert_fits(line.page)
    await line.say("verdict", VERDICT | {"other_side": OTHER_SIDE})
    await expect(line.page.get_by_role("region", name="The other side")).to_be_visible()
    await assert_fits(line.page)


async def test_less_motion_means_none_while_it_is_written(line: ScriptedLine):
    await line.page.emulate_media(reduced_motion="reduce")
    await write_two(line)
    assert await line.page.evaluate("document.getAnimations().length") == 0
