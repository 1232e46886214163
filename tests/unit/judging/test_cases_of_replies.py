"""What is right for each reply of `shared/cases/replies`, and how `judge check` reads it.

Read from there and not kept here; its README says what the keys mean.
"""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from judge.bootstrap.sources import compile_knowledge
from judge.citations.check import AnswerSource, check_answer
from judge.citations.support import support
from judge.errors import InvalidReply
from judge.judging.model_caller import ModelCaller
from judge.judging.pipeline import Pipeline
from judge.judging.references import CollectedReferences
from judge.text.english import source_sentences
from judge.types.references import CitablePassages
from judge.types.requests import JudgeRequest
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal
from tests.fakes.model import ScriptedModel
from tests.unit.judging.verdicts.replies import reference

FOLDER = Path(__file__).parents[4] / "shared" / "cases" / "replies"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the cases are not on this machine")
KNOWN = compile_knowledge("vocabulary = false\n[domains.tenancy]\nterms = { landlord = 3 }\n")


class GivenReferences:
    """Offers the same references for every dispute."""

    embeddings = None

    def __init__(self, texts: list[str]) -> None:
        self.references = tuple(reference(n, text) for n, text in enumerate(texts, 1))

    async def find_passages(self, *_: Any) -> CitablePassages:
        return CitablePassages()

    async def collect(self, *_: Any, **__: Any) -> CollectedReferences:
        return CollectedReferences(self.references, 0, (), "", "", frozenset())


def read_cases() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    lines = (FOLDER / "replies.jsonl").read_text(encoding="utf-8").splitlines()
    base = json.loads((FOLDER / "base.json").read_text(encoding="utf-8"))
    return base, [json.loads(line) for line in lines]


def reply_of(case: dict[str, Any], base: dict[str, Any]) -> dict[str, Any]:
    reply = copy.deepcopy(base["reply"])
    analyst = reply["personas"][1]
    if case.get("instead"):
        analyst["rationale"] = "He has to keep the flat warm, and you told him in good time."
        reply["summary"] = case["text"]
    elif case["field"] == "personas.1.rationale":
        analyst["rationale"] += f" {case['text']}"
    elif case["field"] == "paraphrase":
        reply["paraphrase"] = f"Your landlord leaves you cold. {case['text']}"
    elif case["field"] == "summary":
        reply["summary"] += f" {case['text']}"
    else:
        _, persona, _, place = case["field"].split(".")
        reply["personas"][int(persona)]["key_points"][int(place)] = case["text"]
    texts = base["references"][case["references"]]
    cited = {1, 2, 3} if case["references"] == "base" else {1}
    relied = case.get("relies_on")
    reply["quotes"] = [
        {"number": n, "sentences": [nearest(case["text"], relied, texts[n - 1])]} for n in cited
    ]
    return reply


def nearest(said: str, relied_on: str | None, text: str) -> int:
    sentences = source_sentences(text)
    if relied_on:
        return sentences.index(relied_on) + 1
    return (support(said, sentences).sentence or 0) + 1


async def outcome_of(case: dict[str, Any], base: dict[str, Any]) -> dict[str, Any]:
    clock, journal = FakeClock(), RecordingJournal()
    said = json.dumps(reply_of(case, base), ensure_ascii=False)
    caller = ModelCaller(ScriptedModel(said, said), None, clock, journal)
    given: Any = GivenReferences(base["references"][case["references"]])
    pipeline = Pipeline(lambda: KNOWN, given, caller, clock, journal, 30.0)
    dispute = dict(base["dispute"])
    dispute["context"] += f" {case.get('dispute_also_says', '')}".rstrip()
    try:
        result = await pipeline.judge(JudgeRequest(**dispute), request_id="r")
    except InvalidReply as error:
        return {"status": 502, "attempts": error.attempts}
    return {
        "status": 200,
        "attempts": result.attempts,
        "warnings": result.warnings,
        "evidence": result.evidence,
        "cites": {c.number for c in result.citations if c.field == "summary"},
    }


def wrong_in(case: dict[str, Any], got: dict[str, Any]) -> bool:
    right = case["right"]
    is_wrong = [got["status"] != right["status"]]
    is_wrong += [got["attempts"] != right["attempts"]] if "attempts" in right else []
    if "warnings" in right:
        is_wrong.append(bool(got["warnings"]) == (right["warnings"] == 0))
    if "rule" in right:
        is_wrong.append(not any(f"({right['rule']})" in one for one in got["warnings"]))
    if right.get("evidence") == "not grounded":
        is_wrong.append(got["evidence"] == "grounded")
    elif "evidence" in right:
        is_wrong.append(got["evidence"] != right["evidence"])
    return any(is_wrong) or not set(case.get("cites", ())) <= got.get("cites", set())


async def test_every_case_has_what_is_right_for_it() -> None:
    base, cases = read_cases()
    wrong = {}
    for case in cases:
        got = await outcome_of(case, base)
        if wrong_in(case, got):
            wrong[case["id"]] = (case["text"], case["right"], got)
    assert wrong == {}


def test_check_reads_the_same_marks() -> None:
    base, cases = read_cases()
    for case in cases:
        texts = base["references"][case["references"]]
        answer = f"{source_sentences(texts[0])[0][:-1]} [1]. {case['text']}"
        checked = check_answer(answer, [AnswerSource(text) for text in texts])
        if case["group"].startswith("text-"):
            assert checked.verdict != "broken", case
            assert [answer[mark.start : mark.end] for mark in checked.marks] == ["[1]"], case
        elif case["group"] == "mark-out-of-range":
            assert checked.verdict == "broken", case
