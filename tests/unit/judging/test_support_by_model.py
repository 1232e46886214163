"""JUDGE_SUPPORT=model: one call scores all citations, and its failure loses no verdict."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from judge.adapters.models.extractive import ExtractiveModel
from judge.errors import ContentBlocked, ModelUnavailable
from judge.judging.support_by_model import rate_by_model
from judge.types.results import JudgeResult, SupportAsked
from tests.fakes.model import ScriptedModel
from tests.unit.judging.test_pipeline import GOOD, World, reply


async def judged(model: ScriptedModel) -> tuple[JudgeResult, World]:
    world = World(model)
    support = partial(rate_by_model, world.pipeline.model)
    world.pipeline = replace(world.pipeline, support=support)
    return await world.judge(), world


def answers(*said: str) -> str:
    return json.dumps({"answers": [{"number": n, "answer": a} for n, a in enumerate(said, 1)]})


@pytest.mark.parametrize(
    ("said", "support", "contradicts"),
    [
        ("follows", 1.0, False),
        ("partly", 0.5, False),
        ("not", 0.0, False),
        ("opposite", 0.0, True),
    ],
)
async def test_support_is_the_answer_of_the_model(
    said: str, support: float, contradicts: Any
) -> None:
    result, world = await judged(ScriptedModel(GOOD, answers(said)))
    (citation,) = result.citations
    assert (citation.support, citation.contradicts) == (support, contradicts)
    assert world.steps[-1] == SupportAsked(1)
    assert result.usage.total == 2 * (100 + 50 + 25)


async def test_contradiction_denied_by_the_model_is_not_a_warning() -> None:
    opposite = reply("Landlords are not responsible for repairs to the boiler [1].")
    said = [opposite, opposite]
    plain = await World(ScriptedModel(*said)).judge()
    assert "contradicts" in plain.warnings[0]
    result, _ = await judged(ScriptedModel(*said, answers("follows")))
    assert result.warnings == plain.warnings[1:]


async def test_a_citation_in_a_headline_is_rated_too() -> None:
    said = json.loads(GOOD)
    said["personas"][1]["headline"] = "The landlord must repair it [1]."
    result, _ = await judged(ScriptedModel(json.dumps(said), answers("follows", "partly")))
    assert [(c.field, c.support) for c in result.citations] == [
        ("summary", 1.0),
        ("personas.1.headline", 0.5),
    ]


async def test_claims_are_sent_as_data_and_each_source_once() -> None:
    twice = json.loads(GOOD)
    twice["personas"][0]["rationale"] = "The boiler is for the landlord to repair [1]."
    model = ScriptedModel(json.dumps(twice), answers("follows", "partly"))
    result, _ = await judged(model)
    assert [citation.support for citation in result.citations] == [1.0, 0.5]
    prompt = model.prompts[1]
    assert not model.calls[1].doubles_limit
    assert prompt.schema is not None
    assert prompt.text == (
        'source 1: "Landlords are responsible for repairs to the boiler."\n'
        'claim 1, of source 1: "Repairs are theirs."\n'
        'claim 2, of source 1: "The boiler is for the landlord to repair."\n'
    )


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (ModelUnavailable("Down."), "ModelUnavailable"),
        (ContentBlocked("SAFETY"), "ContentBlocked"),
        ("no json", "ValidationError"),
        ('{"answers": [{"number": 1, "answer": "perhaps"}]}', "ValidationError"),
        ('{"answers": [{"number": 7, "answer": "not"}]}', None),
    ],
)
async def test_failed_call_keeps_the_verdict_and_the_computed_support(
    failure: Any, reason: str | None
) -> None:
    plain = await World(ScriptedModel(GOOD)).judge()
    result, world = await judged(ScriptedModel(GOOD, failure))
    assert result.citations == plain.citations
    assert result.summary == plain.summary
    noted = world.journal.fields_of("support.unavailable")
    assert noted == ([{"reason": reason}] if reason else [])


async def test_extractive_answer_is_not_scored_by_the_model() -> None:
    model = ScriptedModel(ModelUnavailable("Down."))
    world = World(model, ExtractiveModel())
    world.pipeline = replace(world.pipeline, support=partial(rate_by_model, world.pipeline.model))
    result = await world.judge()
    assert result.citations
    assert len(model.prompts) == 1
    assert not [step for step in world.steps if isinstance(step, SupportAsked)]
