"""Judges a golden case with the pipeline of the server; a replay uses no network."""

import functools
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from tempfile import TemporaryDirectory
from typing import Any

from pydantic_core import to_jsonable_python

from judge.adapters.memory.cache import MemoryCache, MemoryLock
from judge.adapters.models.extractive import ExtractiveModel
from judge.bootstrap.corpus import open_search
from judge.bootstrap.sources import compile_knowledge
from judge.errors import (
    ConfigurationError,
    DeadlineExceeded,
    InvalidReply,
    JudgeError,
    ModelUnavailable,
)
from judge.golden.case_files import StoredCase
from judge.golden.replay import (
    FixedClock,
    RecordingModel,
    ReplayedReply,
    ReplayFetcher,
    ReplayModel,
    RuleJournal,
)
from judge.judging.knowledge import Knowledge
from judge.judging.model_caller import ModelCaller
from judge.judging.pipeline import Pipeline, emit_nothing
from judge.judging.references import Arrange, ReferenceCollector
from judge.library.extract.document_reader import DocumentMetadata
from judge.library.pages.retriever import SnippetRetriever
from judge.library.search.service import CitablePassageFinder
from judge.ports import Clock, LanguageModel, PassageFinder
from judge.problems import as_body, problem_of
from judge.settings import Settings
from judge.types.replies import Defect, Prompt
from judge.types.requests import JudgeRequest
from judge.types.results import Emit, Restarted, Step, Versions
from judge.types.text_files import TextFile

