"""An answer shown while it is written: valid fields stay, and removed ones are named."""

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
    problem,
)
from tests.entrypoints.browser.scripted_line import ScriptedStream, script_stream
from tests.entrypoints.browser.visiting import Visit

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
NO, YES = "No, you are not being unreasonable", "Yes, you are being unreasonable"
BOTH_RIGHT = "Whoever tells this story is told that they are right."


@pytest_asyncio.fixture(loop_scope="session")
async def stream(visit: Visit) -> ScriptedStream:
    """A dispute was sent, and its references have arrived."""
    stream = await script_stream(visit.page)
    await visit.page.clock.install()
    await visit.open()
    await ask(visit.page)
    await stream.say("domain", {"domain": "tenancy", "domain_scores": []})
    await stream.say("references", {"references": PAGES})
    await stream.say("attempt", {"number": 1})
    return stream


def parts(stream: ScriptedStream) -> Locator:
    """The personas shown."""
    return stream.page.locator(".persona h3")


async def write_two(stream: ScriptedStream) -> None:
    await stream.field("paraphrase", VERDICT["paraphrase"])
    await stream.field("personas.0", PERSONAS[0])
    await stream.field("personas.1", PERSONAS[1], [CITED])
    await expect(parts(stream)).to_have_text(["Therapist", "Analyst"])


async def test_each_field_is_shown_on_arrival_with_the_elapsed_time(stream: ScriptedStream):
    page = stream.page
    heading = page.get_by_role("heading", name="Looking into it")
    await expect(heading).to_be_focused()
    await expect(page.locator("#elapsed")).to_have_text("0 seconds")
    await stream.field("paraphrase", VERDICT["paraphrase"])
    await expect(page.locator(".retold")).to_have_text("Your boiler is broken.")
    await expect(page.locator("#announcer")).to_have_text("The retelling is there.")
    await page.clock.run_for(3000)
    await expect(page.locator("#elapsed")).to_have_text("3 seconds")
    await stream.field("personas.0", PERSONAS[0])
    await expect(parts(stream)).to_have_text(["Therapist"])
    await expect(page.locator("#announcer")).to_have_text(
        "Therapist: No, you are not being unreasonable."
    )
    await expect(page.locator("#steps .now")).to_contain_text("Writing the answer")
    await expect(page.locator(".waiting")).to_be_visible()
    await stream.field("summary", VERDICT["summary"])
    await expect(page.locator(".summary")).to_have_text("You may ask.")
    await expect(page.locator(".waiting")).to_have_count(0)


async def test_final_verdict_does_not_move_what_is_shown(stream: ScriptedStream):
    page = stream.page
    await write_two(stream)
    chip = page.locator(".persona .cite")
    await chip.click()
    await expect(page.locator("#reference-2")).to_be_focused()
    await expect(page.locator("#reference-2 mark")).to_have_text("begin at ten.")
    await parts(stream).first.evaluate("node => { node.isTheOld = true; }")
    await stream.say("verdict", VERDICT)
    await expect(parts(stream)).to_have_text(["Therapist", "Analyst", "Coach"])
    await expect(page.locator("#reference-2")).to_be_focused()
    await expect(page.locator("#reference-2")).to_have_class(re.compile("lit"))
    assert await parts(stream).first.evaluate("node => node.isTheOld")
    await page.get_by_role("button", name="Back to the text").click()
    await expect(chip).to_be_focused()
    await expect(page.locator("#references .number")).to_have_text(["2"])
    await expect(page.locator("#announcer")).to_have_text("The answer is here.")


async def test_retry_removes_only_rejected_fields(stream: ScriptedStream):
    page = stream.page
    await write_two(stream)
    await stream.say("restart", {"defects": [DEFECT], "keeps": ["paraphrase", "personas.1"]})
    await expect(parts(stream)).to_have_text(["Analyst"])
    await expect(page.locator(".retold")).to_have_text("Your boiler is broken.")
    await expect(page.locator("#steps")).to_contain_text("what rests on it is taken away")
    await expect(page.locator("#announcer")).to_contain_text("what rests on it is taken away")
    await stream.say("attempt", {"number": 2})
    await stream.field("personas.0", PERSONAS[0] | {"verdict": "Yes"})
    await expect(parts(stream)).to_have_text(["Therapist", "Analyst"])
    await expect(page.locator(".word")).to_have_text([YES, NO])


