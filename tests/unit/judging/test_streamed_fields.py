"""Fields streamed before the verdict: only checked ones, withdrawn only by a restart."""

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.adapters.models.extractive import ExtractiveModel
from judge.bootstrap.sources import compile_knowledge
from judge.errors import DeadlineExceeded, InvalidReply, JudgeError, ModelUnavailable
from judge.golden.replay import ReplayFetcher
from judge.judging.verdicts.partial_reply import ReplyReader, complete_members
from judge.judging.verdicts.reply_schema import MAX_REPLY_LENGTH
from judge.ports import LanguageModel, ignore_text
from judge.types.replies import CheckedField, ModelReply
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


def reply_text(order: tuple[str, ...] = ORDER, **changes: Any) -> str:
    said = good_reply(**changes)
    return json.dumps({name: said[name] for name in order})


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
                assert set(step.keeps) <= page.keys()
                page = {name: page[name] for name in step.keeps}
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


async def test_each_field_is_streamed_when_the_next_one_begins() -> None:
    text = reply_text()
    judgement = Judgement(streamed(text, piece=1))
    heard: list[tuple[str, int]] = []
    result = await judgement.result()
    reader = ReplyReader(
        render_prompt(REQUEST, REFERENCES[:2], DEFAULT_PERSONAS),
        {},
        needs_verdicts=True,
    )
    for end in range(len(text)):
        done = {name for name, _ in heard}
        heard += [(f.name, end) for f in reader.fields(text[:end], done=done, is_whole=False)]
    nexts = ('"references_help"', '{"name": "Analyst"', '{"name": "Coach"', '"summary"')
    places = [text.index(begins) for begins in nexts]
    assert [name for name, _ in heard] == list(NAMES[:4])
    for place, (_, end) in zip(places, heard, strict=True):
        assert place < end <= place + len('"references_help": true')
    assert tuple(judgement.shown) == NAMES
    assert_verdict_is_as_shown(judgement.shown, result)


async def test_first_field_is_streamed_within_two_fifths_of_the_reply() -> None:
    text = reply_text()
    heard: list[str] = []

    class Listening(ScriptedModel):
        async def complete(self, *arguments: Any, on_text: Any, **options: Any) -> ModelReply:
            def hear(so_far: str) -> None:
                on_text(so_far)
                heard.append(so_far) if not judgement.shown else None

            return await super().complete(*arguments, on_text=hear, **options)

    judgement = Judgement()
    model = Listening(streamed(text, piece=4))
    judgement.pipeline = build_pipeline(
        KNOWN, text_retriever(ReplayFetcher(PAGES), FakeClock(), judgement.journal), model
    )
    await judgement.result()
    assert len(heard[-1]) < 0.4 * len(text)


async def test_model_without_streaming_gives_all_fields_before_the_verdict() -> None:
    judgement = Judgement(reply_text())
    result = await judgement.result()
    assert tuple(judgement.shown) == NAMES
    assert_verdict_is_as_shown(judgement.shown, result)


async def test_fields_are_neither_streamed_nor_settled_unless_requested() -> None:
    judgement = Judgement(rejected(), reply_text())
    heard: list[object] = []

    class Listening(ScriptedModel):
        async def complete(self, *arguments: Any, on_text: Any, **options: Any) -> ModelReply:
            heard.append(on_text)
            return await super().complete(*arguments, on_text=on_text, **options)

    model = Listening(rejected(), reply_text())
    retriever = text_retriever(ReplayFetcher(PAGES), FakeClock(), judgement.journal)
    await build_pipeline(KNOWN, retriever, model).judge(
        REQUEST, request_id="r", emit=judgement.steps.append
    )
    assert heard == [ignore_text, ignore_text]
    assert judgement.told == ["-"]
    assert "SETTLED" not in model.prompts[1].text


