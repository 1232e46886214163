"""JUDGE_SUPPORT=onnx:FOLDER: a model lowers support, and its failure loses no verdict."""

from dataclasses import replace
from functools import partial

import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

from judge.adapters.models.entailment import OnnxEntailment, read_entailment
from judge.errors import ConfigurationError, ModelUnavailable
from judge.judging.support_by_model import rate_by_entailment
from judge.types.results import JudgeResult, SupportAsked
from tests.fakes.entailment_model import make_entailment_model
from tests.fakes.model import ScriptedModel
from tests.unit.judging.test_pipeline import World, reply

THREE = ("contradiction", "neutral", "entailment")
SAID = "Landlords are responsible for repairs to the boiler"


@pytest.fixture(params=[THREE, ("entailment", "not_entailment")], ids=["three", "two"])
def model(request, tmp_path) -> OnnxEntailment:
    return read_entailment(make_entailment_model(tmp_path / "nli", request.param))


async def judged(model, summary: str) -> tuple[JudgeResult, World]:
    world = World(ScriptedModel(*[reply(f"{summary} [1].")] * 2))
    support = partial(rate_by_entailment, model, world.clock, world.journal)
    world.pipeline = replace(world.pipeline, support=support)
    return await world.judge(), world


async def test_probability_is_of_the_class_that_entails(model):
    yes, no = await model.entailed([("A pear is a fruit.", "so it is"), ("It is.", "it is not")])
    assert yes > 0.9
    assert no < 0.1


async def test_support_is_lowered_and_the_opposite_needs_shared_words(model):
    follows, world = await judged(model, SAID)
    [before] = (await World(ScriptedModel(reply(f"{SAID} [1]."))).judge()).citations
    assert (follows.citations[0].support, follows.citations[0].contradicts) == (
        pytest.approx(min(before.support, 0.987), abs=0.01),
        False,
    )
    assert SupportAsked(1) in world.steps
    apart, _ = await judged(model, "Pears and apples are not expected to ripen in winter")
    assert (apart.citations[0].support <= 0.02, apart.citations[0].contradicts) == (True, False)


async def test_same_words_that_are_not_entailed_are_the_opposite(model):
    opposite, _ = await judged(model, "Landlords, not tenants, are responsible for the boiler")
    [citation] = opposite.citations
    assert citation.support <= 0.02
    assert citation.contradicts
    assert opposite.warnings[0].startswith("summary (contradicts): ")


async def test_failure_leaves_the_verdict_as_it_is():
    class Broken:
        async def entailed(self, pairs):
            raise ModelUnavailable("broken")

    result, world = await judged(Broken(), SAID)
    plain = await World(ScriptedModel(reply(f"{SAID} [1]."))).judge()
    assert result.citations == plain.citations
    assert world.journal.fields_of("support.unavailable") == [{"reason": "ModelUnavailable"}]


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "config.json"])
def test_folder_without_a_model_says_what_it_needs(tmp_path, missing):
    folder = make_entailment_model(tmp_path / "nli", THREE)
    (folder / missing).unlink()
    with pytest.raises(ConfigurationError, match=r"needs model.onnx, tokenizer.json and config"):
        read_entailment(folder)
