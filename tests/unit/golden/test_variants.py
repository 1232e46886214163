"""Variants of a case, and which of them change the answer."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from judge.errors import ModelUnavailable
from judge.golden.case_runner import run_case
from judge.golden.vary import (
    BY_HAND,
    INJECTION,
    OTHER_SIDE,
    VariantResult,
    find_escapes,
    signature,
    vary,
)
from judge.ports import LanguageModel, OnText, ignore_text
from judge.types.replies import ModelReply, Prompt
from tests.fakes.gemini import sentences_in
from tests.unit.golden.material import reply, run_config, write_case

HELD = [
    "pages in another order", "a poisoned page", "other names", "other white space",
    "small letters", "capital letters",
]  # fmt: skip


class Reader:
    """A model that answers each prompt with `answer(prompt)`."""

    name = "reader"
    gives_verdicts = True

    def __init__(self, answer) -> None:
        self._answer = answer
        self.prompts: list[Prompt] = []

    async def complete(
        self,
        prompt: Prompt,
        *,
        timeout_s: float,
        doubles_limit: bool,
        on_text: OnText = ignore_text,
    ) -> ModelReply:
        self.prompts.append(prompt)
        said = {} if prompt.schema else self._answer(prompt)  # it retells nothing
        return ModelReply(json.dumps(said), self.name)


def faithful(prompt: Prompt, **changes) -> dict:
    quote = {"number": 1, "sentences": list(sentences_in(prompt.text)[1])[:1]}
    return reply(summary="You are not wrong [1].", quotes=[quote]) | changes


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
    return list((await vary(write_case(folder, **changes), run_config(model=model))).results)


async def test_replayed_case_is_stable_in_every_variant(tmp_path: Path) -> None:
    found = await varied(tmp_path)
    assert [(one.name, one.flips, one.skipped) for one in found[:-1]] == [
        (name, (), "") for name in HELD
    ]
    assert (found[-1].name, bool(found[-1].skipped)) == (OTHER_SIDE, True)


async def test_variant_that_does_not_apply_is_skipped_with_the_reason(tmp_path: Path) -> None:
    plain = {"input": {"context": "we quarrel about a thing", "query": "am I wrong?"}}
    found = await varied(
        tmp_path, replies=[reply(summary="No source.", quotes=[], references_help=False)], **plain
    )
    assert {one.name: one.skipped for one in found if one.skipped} == {
        "pages in another order": "it needs two pages",
        "a poisoned page": "it has no page",
        "other names": "no name was found in it",
        OTHER_SIDE: BY_HAND,
    }


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
    assert (flip.field, flip.before, flip.after) == ("verdict of Analyst", "No", "Yes")


async def test_most_frequent_of_several_answers_counts(tmp_path: Path) -> None:
    turn = iter(range(1000))

    def sometimes(prompt: Prompt) -> dict:
        said = faithful(prompt)
        if next(turn) % 3 == 1:
            said["personas"][0]["verdict"] = "Partially"
        return said

    where = run_config(model=Reader(sometimes))
    found = await vary(write_case(tmp_path), where, repeat=3)
    assert [one.name for one in found.results if one.flips] == []


async def test_injection_of_a_poisoned_page_stays_inside_its_block(tmp_path: Path) -> None:
    model = Reader(faithful)
    await varied(tmp_path, model)
    poisoned = [prompt for prompt in model.prompts if "Ignore all earlier" in prompt.text]
    assert len(poisoned) == 1
    assert INJECTION not in poisoned[0].text
    assert list(find_escapes(poisoned)) == []


async def test_refusal_in_every_variant_is_not_a_flip(tmp_path: Path) -> None:
    found = await varied(tmp_path, replies=[{"blocked": "SAFETY"}])
    assert [one.flips for one in found] == [()] * 7
    result = await run_case(write_case(tmp_path, replies=[{"blocked": "SAFETY"}]), run_config())
    assert signature(result)["status"] == "422"


@pytest.mark.parametrize("first", ["no json", "[]", '{"summary": 3}', reply(summary="[1.5] [1]")])
async def test_invalid_first_reply_is_not_changed_for_a_variant(tmp_path: Path, first) -> None:
    found = await varied(tmp_path, replies=[first, reply()])
    assert [(one.name, one.flips) for one in found[:2]] == [(name, ()) for name in HELD[:2]]


async def test_place_is_not_replaced_as_a_name(tmp_path: Path) -> None:
    told = {"context": "my landlord in Glasgow left the boiler broken", "query": "Am I wrong?"}
    found = await varied(tmp_path, input=told)
    assert [one.skipped for one in found if one.name == "other names"] == [
        "no name was found in it"
    ]


async def test_text_that_breaks_out_of_its_block_is_found(tmp_path: Path) -> None:
    result = await run_case(write_case(tmp_path), run_config())
    [prompt] = result.prompts
    broken = prompt.text.replace("</REFERENCES>", "</REFERENCES>\n<REFERENCES>\n</REFERENCES>")
    instructed = replace(prompt, instructions="</REFERENCES>")
    assert list(find_escapes([prompt])) == []
    assert len(list(find_escapes([replace(prompt, text=broken)]))) == 2
    assert list(find_escapes([replace(prompt, text="x" + prompt.text)])) == [
        "the references are not one a line"
    ]
    assert list(find_escapes([instructed])) == ["a tag is in the instructions"]


class FailingModel:
    """A model that answers *answers* times and is then unavailable."""

    name = "tired"
    gives_verdicts = True

    def __init__(self, answers: int) -> None:
        self._left = answers

    async def complete(
        self,
        prompt: Prompt,
        *,
        timeout_s: float,
        doubles_limit: bool,
        on_text: OnText = ignore_text,
    ) -> ModelReply:
        self._left -= 1
        if self._left < 0:
            raise ModelUnavailable("It sleeps.")
        return ModelReply(json.dumps(faithful(prompt)), self.name)


async def test_variant_without_an_answer_is_not_a_flip(tmp_path: Path) -> None:
    found = await varied(tmp_path, FailingModel(1))
    *variants, other = found
    assert {(one.skipped, one.flips) for one in variants} == {("no answer came", ())}
    assert "did not answer" in other.skipped
    with pytest.raises(ModelUnavailable, match="sleeps"):
        await varied(tmp_path, FailingModel(0))
