"""Replay a golden case through the pipeline of the server, with no network."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from judge.adapters.extractive_model import ExtractiveModel
from judge.adapters.memory_cache import MemoryCache, MemoryLock
from judge.errors import JudgeError
from judge.golden.cases import GoldenCase
from judge.golden.replay import ReplayFetcher, ReplayModel, SilentJournal, StillClock
from judge.pipeline import Knowledge, Pipeline
from judge.snippets.retrieve import SnippetRetriever
from judge.types.judging import Prompt

REPLAY_DEADLINE_S = 30.0

ProblemOf = Callable[[JudgeError], Mapping[str, Any]]
"""The door's table: an error becomes problem details with at least `status` and `type`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case: the HTTP status, the body or problem, and the prompts that were sent."""

    status: int
    body: Mapping[str, Any]
    prompts: tuple[Prompt, ...]


async def run_case(
    case: GoldenCase, pages: Mapping[str, str | None], knowledge: Knowledge, problem_of: ProblemOf
) -> Outcome:
    """Judge *case* with *pages* as its web; errors become the problem a client would get."""
    clock, journal = StillClock(), SilentJournal()
    model = ReplayModel(case.replies)
    retriever = SnippetRetriever(
        ReplayFetcher(pages), MemoryCache(clock), MemoryLock(clock), clock, journal
    )
    pipeline = Pipeline(
        knowledge=lambda: knowledge,
        retriever=retriever,
        model=ExtractiveModel() if case.model == "extractive" else model,
        fallback=None,
        clock=clock,
        journal=journal,
        deadline_s=REPLAY_DEADLINE_S,
    )
    try:
        result = await pipeline.judge(case.input, request_id="golden")
    except JudgeError as error:
        problem = problem_of(error)
        return Outcome(int(problem["status"]), problem, tuple(model.prompts))
    finally:
        await retriever.aclose()
    return Outcome(200, asdict(result), tuple(model.prompts))


def digest_of(prompts: tuple[Prompt, ...]) -> str:
    """Identifies the rendered prompts of an outcome, to the byte."""
    text = "\0".join(f"{prompt.instructions}\0{prompt.text}" for prompt in prompts)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