REPLAY_DEADLINE_S = 30.0
REQUEST_ID = "golden"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of judging a case: HTTP status, body or problem as JSON, and how it came about."""

    status: int
    body: Mapping[str, Any]
    prompts: tuple[Prompt, ...]
    versions: Versions = field(default_factory=lambda: Versions("", ""))
    attempts: tuple[ReplayedReply, ...] = ()
    missing: tuple[str, ...] = ()
    """The pages and replies that were requested and that the case does not have, in words."""

    error: JudgeError | None = None

    @property
    def defects(self) -> tuple[Defect, ...]:
        """Every rule that a reply broke, in order."""
        return tuple(defect for attempt in self.attempts for defect in attempt.defects)

    @property
    def lacks_reply(self) -> bool:
        """Whether the model was called more often than the case has replies."""
        return any(name.startswith("reply") for name in self.missing)


@dataclass(frozen=True, slots=True)
class RunConfig:
    """How cases are judged: over which sources, by which model."""

    knowledge: Knowledge
    model: LanguageModel | None = None
    """The real model; None replays the replies of the case."""

    clock: Clock = field(default_factory=FixedClock)
    deadline_s: float = REPLAY_DEADLINE_S
    arrange: Arrange = tuple
    """Applied to the snippets before they are numbered; variants change them here."""
    sources_file: str = ""
    started: datetime | None = None
    """When the run began, in UTC."""

    is_exact: bool = True
    """Whether all expectations count, or only those that any good answer meets."""

    def knowledge_for(self, stored: StoredCase) -> Knowledge:
        """The sources that *stored* was recorded with, if it has any and the run is exact."""
        return _knowledge_of(stored.sources) if stored.sources and self.is_exact else self.knowledge


@functools.lru_cache(maxsize=4)
def _knowledge_of(sources: tuple[TextFile, ...]) -> Knowledge:
    """Cached, since cases that were recorded together have the same sources."""
    return compile_knowledge(*sources)


async def run_case(stored: StoredCase, config: RunConfig) -> Outcome:
    """Judge *stored* over its own pages; errors become the problem that a client would get."""
    fetcher, replies = ReplayFetcher(stored.pages), ReplayModel(stored.case.replies)
    journal, steps = RuleJournal(), list[Step]()
    knowledge = config.knowledge_for(stored)
    clock = config.clock
    model = RecordingModel(config.model or _model_of(stored, replies))
    retriever = SnippetRetriever(fetcher, MemoryCache(clock), MemoryLock(clock), clock, journal)
    try:
        async with _open_documents(stored, clock) as passages:
            pipeline = Pipeline(
                knowledge=lambda: knowledge,
                references=ReferenceCollector(retriever, passages, config.arrange),
                model=ModelCaller(model, None, clock, journal),
                clock=clock,
                journal=journal,
                deadline_s=config.deadline_s,
            )
            outcome = await judge_recorded(pipeline, model, stored.case.input, emit=steps.append)
    finally:
        await retriever.aclose()
    first = tuple(d for step in steps if isinstance(step, Restarted) for d in step.defects)
    missing = [f"the page {url}" for url in fetcher.unknown]
    if replies.calls > len(stored.case.replies):
        why = ", which is asked for because the one before broke a rule" if first else ""
        missing.append(f"reply {replies.calls}{why}")
    # No step reports the soft defects of a second reply.
    both = outcome.error.defects if isinstance(outcome.error, InvalidReply) else first
    defects_by_reply = (first, tuple(both[len(first) :]))
    attempts = (
        ReplayedReply(reply.usage, rules, reply.model, reply.text, defects)
        for reply, rules, defects in zip(
            model.model_replies, journal.broken, defects_by_reply, strict=False
        )
    )
    return replace(outcome, attempts=tuple(attempts), missing=tuple(missing))


@asynccontextmanager
async def _open_documents(stored: StoredCase, clock: Clock) -> AsyncIterator[PassageFinder | None]:
    """Index the documents of *stored* for the duration of the block; None without any.

    They are dated by *clock*, so that every replay gives the same bytes. Raises
    ConfigurationError, naming the file, for one that cannot be indexed.
    """
    documents = stored.case.documents
    if not documents:
        yield None
        return
    with TemporaryDirectory(prefix="judge-golden-") as folder:
        settings = Settings.model_construct(data_dir=folder)
        async with open_search(settings, RuleJournal(), clock=clock) as corpus:
            try:
                await corpus.indexer.add_documents(
                    [(text.encode(), _metadata(name, clock)) for name, text in documents.items()]
                )
            except JudgeError as error:
                raise ConfigurationError(f"{stored.path}: documents: {error}") from error
            yield CitablePassageFinder(corpus.search, clock)


def _metadata(name: str, clock: Clock) -> DocumentMetadata:
    collection, _, document_id = name.partition("/")
    return DocumentMetadata(
        collection=collection,
        document_id=document_id,
        name=document_id,
        path=document_id,
        folder=document_id.rpartition("/")[0],
        modified=clock.now(),
    )


async def judge_recorded(
    pipeline: Pipeline,
    model: RecordingModel,
    request: JudgeRequest,
    *,
    emit: Emit = emit_nothing,
) -> Outcome:
    """The status and body that a client over HTTP would get, and the prompts of *model*."""
    try:
        result = await pipeline.judge(request, request_id=REQUEST_ID, emit=emit)
    except JudgeError as error:
        problem = as_body(problem_of(error), path="/api/judge", request_id=REQUEST_ID)
        body, prompts = to_jsonable_python(problem), tuple(model.prompts)
        return Outcome(problem["status"], body, prompts, pipeline.knowledge().versions, error=error)
    return Outcome(200, to_jsonable_python(result), tuple(model.prompts), result.versions)


def is_unanswered(outcome: Outcome, config: RunConfig) -> bool:
    """Whether a real model gave no answer, so that there is nothing to score."""
    return config.model is not None and isinstance(
        outcome.error, ModelUnavailable | DeadlineExceeded
    )


def prompt_digest(prompts: tuple[Prompt, ...]) -> str:
    """Identifies the rendered prompts of an outcome, to the byte."""
    text = "\0".join(f"{prompt.instructions}\0{prompt.text}" for prompt in prompts)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _model_of(stored: StoredCase, replies: ReplayModel) -> LanguageModel:
    return ExtractiveModel() if stored.case.model == "extractive" else replies
