"""Fields streamed before the verdict: only checked ones, withdrawn only by a restart."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.adapters.models.extractive import ExtractiveModel
from judge.bootstrap.sources import compile_knowledge
from judge.errors import DeadlineExceeded, JudgeError, ModelUnavailable
from judge.golden.replay import ReplayFetcher
from judge.judging.streamed_fields import StreamedFields
from judge.ports import LanguageModel
from judge.types.replies import ModelReply
from judge.types.results import FieldChecked, JudgeResult, Restarted, Step
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal
from tests.fakes.model import ScriptedModel, StreamedReply, streamed
from tests.fakes.pipeline import build_pipeline, text_retriever
from tests.unit.judging.verdicts.replies import (
    DEFAULT_PERSONAS,
    REFERENCES,
    REQUEST,
    TEXTS,
    check,
    good_reply,
    persona,
    personas,
    render_prompt,
)

NAMES = ("paraphrase", "personas.0", "personas.1", "personas.2", "summary")
ORDER = ("paraphrase", "references_help", "quotes", "personas", "summary")
"""The order of the schema."""

SOURCES = """
vocabulary = false
[domains.tenancy]
title = "Renting"
[domains.tenancy.terms]
landlord = 3
""" + "".join(
    f"""
[[domains.tenancy.sources]]
url = "https://a.example/{number}"
title = "Boiler"
topics = ["boiler", "landlord"]
"""
    for number in (1, 2)
)
PAGES = {f"https://a.example/{number}": f"Boiler: {TEXTS[number - 1]}" for number in (1, 2)}
KNOWN = compile_knowledge(SOURCES)
PROMPT = render_prompt(REQUEST, REFERENCES[:2], DEFAULT_PERSONAS)


def reply_text(order: tuple[str, ...] = ORDER, **changes: Any) -> str:
    said = good_reply(**changes)
    return json.dumps({name: said[name] for name in order})


def _ignore_care(_names: Sequence[str]) -> None:
    """For tests without help lines."""


class Judgement:
    """A judgement that streams its fields."""

    def __init__(
        self,
        *script: str | ModelReply | Exception | StreamedReply,
        fallback: LanguageModel | None = None,
    ) -> None:
        self.model = ScriptedModel(*script)
        self.steps: list[Step] = []
        self.journal = RecordingJournal()
        clock = FakeClock()
        retriever = text_retriever(ReplayFetcher(PAGES), clock, self.journal)
        self.pipeline = build_pipeline(
            KNOWN, retriever, self.model, fallback, clock=clock, journal=self.journal
        )

    async def result(self) -> JudgeResult:
        return await self.pipeline.judge(
            REQUEST, request_id="r", emit=self.steps.append, stream_fields=True
        )

    @property
    def shown(self) -> Mapping[str, FieldChecked]:
        """The fields that are shown at the end, by name; no field is shown twice."""
        page: dict[str, FieldChecked] = {}
        for step in self.steps:
            if isinstance(step, FieldChecked):
                assert step.name not in page
                page[step.name] = step
            elif isinstance(step, Restarted):
                page.clear()
        return page

    @property
    def told(self) -> list[str]:
        """The names of the streamed fields in order, with `-` for a restart."""
        return [
            step.name if isinstance(step, FieldChecked) else "-"
            for step in self.steps
            if isinstance(step, FieldChecked | Restarted)
        ]


def assert_verdict_is_as_shown(page: Mapping[str, FieldChecked], result: JudgeResult) -> None:
    values = dict(zip(NAMES, (result.paraphrase, *result.personas, result.summary), strict=True))
    for name, field in page.items():
        assert values[name] == field.value
        own = tuple(c for c in result.citations if c.field.startswith(name))
        assert own == field.citations


def rejected(**changes: Any) -> str:
    """A reply whose second persona cites a missing reference, with further *changes*."""
    return reply_text(**{"personas": personas(rationale="Ask them [7]."), **changes})


def heard_at(text: str) -> list[tuple[str, int]]:
    """The names of the streamed fields, each with the length of the text when it was streamed."""
    heard: list[tuple[str, int]] = []
    length = 0

    def emit(step: Step) -> None:
        assert isinstance(step, FieldChecked)
        heard.append((step.name, length))

    listen = StreamedFields(emit, _ignore_care, is_enabled=True).listener(PROMPT, ScriptedModel())
    for length in range(len(text)):
        listen(text[:length])
    return heard


def test_each_field_is_streamed_soon_after_the_next_one_begins() -> None:
    text = reply_text()
    heard = heard_at(text)
    nexts = ('"references_help"', '{"name": "Analyst"', '{"name": "Coach"', '"summary"')
    places = [text.index(begins) for begins in nexts]
    assert [name for name, _ in heard] == list(NAMES[:4])
    for place, (_, end) in zip(places, heard, strict=True):
        assert place < end <= place + 60
    assert heard[0][1] < 0.4 * len(text)


@pytest.mark.parametrize(
    ("changes", "good"),
    [
        ({"paraphrase": "They are wrong [1]."}, 0),
        ({"personas": personas(verdict="Maybe")}, 2),
        ({"personas": personas(verdict=None)}, 2),
        ({"personas": personas(rationale="It is theirs [3].")}, 2),
        ({"personas": personas(key_points=["One [1]", "Two", "Three"])}, 2),
        ({"summary": "It is for them."}, 4),
    ],
)
async def test_nothing_is_streamed_from_a_defect_on_and_a_restart_withdraws_all(
    changes: Mapping[str, Any], good: int
) -> None:
    judgement = Judgement(streamed(reply_text(**changes)), streamed(reply_text()))
    result = await judgement.result()
    assert judgement.told == [*NAMES[:good], "-", *NAMES]
    assert_verdict_is_as_shown(judgement.shown, result)
    assert (result.attempts, result.warnings) == (2, ())


async def test_first_reply_is_streamed_again_if_the_second_has_a_hard_defect() -> None:
    soft = reply_text(summary="It is theirs.")
    hard = reply_text(paraphrase="Other words.", summary="It is theirs [9].")
    judgement = Judgement(streamed(soft), streamed(hard))
    result = await judgement.result()
    assert judgement.told == [*NAMES[:4], "-", *NAMES[:4], "-", *NAMES[:4]]
    assert_verdict_is_as_shown(judgement.shown, result)
    assert result.summary == "It is theirs."
    assert (len(result.warnings), result.degraded) == (2, True)
    assert "summary" in result.warnings[0]


async def test_broken_connection_withdraws_its_fields() -> None:
    text, other = reply_text(), reply_text(paraphrase="You want warmth.")
    heard = [*streamed(text[: text.index('"Coach"')]).texts, "{", *streamed(other).texts]
    judgement = Judgement(StreamedReply(heard, ModelReply(other, "scripted")))
    result = await judgement.result()
    assert judgement.told == [*NAMES[:3], "-", *NAMES]
    assert_verdict_is_as_shown(judgement.shown, result)
    assert result.attempts == 1


def test_fields_of_another_connection_are_streamed_as_they_come() -> None:
    steps: list[Step] = []
    listen = StreamedFields(steps.append, _ignore_care, is_enabled=True).listener(
        PROMPT, ScriptedModel()
    )
    for text in (reply_text(), reply_text(paraphrase="You want warmth.")):
        for length in range(len(text)):
            listen(text[:length])
    told = [step.name if isinstance(step, FieldChecked) else "-" for step in steps]
    assert told == [*NAMES[:4], "-", *NAMES[:4]]


async def test_fallback_withdraws_streamed_fields_and_streams_its_own() -> None:
    broken = StreamedReply(streamed(reply_text()).texts[:40], ModelUnavailable("gone"))
    judgement = Judgement(broken, fallback=ExtractiveModel())
    result = await judgement.result()
    assert judgement.told[:1] == ["paraphrase"]
    assert judgement.told[-6:] == ["-", *NAMES]
    assert_verdict_is_as_shown(judgement.shown, result)
    assert {persona.verdict for persona in result.personas} == {None}


@pytest.mark.parametrize("finish", ["recitation", "other", "truncated"])
async def test_no_field_of_an_unfinished_reply_stays(finish: Any) -> None:
    unfinished = streamed(reply_text(paraphrase="They recite."), finish=finish)
    judgement = Judgement(unfinished, streamed(reply_text()))
    await judgement.result()
    assert judgement.told == [*NAMES[:4], "-", *NAMES]

    soft = reply_text(personas=personas(rationale="As source 9 says, it is theirs."))
    judgement = Judgement(streamed(soft), unfinished)
    result = await judgement.result()
    assert judgement.told == [*NAMES[:2], "-", *NAMES[:4], "-", *NAMES[:2], *NAMES[3:]]
    assert_verdict_is_as_shown(judgement.shown, result)


async def test_streamed_fields_stay_when_the_deadline_passes() -> None:
    text = reply_text()
    heard = streamed(text[: text.index('"Coach"')]).texts
    judgement = Judgement(StreamedReply(heard, TimeoutError()))
    with pytest.raises(DeadlineExceeded):
        await judgement.result()
    assert judgement.told == list(NAMES[:3])


def test_fields_in_a_code_fence_or_without_quotes_are_streamed() -> None:
    assert [name for name, _ in heard_at(f"```json\n{reply_text()}")] == list(NAMES[:4])
    unhelpful = reply_text(quotes=None, references_help=False, summary="It is for them.")
    assert [name for name, _ in heard_at(f'{unhelpful[:-1]}, "more": "some text')] == list(NAMES)


TEXT = st.sampled_from(
    [
        *("", "It is cold.", "It is for them [1].", "Ask for notice [2].", "Both say so [1, 2]."),
        *("See [3].", "See [1 or 2].", "See (2).", 'A "quote" \\ and \n a line é ✓ 😀.', "x" * 250),
        *("x" * 2000, "}]", "Talk talk talk talk.", "null", "】1【", "[0]", "{1}"),
    ]
)
VOICE = st.fixed_dictionaries(
    {"rationale": TEXT, "verdict": st.sampled_from(["Yes", "No", "Partially", "Maybe", None])},
    optional={"key_points": st.lists(TEXT, min_size=2, max_size=4), "more": st.integers()},
)
POINTERS = st.lists(
    st.fixed_dictionaries(
        {"number": st.integers(0, 3), "sentences": st.lists(st.integers(0, 3), max_size=2)}
    ),
    max_size=3,
)


@st.composite
def replies(draw: st.DrawFn) -> str:
    """The text of a reply, with defects in any of its fields, in any order."""
    voices = draw(st.lists(VOICE, min_size=3, max_size=3))
    changes = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "paraphrase": TEXT,
                "summary": TEXT,
                "references_help": st.sampled_from([True, False, "yes"]),
                "quotes": POINTERS,
                "personas": st.just(
                    [
                        persona(one.name, **said)
                        for one, said in zip(DEFAULT_PERSONAS, voices, strict=True)
                    ]
                )
                | st.just(personas()[:2])
                | st.none(),
            },
        )
    )
    order = draw(st.just(ORDER) | st.permutations(ORDER).map(tuple))
    left_out = draw(st.sets(st.sampled_from(ORDER), max_size=1) | st.just(set()))
    text = reply_text(tuple(name for name in order if name not in left_out), **changes)
    return draw(st.sampled_from([text, text, text, f"```json\n{text}\n```", text[:-1], text + "}"]))


@given(replies(), st.integers(1, 200))
def test_streamed_fields_are_those_of_the_whole_reply(text: str, piece: int) -> None:
    steps: list[Step] = []
    listen = StreamedFields(steps.append, _ignore_care, is_enabled=True).listener(
        PROMPT, ScriptedModel()
    )
    for to in range(0, len(text) + piece, piece):
        listen(text[:to])
    names = [step.name for step in steps if isinstance(step, FieldChecked)]
    assert names == list(NAMES[: len(names)])
    if checked := check(text).reply:
        whole = {field.name: field for field in checked.fields}
        for step in steps:
            assert isinstance(step, FieldChecked)
            assert (step.value, step.citations) == (
                whole[step.name].value,
                whole[step.name].citations,
            )


ENDS = st.sampled_from(["stop", "stop", "stop", "stop", "truncated", "recitation", "other"])


@st.composite
def scripts(draw: st.DrawFn) -> list[StreamedReply]:
    """What a model writes when it is asked, with connections that break."""
    script = []
    for _ in range(2):
        text, before = draw(replies()), draw(st.none() | replies())
        broken = streamed(before).texts[: draw(st.integers(0, 40))] if before else []
        whole = streamed(text, piece=draw(st.integers(5, 200)), finish=draw(ENDS))
        end = draw(st.sampled_from([whole.end, whole.end, whole.end, ModelUnavailable("gone")]))
        script.append(StreamedReply([*broken, *whole.texts], end))
    return script


@given(scripts(), st.booleans())
def test_every_shown_field_equals_that_of_the_verdict(
    script: list[StreamedReply], has_fallback: bool
) -> None:
    judgement = Judgement(*script, fallback=ExtractiveModel() if has_fallback else None)

    async def judge() -> JudgeResult | None:
        try:
            return await judgement.result()
        except JudgeError:
            return None

    result = asyncio.run(judge())
    page = judgement.shown
    if result is not None:
        assert_verdict_is_as_shown(page, result)
        numbers = {reference.number for reference in result.references}
        assert {citation.number for citation in result.citations} <= numbers
        assert (result.evidence == "missing") <= bool(result.warnings)