@pytest.mark.parametrize(
    ("changes", "bad"),
    [
        ({"paraphrase": "x" * 250}, "paraphrase"),
        ({"paraphrase": "They are wrong [1]."}, "paraphrase"),
        ({"paraphrase": ""}, "paraphrase"),
        ({"personas": personas(verdict="Maybe")}, "personas.1"),
        ({"personas": personas(rationale="It is theirs [3].")}, "personas.1"),
        ({"personas": personas(rationale="It is theirs [1 or 2].")}, "personas.1"),
        ({"personas": personas(rationale="It is theirs (2).")}, "personas.1"),
        ({"personas": personas(key_points=["One", "Two"])}, "personas.1"),
        ({"personas": personas(key_points=["One [1]", "Two", "Three"])}, "personas.1"),
        ({"summary": "It is for them [9]."}, "summary"),
        ({"summary": "It is for them."}, "summary"),
        ({"summary": "Talk " * 20 + "[1]."}, "summary"),
        (
            {
                "summary": "It is for them [1].",
                "personas": personas(rationale="Notice is needed [2]."),
                "quotes": [{"number": 1, "sentences": [1]}],
            },
            "personas.1",
        ),
    ],
)
async def test_field_with_a_defect_is_not_shown_and_all_others_stay(
    changes: Mapping[str, Any], bad: str
) -> None:
    mended = reply_text(
        paraphrase="Second.",
        personas=[persona(p.name, rationale="Second.") for p in DEFAULT_PERSONAS],
        summary="Second [1].",
    )
    judgement = Judgement(streamed(reply_text(**changes)), streamed(mended))
    result = await judgement.result()
    good = [name for name in NAMES if name != bad]
    assert judgement.told == [*good, "-", bad]
    assert_verdict_is_as_shown(judgement.shown, result)
    second = judgement.shown[bad].value
    assert str(second).count("Second") == 1
    assert (result.attempts, result.warnings) == (2, ())


async def test_second_prompt_has_the_settled_fields() -> None:
    judgement = Judgement(rejected(), reply_text())
    await judgement.result()
    first, second = judgement.model.prompts
    said = (
        'No. Rationale: "You asked politely, and more than once.". '
        'Key points: "Write today", "Keep copies", "Name a date".'
    )
    assert second.text.startswith(first.text)
    assert second.text.removeprefix(first.text).splitlines() == [
        "<SETTLED>",
        'paraphrase: "You want the boiler mended this week."',
        f"Therapist: {said}",
        f"Coach: {said}",
        'summary: "You are not unreasonable: it is for them [1], and notice is needed [2]."',
        "</SETTLED>",
    ]
    assert second.instructions.endswith("so that it goes with the rest: Analyst.")
    assert "SETTLED" not in first.instructions + first.text


async def test_settled_fields_may_be_empty_in_the_second_reply() -> None:
    empty = {"rationale": "", "key_points": [], "verdict": "Yes"}
    second = reply_text(
        paraphrase="",
        personas=[persona("Therapist", **empty), persona("Analyst"), persona("Coach", **empty)],
        summary="",
        quotes=[],
    )
    judgement = Judgement(rejected(), second)
    result = await judgement.result()
    assert judgement.told == [
        "paraphrase",
        "personas.0",
        "personas.2",
        "summary",
        "-",
        "personas.1",
    ]
    assert_verdict_is_as_shown(judgement.shown, result)
    assert (result.evidence, result.warnings) == ("grounded", ())


async def test_settled_citations_override_references_help_of_the_second_reply() -> None:
    other = reply_text(references_help=False, quotes=[], summary="Nothing bears on it.")
    judgement = Judgement(rejected(), other)
    result = await judgement.result()
    assert_verdict_is_as_shown(judgement.shown, result)
    assert (result.evidence, result.warnings) == ("grounded", ())


async def test_persona_cannot_cite_if_the_settled_summary_has_no_evidence() -> None:
    first = reply_text(
        references_help=False,
        quotes=[],
        summary="Nothing bears on it.",
        personas=personas(verdict="Maybe"),
    )
    judgement = Judgement(first, reply_text(personas=personas(rationale="Notice is needed [2].")))
    result = await judgement.result()
    assert "personas.1" not in judgement.shown
    assert ["references_help" in warning for warning in result.warnings] == [True]


async def test_first_reply_is_kept_if_the_second_has_a_hard_defect() -> None:
    soft = reply_text(personas=personas(rationale="It is theirs (2)."), summary="It is theirs.")
    hard = reply_text(summary="It is theirs [9].")
    judgement = Judgement(streamed(soft), streamed(hard))
    result = await judgement.result()
    assert judgement.told == [*NAMES[:2], "personas.2", "-", "personas.1"]
    assert_verdict_is_as_shown(judgement.shown, result)
    assert result.summary == "It is theirs."
    assert len(result.warnings) == 1
    assert "summary" in result.warnings[0]