async def test_fields_stay_after_a_timeout(stream: ScriptedStream):
    page = stream.page
    await write_two(stream)
    late = {"type": "/problems/deadline-exceeded", "title": "Too late", "status": 504}
    await stream.say("error", late | {"detail": "…", "instance": "", "error": "…"})
    await expect(problem(page)).to_contain_text("This took too long")
    await expect(problem(page)).to_contain_text("It is not the whole answer.")
    await expect(problem(page).get_by_role("heading")).to_be_focused()
    await expect(parts(stream)).to_have_text(["Therapist", "Analyst"])
    await expect(page.locator("#references .number")).to_have_text(["1", "2"])
    await expect(page.get_by_role("heading", name="What was written by then")).to_be_visible()
    await expect(page.locator("#progress, .waiting")).to_be_hidden()
    await assert_accessible(page)
    await problem(page).get_by_role("button", name="Try again").click()
    await stream.field("paraphrase", "Anew.")
    await expect(problem(page)).to_have_count(0)
    await expect(page.locator(".retold")).to_have_text("Anew.")


async def test_failed_check_withdraws_what_was_shown(stream: ScriptedStream):
    await write_two(stream)
    bad = {"type": "/problems/invalid-reply", "title": "Broke our rules", "status": 502}
    await stream.say("error", bad | {"detail": "…", "instance": "", "error": "…", "defects": []})
    await expect(problem(stream.page)).to_contain_text("so it is withdrawn")
    await expect(parts(stream)).to_have_count(0)
    await expect(stream.page.get_by_text("What was written by then")).to_be_hidden()


async def test_verdict_stands_in_a_sentence_and_a_headline_beside_it(stream: ScriptedStream):
    told = [{"headline": "Keep paying the rent"}, {"headline": f"{NO}."}, {}]
    personas = [one | more for one, more in zip(PERSONAS, told, strict=True)]
    await stream.say("verdict", VERDICT | {"personas": personas})
    await expect(stream.page.locator(".headline")).to_have_text(["Keep paying the rent"])
    await expect(stream.page.locator(".word").first).to_have_text(NO)


@pytest.mark.parametrize("is_silent", [False, True], ids=["dropped", "silent"])
async def test_fields_stay_after_a_lost_connection(stream: ScriptedStream, is_silent):
    await write_two(stream)
    if is_silent:
        await stream.page.clock.run_for(31_000)
    else:
        await stream.drop()
    await expect(problem(stream.page)).to_contain_text("The connection broke")
    await expect(parts(stream)).to_have_text(["Therapist", "Analyst"])
    await expect(stream.page.locator(".reference")).to_have_count(2)


async def test_agreement_with_both_sides_is_warned_of_before_the_verdict(visit: Visit):
    page = visit.page
    stream = await script_stream(page)
    await visit.open()
    await page.get_by_role("switch", name="Hear the other side too").check()
    await ask(page)
    assert (await stream.asked())["hear_other_side"] is True
    await stream.field("summary", VERDICT["summary"])
    await expect(page.locator("#steps .now")).to_have_text("Hearing the other side")
    warnings = [BOTH_RIGHT, *VERDICT["warnings"]]
    await stream.say("verdict", VERDICT | {"other_side": OTHER_SIDE, "warnings": warnings})
    await expect(answer(page)).to_be_focused()
    await expect(page.locator("#announcer")).to_have_text(f"The answer is here. {BOTH_RIGHT}")
    await expect(page.locator("#outcome > .first > :first-child")).to_have_text(BOTH_RIGHT)
    await expect(page.locator(".warnings li")).to_have_text(VERDICT["warnings"])
    other = page.get_by_role("region", name="The other side")
    await expect(other.locator("blockquote")).to_have_text(OTHER_SIDE["retelling"])
    await expect(other.locator("li")).to_have_text(f"Analyst: {NO}. You are busy.")
    await expect(other).to_contain_text(OTHER_SIDE["note"])
