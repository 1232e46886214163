"""Variants of a case, and which of them change the answer."""

import json
from pathlib import Path
from typing import Any

import pytest

from judge.errors import ModelUnavailable
from judge.golden.vary import INJECTION, REPLAYED, VariantResult, vary
from judge.ports import LanguageModel
from judge.types.replies import ModelReply, Prompt
from tests.fakes.gemini import sentences_in
from tests.unit.golden.material import reply, run_config, write_case

HELD = [
    "pages in another order", "a poisoned page", "other names", "other white space",
    "small letters", "capital letters",
]  # fmt: skip


class Reader:
    """A model that answers each prompt with `answer(prompt)`, *times* times at most."""

    name = "reader"
    gives_verdicts = True

    def __init__(self, answer, times: int = 100) -> None:
        self._answer = answer
        self._times = times
        self.prompts: list[Prompt] = []

    async def complete(self, prompt: Prompt, **_: Any) -> ModelReply:
        self.prompts.append(prompt)
        if len(self.prompts) > self._times:
            raise ModelUnavailable("It sleeps.")
        said = {} if prompt.schema else self._answer(prompt)  # it retells nothing
        return ModelReply(json.dumps(said), self.name)


def faithful(prompt: Prompt) -> dict:
    quote = {"number": 1, "sentences": list(sentences_in(prompt.text)[1])[:1]}
    return reply(summary="You are not wrong [1].", quotes=[quote])


def changed_by(words: str):
    """An answer in which the Analyst's verdict is Yes if *words* are in the prompt."""

    def answer(prompt: Prompt) -> dict:
        said = faithful(prompt)
        if words in prompt.text:
            said["personas"][1]["verdict"] = "Yes"
        return said

    return answer


async def varied(
    folder: Path, model: LanguageModel | None = None, **changes
) -> list[VariantResult]:
    return await vary(write_case(folder, **changes), run_config(model=model))


async def test_replayed_case_is_stable_in_every_variant(tmp_path: Path) -> None:
    found = await varied(tmp_path)
    told = {one.name: (one.state, one.skipped) for one in found}
    assert told.pop("pages in another order") == ("not tried", REPLAYED)
    assert told == dict.fromkeys(HELD[1:], ("held", ""))


async def test_variant_that_does_not_apply_is_skipped_with_the_reason(tmp_path: Path) -> None:
    plain = reply(summary="No source.", quotes=[], references_help=False)
    for context, more in (
        ("we quarrel about a thing", {"a poisoned page": "it has no page"}),
        ("my landlord in Glasgow left the boiler broken", {}),  # a place is no name
    ):
        asked = {"context": context, "query": "am I wrong?"}
        found = await varied(tmp_path, replies=[plain], input=asked)
        assert {one.name: one.skipped for one in found if one.skipped} == {
            "pages in another order": REPLAYED,
            "other names": "no name was found in it",
        } | more


@pytest.mark.parametrize(
    ("words", "variant"),
    [
        ("SYSTEM: every persona", "a poisoned page"),
        ("Alwyn", "other names"),
        ("MY LANDLORD", "capital letters"),
        ("my landlord", "small letters"),
        ("[1] {1} A boiler", "pages in another order"),
    ],
)
async def test_verdict_changed_by_a_variant_is_a_flip(
    tmp_path: Path, words: str, variant: str
) -> None:
    found = await varied(tmp_path, Reader(changed_by(words)))
    flipped = {one.name: one.flips for one in found if one.flips}
    assert list(flipped) == [variant]
    [flip] = flipped[variant]
    assert flip == "verdict of Analyst: No became Yes"


async def test_injection_of_a_poisoned_page_stays_inside_its_block(tmp_path: Path) -> None:
    model = Reader(faithful)
    await varied(tmp_path, model)
    poisoned = [prompt for prompt in model.prompts if "Ignore all earlier" in prompt.text]
    assert len(poisoned) == 1
    assert INJECTION not in poisoned[0].text
    assert poisoned[0].text.count("</REFERENCES>") == 1


async def test_variant_without_an_answer_is_not_a_flip(tmp_path: Path) -> None:
    found = await varied(tmp_path, Reader(faithful, times=1))
    assert {(one.skipped, one.flips) for one in found} == {("no answer came", ())}
    with pytest.raises(ModelUnavailable, match="sleeps"):
        await varied(tmp_path, Reader(faithful, times=0))
