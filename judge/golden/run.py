"""Judge a golden case through the pipeline of the server; a replay uses no network."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter

from judge.adapters.extractive_model import ExtractiveModel
from judge.adapters.memory_cache import MemoryCache, MemoryLock
from judge.errors import DeadlineExceeded, JudgeError, ModelUnavailable
from judge.golden.case_index import open_documents
from judge.golden.replay import ReplayedReply, ReplayFetcher, ReplayModel, StillClock, TallyJournal
from judge.golden.store import StoredCase
from judge.judging.knowledge import Knowledge
from judge.judging.model_caller import ModelCaller
from judge.judging.pages.retriever import SnippetRetriever
from judge.judging.pipeline import Pipeline
from judge.judging.references import ReferenceCollector
from judge.ports import Clock, LanguageModel
from judge.types.judgements import ModelReply, Prompt

REPLAY_DEADLINE_S = 30.0
REQUEST_ID = "golden"

ProblemOf = Callable[[JudgeError], Mapping[str, Any]]
"""The door's table: an error becomes problem details with at least `status` and `type`."""

_AS_JSON = TypeAdapter[Any](Any)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case: the HTTP status, the body or problem as JSON, and what led there."""

    status: int
    body: Mapping[str, Any]
    prompts: tuple[Prompt, ...]
    attempts: tuple[ReplayedReply, ...] = ()
    lacks: tuple[str, ...] = ()
    """What the case would need to be replayed and does not have, in words."""

    error: JudgeError | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """Where cases are judged: what is known, and how errors are told."""

    knowledge: Knowledge
    problem_of: ProblemOf
    model: LanguageModel | None = None
    """The real model; None replays the replies of the case."""

    clock: Clock = field(default_factory=StillClock)
    deadline_s: float = REPLAY_DEADLINE_S


async def run_case(stored: StoredCase, stage: Stage) -> Outcome:
    """Judge *stored* with its pages as the web; errors become the problem a client would get."""
    fetcher, replies = ReplayFetcher(stored.pages), ReplayModel(stored.case.replies)
    journal = TallyJournal()
    clock, model = stage.clock, _Overheard(stage.model or _model(stored, stage, replies))
    retriever = SnippetRetriever(fetcher, MemoryCache(clock), MemoryLock(clock), clock, journal)
    try:
        async with open_documents(stored.case.documents, clock) as passages:
            pipeline = Pipeline(
                knowledge=lambda: stage.knowledge,
                references=ReferenceCollector(retriever, passages),
                model=ModelCaller(model, None, clock, journal),
                clock=clock,
                journal=journal,
                deadline_s=stage.deadline_s,
            )
            outcome = await judge_with(pipeline, stored, stage.problem_of)
    finally:
        await retriever.aclose()
    lacks = [f"the page {url}" for url in fetcher.unknown]
    lacks += [f"reply {replies.asked}"] if replies.lacks_replies else []
    return replace(
        outcome,
        prompts=tuple(model.prompts),
        attempts=tuple(journal.attempts),
        lacks=tuple(lacks),
    )


async def judge_with(pipeline: Pipeline, stored: StoredCase, problem_of: ProblemOf) -> Outcome:
    """The status and body that a client of *pipeline* would get."""
    try:
        result = await pipeline.judge(stored.case.input, request_id=REQUEST_ID)
    except JudgeError as error:
        problem = as_json(problem_of(error))
        return Outcome(int(problem["status"]), problem, (), error=error)
    return Outcome(200, as_json(result), ())


def is_lost(outcome: Outcome, stage: Stage) -> bool:
    """Whether the real model gave no answer at all, so that there is nothing to score."""
    return stage.model is not None and isinstance(
        outcome.error, ModelUnavailable | DeadlineExceeded
    )


def as_json(value: object) -> dict[str, Any]:
    """*value*, made of our dataclasses, as it is sent."""
    plain: dict[str, Any] = _AS_JSON.dump_python(value, mode="json")
    return plain


def digest_of(prompts: tuple[Prompt, ...]) -> str:
    """Identifies the rendered prompts of an outcome, to the byte."""
    text = "\0".join(f"{prompt.instructions}\0{prompt.text}" for prompt in prompts)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _model(stored: StoredCase, stage: Stage, replies: ReplayModel) -> LanguageModel:
    if stored.case.model == "extractive":
        return ExtractiveModel(lambda: [persona.name for persona in stage.knowledge.personas])
    return replies


class _Overheard:
    """A LanguageModel that remembers the prompts on their way to *model*."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.name = model.name
        self.gives_verdicts = model.gives_verdicts
        self.prompts: list[Prompt] = []

    async def complete(
        self, prompt: Prompt, *, timeout_s: float, has_more_room: bool
    ) -> ModelReply:
        """As *model* answers."""
        self.prompts.append(prompt)
        return await self._model.complete(prompt, timeout_s=timeout_s, has_more_room=has_more_room)