async def test_broken_connection_withdraws_its_fields() -> None:
    text, other = reply_text(), reply_text(paraphrase="You want warmth.")
    heard = [*streamed(text[: text.index('"Coach"')]).texts, "{", *streamed(other).texts]
    judgement = Judgement(StreamedReply(heard, ModelReply(other, "scripted")))
    result = await judgement.result()
    assert judgement.told == [*NAMES[:3], "-", *NAMES]
    assert_verdict_is_as_shown(judgement.shown, result)
    assert result.attempts == 1


async def test_broken_connection_in_the_second_attempt_keeps_the_settled_fields() -> None:
    bad = reply_text(paraphrase="P", personas=personas(rationale="Ask them [7]."), summary="x [9]")
    text, other = reply_text(), reply_text(personas=personas(rationale="Ask them again."))
    heard = [*streamed(text[: text.index('"Coach"')]).texts, "{", *streamed(other).texts]
    judgement = Judgement(bad, StreamedReply(heard, ModelReply(other, "scripted")))
    result = await judgement.result()
    kept = ("paraphrase", "personas.0", "personas.2")
    restarts = [step.keeps for step in judgement.steps if isinstance(step, Restarted)]
    assert restarts == [kept, kept]
    assert_verdict_is_as_shown(judgement.shown, result)


async def test_fallback_withdraws_streamed_fields_and_streams_its_own() -> None:
    broken = StreamedReply(streamed(reply_text()).texts[:40], ModelUnavailable("gone"))
    judgement = Judgement(broken, fallback=ExtractiveModel())
    result = await judgement.result()
    assert judgement.told[:1] == ["paraphrase"]
    assert judgement.told[-6:] == ["-", *NAMES]
    assert_verdict_is_as_shown(judgement.shown, result)


async def test_extractive_fallback_does_not_keep_settled_fields() -> None:
    judgement = Judgement(rejected(), ModelUnavailable("gone"), fallback=ExtractiveModel())
    result = await judgement.result()
    assert judgement.told == [
        *(*NAMES[:2], "personas.2", "summary", "-"),
        *("-", *NAMES),
    ]
    assert_verdict_is_as_shown(judgement.shown, result)
    assert {persona.verdict for persona in result.personas} == {None}


@pytest.mark.parametrize("finish", ["recitation", "other"])
async def test_no_field_of_a_recited_reply_stays(finish: Any) -> None:
    judgement = Judgement(streamed(reply_text(), finish=finish), streamed(reply_text()))
    await judgement.result()
    assert judgement.told == [*NAMES[:4], "-", *NAMES]


async def test_recited_second_reply_withdraws_its_fields() -> None:
    soft = reply_text(personas=personas(rationale="It is theirs (2)."))
    judgement = Judgement(streamed(soft), streamed(reply_text(), finish="recitation"))
    result = await judgement.result()
    assert judgement.told[-2:] == ["personas.1", "-"]
    assert "personas.1" not in judgement.shown
    assert_verdict_is_as_shown(judgement.shown, result)
    assert result.personas[1].rationale == "It is theirs (2)."


async def test_truncated_reply_keeps_its_complete_fields() -> None:
    text = reply_text()
    cut = text[: text.index('"Coach"')]
    judgement = Judgement(streamed(cut, finish="truncated"), streamed(text))
    await judgement.result()
    assert judgement.told == [*NAMES[:3], "-", *NAMES[3:]]


async def test_streamed_fields_stay_when_the_deadline_passes() -> None:
    text = reply_text()
    heard = streamed(text[: text.index('"Coach"')]).texts
    judgement = Judgement(StreamedReply(heard, TimeoutError()))
    with pytest.raises(DeadlineExceeded):
        await judgement.result()
    assert judgement.told == list(NAMES[:3])


async def test_two_replies_with_hard_defects_are_an_error_despite_streamed_fields() -> None:
    judgement = Judgement(rejected(), rejected())
    with pytest.raises(InvalidReply):
        await judgement.result()
    assert "personas.1" not in judgement.shown


async def test_duplicate_member_keeps_its_streamed_value() -> None:
    text = reply_text()[:-1] + ', "paraphrase": "Something else."}'
    judgement = Judgement(streamed(text))
    result = await judgement.result()
    assert result.paraphrase == good_reply()["paraphrase"]
    assert_verdict_is_as_shown(judgement.shown, result)


