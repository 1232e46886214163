"""The measurement of verdicts against a crowd: what it counts, and that a run can go on."""

import json
from pathlib import Path

from benchmarks.verdicts import (
    PLAIN,
    Answer,
    Post,
    read_answers,
    report,
    run,
)
from judge.bootstrap.sources import compile_knowledge
from judge.golden.replay import ReplayFetcher
from judge.judging.pipeline import Pipeline
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal
from tests.fakes.model import ScriptedModel
from tests.fakes.pipeline import build_pipeline, text_retriever
from tests.unit.judging.verdicts.replies import good_reply, personas

POSTS = (
    Post("a", "Am I wrong?", "My brother sold my bicycle.", "No"),
    Post("b", "Am I wrong?", "I sold a bicycle that was not mine.", "Yes"),
)


SOURCES = """
vocabulary = false
[domains.family]
title = "Family"
[domains.family.terms]
brother = 3
"""


def verdict(word: str) -> str:
    said = [persona | {"verdict": word} for persona in personas()]
    return json.dumps(
        good_reply(personas=said, summary="So it is.", references_help=False, quotes=[])
    )


def pipeline(model: ScriptedModel) -> Pipeline:
    clock, journal = FakeClock(), RecordingJournal()
    retriever = text_retriever(ReplayFetcher({}), clock, journal)
    return build_pipeline(
        compile_knowledge(SOURCES), retriever, model, clock=clock, journal=journal
    )


async def measured(model: ScriptedModel, kept: Path, changes: tuple[str, ...] = ()) -> list[Answer]:
    judge = pipeline(model)
    return await run(judge, POSTS, kept, other_side=False, changes=changes, at_once=1)


async def test_kept_answers_are_not_paid_for_twice_and_errors_are_asked_again(
    tmp_path: Path,
) -> None:
    kept = tmp_path / "run.jsonl"
    first = await measured(ScriptedModel(verdict("No")), kept)
    assert [answer.verdict for answer in first] == ["No", ""]
    again = ScriptedModel(verdict("Yes"))
    second = await measured(again, kept)
    assert sorted((answer.id, answer.verdict) for answer in second) == [("a", "No"), ("b", "Yes")]
    assert len(again.calls) == 1


async def test_kept_answers_hold_no_word_of_a_post(tmp_path: Path) -> None:
    kept = tmp_path / "run.jsonl"
    await measured(ScriptedModel(verdict("No"), verdict("No")), kept)
    assert "bicycle" not in kept.read_text()
    kept.write_text(kept.read_text() + '{"id": "cut')
    assert len(read_answers(kept)) == 2


async def test_report_counts_agreement_flips_and_failures(tmp_path: Path) -> None:
    model = ScriptedModel(*map(verdict, ("No", "No", "Yes")))
    answers = await measured(model, tmp_path / "run.jsonl", ("name (Daniel)",))
    rows = "\n".join(report(POSTS, [*answers, Answer("c", PLAIN, error="InvalidReply")]))
    assert "My brother Daniel sold" in model.prompts[2].text
    assert "| posts judged | 2 of 2 |" in rows
    assert "| balanced accuracy | 0.50 (" in rows
    assert "| crowd says Yes | No 1 |" in rows
    assert "| flips: name (Daniel) | 1 of 1 |" in rows
    assert "| InvalidReply | 1 |" in rows
