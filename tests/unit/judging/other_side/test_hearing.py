"""The other side is heard after the verdict, and no failure of it loses the verdict."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.adapters.models.extractive import ExtractiveModel
from judge.errors import BudgetSpent, ContentBlocked, ModelUnavailable
from judge.types.replies import ModelReply, Usage
from judge.types.results import JudgeResult, OtherSide
from tests.fakes.model import ScriptedModel
from tests.unit.judging.test_pipeline import GOOD, HARD, REQUEST, SlowModel, World, reply

RETOLD = "My tenant wants me to mend the boiler, and I will not."
TOLD = json.dumps({"retelling": RETOLD, "query": "Am I being rude to refuse?"})
WRONG = json.dumps({"retelling": f"{RETOLD} It costs £90.", "query": "Am I being rude?"})
VERDICTS = ("Yes", "No", "Partially")


def saying(*verdicts: str, rationale: str = "{}: fine [1].") -> str:
    document = json.loads(GOOD)
    for persona, verdict in zip(document["personas"], verdicts, strict=True):
        persona |= {"verdict": verdict, "rationale": rationale.format(persona["name"])}
    return json.dumps(document)


async def heard(*script: Any, **changes: Any) -> tuple[JudgeResult, ScriptedModel]:
    model = ScriptedModel(*script)
    return await World(model).judge(hear_other_side=True, **changes), model


def verdicts_of(told: OtherSide | None) -> list[str]:
    assert told is not None
    return [one.verdict for one in told.personas]


async def test_retelling_is_judged_with_the_same_references() -> None:
    result, model = await heard(GOOD, TOLD, saying("Yes", "Yes", "Partially"))
    told = result.other_side
    assert told is not None
    assert (told.retelling, told.agrees, told.note) == (RETOLD, True, "")
    assert [(one.name, one.verdict, one.rationale) for one in told.personas] == [
        ("Therapist", "Yes", "Therapist: fine [1]."),
        ("Analyst", "Yes", "Analyst: fine [1]."),
        ("Coach", "Partially", "Coach: fine [1]."),
    ]
    assert (result.warnings, result.attempts, result.usage) == ((), 1, Usage(300, 150, 75))
    first, _, last = model.prompts
    assert last.references == first.references
    assert last.text == first.text.replace(REQUEST.context, RETOLD).replace(
        REQUEST.query, "Am I being rude to refuse?"
    )


_THREE = st.tuples(*[st.sampled_from(VERDICTS)] * 3)


@given(_THREE, _THREE)
def test_exactly_the_contradicting_personas_are_named(
    asker: tuple[str, ...], other: tuple[str, ...]
) -> None:
    result, _ = asyncio.run(heard(saying(*asker), TOLD, saying(*other)))
    names = [
        name
        for name, *both in zip(("Therapist", "Analyst", "Coach"), asker, other, strict=True)
        if both == ["No", "No"]
    ]
    assert verdicts_of(result.other_side) == list(other)
    assert [one for one in ("Therapist", "Analyst", "Coach") if one in str(result.warnings)] == (
        names
    )
    assert result.other_side is not None
    assert result.other_side.agrees is not bool(names)


async def test_contradiction_is_the_first_warning() -> None:
    soft = reply(quotes=[])
    result, _ = await heard(soft, soft, TOLD, GOOD)
    assert len(result.warnings) == 2
    assert result.warnings[0] == (
        "Both sides are told that they are right, by Therapist, Analyst and Coach: the verdict "
        "follows whoever tells the story, so do not rely on it."
    )


async def test_retelling_with_an_invented_number_twice_is_not_judged() -> None:
    result, model = await heard(GOOD, WRONG, WRONG, GOOD)
    assert result.other_side == OtherSide.unheard(result.warnings[-1])
    assert "it changed facts" in result.warnings[-1]
    assert (len(model.calls), "90" in str((result.other_side, result.warnings))) == (3, False)


async def test_verdict_with_an_invalid_citation_is_retried_once() -> None:
    result, model = await heard(GOOD, TOLD, HARD, GOOD)
    assert verdicts_of(result.other_side) == ["No"] * 3
    assert 'found "[7]"' in model.prompts[3].instructions
    assert model.prompts[3].instructions.startswith(model.prompts[2].instructions)
    assert not model.calls[3].doubles_limit
    cut = ModelReply(GOOD, "m", "truncated", Usage(100, 50, 25))
    _, model = await heard(GOOD, TOLD, cut, GOOD)
    assert [one.doubles_limit for one in model.calls] == [False, False, False, True]
    result, _ = await heard(GOOD, TOLD, HARD, HARD)
    assert result.other_side is not None
    assert (result.other_side.retelling, result.other_side.personas) == (RETOLD, ())
    assert "broke our rules twice" in result.warnings[-1]


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (ModelUnavailable("Down."), "The model did not answer, so the other side was not heard."),
        (BudgetSpent("Spent."), "Today's tokens are spent, so the other side was not heard."),
        (
            ContentBlocked("SAFETY"),
            "The model's safety filter did not let the other side be heard.",
        ),
        ("no json", "cannot be used"),
        (ZeroDivisionError(), "Something went wrong here while the other side was heard."),
    ],
)
@pytest.mark.parametrize("good", [(GOOD,), (GOOD, TOLD)])
async def test_failure_keeps_the_verdict_and_is_a_warning(
    good: Any, failure: Any, words: str
) -> None:
    plain, _ = await heard(GOOD)
    result, _ = await heard(*good, failure, failure)
    told = result.other_side
    assert told is not None
    assert (told.personas, told.agrees) == ((), None)
    assert result.warnings == (told.note,)
    assert (result.summary, result.personas, result.citations) == (
        plain.summary, plain.personas, plain.citations,
    )  # fmt: skip
    if len(good) == 1 or failure != "no json":
        assert words in told.note


@pytest.mark.parametrize("script", [(GOOD,), (GOOD, TOLD), (GOOD, TOLD, HARD)])
async def test_verdict_is_given_in_time_if_the_model_hangs(script: tuple[str, ...]) -> None:
    await World(ScriptedModel(GOOD)).judge()  # what is loaded at first use takes none of the time
    result = await World(SlowModel(*script), deadline_s=1).judge(hear_other_side=True)
    assert result.other_side is not None
    assert result.other_side.note == "There was no time left to hear the other side."
    assert result.warnings == (result.other_side.note,)


async def test_extractive_model_is_not_asked_to_retell() -> None:
    result = await World(ExtractiveModel()).judge(hear_other_side=True)
    assert result.other_side == OtherSide.unheard(
        "No language model has judged this, so the other side is not heard."
    )


async def test_neither_story_is_journalled() -> None:
    world = World(ScriptedModel(GOOD, WRONG, TOLD, GOOD))
    await world.judge(hear_other_side=True)
    assert "tenant" not in str(world.journal.entries)
    assert "boiler" not in str(world.journal.entries)
    assert world.journal.fields_of("other_side.heard") == [{"agrees": False}]
    assert len(world.journal.fields_of("other_side.replied")) == 3