@pytest.mark.parametrize(
    "order",
    [
        ("paraphrase", "personas", "summary", "references_help", "quotes"),
        ("summary", "personas", "quotes", "references_help", "paraphrase"),
    ],
)
async def test_fields_in_any_order_are_streamed_in_ours(order: tuple[str, ...]) -> None:
    judgement = Judgement(streamed(reply_text(order)))
    result = await judgement.result()
    assert judgement.told == list(NAMES)
    assert_verdict_is_as_shown(judgement.shown, result)


async def test_fields_inside_a_code_fence_are_streamed() -> None:
    text = reply_text()
    cut = f"```json\n{text[: text.index('summary')]}"
    judgement = Judgement(streamed(cut, finish="truncated"), reply_text())
    await judgement.result()
    assert judgement.told == [*NAMES[:3], "-", *NAMES[3:]]


def fields_of(text: str, *, is_whole: bool = False) -> list[CheckedField]:
    prompt = render_prompt(REQUEST, REFERENCES[:2], DEFAULT_PERSONAS)
    reader = ReplyReader(prompt, {}, needs_verdicts=True)
    return list(reader.fields(text, done=(), is_whole=is_whole))


@pytest.mark.parametrize("is_whole", [False, True])
def test_null_for_quotes_keeps_no_field_back(is_whole: bool) -> None:
    said = reply_text(quotes=None, references_help=False, summary="It is for them.")
    begun = said.removesuffix("}") + ', "more": "'
    found = fields_of(said if is_whole else begun, is_whole=is_whole)
    assert tuple(field.name for field in found) == NAMES


@pytest.mark.parametrize("missing", ["quotes", "references_help"])
def test_whole_reply_may_lack_quotes_or_references_help(missing: str) -> None:
    order = tuple(name for name in ORDER if name != missing)
    said = reply_text(order, summary="It is for them [1].")
    found = {field.name: field for field in fields_of(said, is_whole=True)}
    assert tuple(found) == NAMES
    [citation] = found["summary"].citations
    assert citation.quote_status == ("none" if missing == "quotes" else "verified")
    assert [defect.rule for defect in found["summary"].defects] == (
        ["quote"] if missing == "quotes" else []
    )


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


@given(replies(), st.data())
def test_truncated_reply_gives_a_prefix_of_the_fields_of_the_whole(
    text: str, data: st.DataObject
) -> None:
    end = data.draw(st.integers(0, len(text)))
    early, later = fields_of(text[:end]), fields_of(text)
    assert early == later[: len(early)]
    checked = check(text).reply
    if checked is not None:
        whole = {field.name: field for field in checked.fields}
        assert all(whole[field.name] == field for field in later)


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


def test_time_is_linear_for_small_pieces_and_many_brackets() -> None:
    text = '{"a": [' + "[]," * 10_000
    judgement = Judgement(streamed(text, piece=3), reply_text())
    before = time.process_time()
    asyncio.run(judgement.result())
    assert time.process_time() - before < 4.0  # 0.7 s; read at each piece, over 30 s


def test_reply_over_the_limit_is_not_read_further() -> None:
    text = '{"a": [' + "[]," * (MAX_REPLY_LENGTH // 2)
    heard = [text[:to] for to in range(0, len(text), MAX_REPLY_LENGTH // 4)]
    judgement = Judgement(StreamedReply(heard, ModelReply(text, "scripted")), reply_text())
    asyncio.run(judgement.result())
    assert judgement.told == ["-", *NAMES]


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_no_field_of_invalid_json_is_shown(value: str) -> None:
    text = f'{{"paraphrase": "It is cold.", "odd": {value}, "summary": "It'
    assert complete_members(text) == {}
    assert complete_members(text.replace(value, "1")) == {"paraphrase": "It is cold.", "odd": 1}


async def test_summary_without_citations_is_not_streamed_and_lacks_evidence() -> None:
    uncited = reply_text(summary="It is for them.", quotes=[])
    judgement = Judgement(streamed(uncited), streamed(uncited))
    result = await judgement.result()
    assert "summary" not in judgement.shown
    assert (result.evidence, len(result.warnings)) == ("missing", 1)


async def test_persona_without_a_verdict_is_not_streamed() -> None:
    judgement = Judgement(streamed(reply_text(personas=personas(verdict=None))), reply_text())
    await judgement.result()
    assert judgement.told == [
        "paraphrase",
        "personas.0",
        "personas.2",
        "summary",
        "-",
        "personas.1",
    ]
