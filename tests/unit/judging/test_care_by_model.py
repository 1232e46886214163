"""What the model sees that calls for care: its help lines come at once and are never withdrawn."""

import json
from typing import Any

import pytest

from judge.bootstrap.sources import compile_knowledge
from judge.errors import ContentBlocked, InvalidReply
from judge.golden.replay import ReplayFetcher
from judge.types.replies import ModelReply
from judge.types.requests import JudgeRequest
from judge.types.results import FieldChecked, HelpFound, Restarted, Step
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal
from tests.fakes.model import ScriptedModel, StreamedReply, streamed
from tests.fakes.pipeline import build_pipeline, text_retriever
from tests.unit.judging.verdicts.replies import REQUEST, good_reply, personas

SOURCES = """
vocabulary = false
[country]
name = "Freedonia"
[domains.tenancy]
title = "Renting"
help = [{ title = "Renting advice", url = "https://renting.example" }]
[domains.tenancy.terms]
landlord = 3
[[safety]]
name = "violence"
terms = ["hits me"]
help = [{ title = "Refuge", url = "https://refuge.example", phone = "1" }]
[[safety]]
name = "self-harm"
terms = ["kill myself"]
help = [{ title = "Listeners", url = "https://listeners.example", phone = "2" }]
"""
TENANT = REQUEST
WIFE = JudgeRequest(context="My husband hits me when he drinks.", query="Do I overreact?")
CUT = '{"paraphrase": "You are at the end of your strength.", "care": ["self-harm"], "quotes": [{'
RENTING, REFUGE, LISTENERS = "Renting advice", "Refuge", "Listeners"


def reply(**changes: Any) -> str:
    body = good_reply(summary="You are not.", references_help=False, quotes=[], **changes)
    return json.dumps({"paraphrase": body.pop("paraphrase"), "care": body.pop("care", []), **body})


async def judged(
    model: ScriptedModel, request: JudgeRequest = TENANT, sources: str = SOURCES
) -> tuple[list[Step], list[list[str]], list[str]]:
    """All steps, the titles in each help event, and those of the verdict."""
    steps: list[Step] = []
    clock, journal = FakeClock(), RecordingJournal()
    retriever = text_retriever(ReplayFetcher({}), clock, journal)
    known = compile_knowledge(sources)
    pipeline = build_pipeline(known, retriever, model, None, clock=clock, journal=journal)
    result = await pipeline.judge(request, request_id="r", emit=steps.append, stream_fields=True)
    told = [[line.title for line in step.help] for step in steps if isinstance(step, HelpFound)]
    return steps, told, [line.title for line in result.help]


async def test_lines_of_what_the_model_names_join_those_of_the_words() -> None:
    _, told, shown = await judged(ScriptedModel(reply(care=["self-harm"])), WIFE)
    assert told == [[REFUGE], [REFUGE, LISTENERS]]
    assert shown == told[-1]


async def test_help_comes_before_the_first_persona_is_written() -> None:
    steps, told, _ = await judged(ScriptedModel(streamed(reply(care=["violence"]))))
    assert told == [[RENTING], [REFUGE, RENTING]]
    names = [
        step.name if isinstance(step, FieldChecked) else "help"
        for step in steps
        if isinstance(step, FieldChecked | HelpFound)
    ]
    assert names[:4] == ["help", "paraphrase", "help", "personas.0"]


@pytest.mark.parametrize("first", [
    reply(care=["self-harm"], personas=personas(rationale="See [7].")),
    StreamedReply([CUT], ModelReply(CUT, "scripted", "truncated")),
])  # fmt: skip
async def test_line_stays_when_the_next_reply_does_not_name_it(first: Any) -> None:
    steps, told, shown = await judged(ScriptedModel(first, reply(), reply()))
    assert LISTENERS in told[-1]
    assert shown == told[-1]
    assert not isinstance(first, str) or any(isinstance(step, Restarted) for step in steps)


async def test_next_prompt_asks_for_care_and_the_other_side_is_not_told() -> None:
    request = JudgeRequest(context=TENANT.context, query=TENANT.query, hear_other_side=True)
    bad = reply(care=["violence"]).replace("You are not.", "It is theirs [7].")
    model = ScriptedModel(bad, reply())
    await judged(model, request)
    first, second = model.prompts
    assert "put safety first" not in first.instructions
    assert "put safety first" in second.instructions
    assert first.care == ("violence", "self-harm")


async def test_line_stays_when_no_reply_can_be_shown() -> None:
    bad = reply(care=["self-harm"], personas=personas(rationale="See [7]."))
    with pytest.raises(InvalidReply) as caught:
        await judged(ScriptedModel(bad, bad.replace('"self-harm"', "")), WIFE)
    assert [line.title for line in caught.value.help_lines][:2] == [REFUGE, LISTENERS]


async def test_line_stays_when_the_next_request_is_refused() -> None:
    blocked = '[blocked]\nhelp = [{ title = "Advice", url = "https://advice.example" }]\n'
    sources = SOURCES.replace("[country]", f"{blocked}[country]")
    bad = reply(care=["self-harm"], personas=personas(rationale="See [7]."))
    with pytest.raises(ContentBlocked) as caught:
        await judged(ScriptedModel(bad, ContentBlocked("SAFETY")), WIFE, sources)
    assert [line.title for line in caught.value.help_lines] == [REFUGE, LISTENERS, "Advice"]
