"""Judges a golden case with the pipeline of the server; a replay uses no network."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from tempfile import TemporaryDirectory
from typing import Any

from pydantic_core import to_jsonable_python

from judge.adapters.memory import MemoryCache, MemoryLock
from judge.adapters.models.extractive import ExtractiveModel
from judge.bootstrap.corpus import open_search
from judge.bootstrap.sources import compile_knowledge
from judge.errors import (
    ConfigurationError,
    ContentBlocked,
    DeadlineExceeded,
    FetchError,
    InvalidReply,
    JudgeError,
    ModelUnavailable,
)
from judge.golden.cases import REPLAY_TIME, GoldenReply, StoredCase
from judge.judging.model_caller import ModelCaller
from judge.judging.pipeline import Pipeline
from judge.judging.references import Arrange, ReferenceCollector
from judge.judging.results import Knowledge
from judge.library.extract.document_reader import DocumentMetadata
from judge.library.pages.retriever import SnippetRetriever
from judge.library.search.service import CitablePassageFinder
from judge.ports import Clock, LanguageModel, PageFetcher
from judge.problems import as_body, problem_of
from judge.settings import Settings
from judge.types.references import Media, Page
from judge.types.replies import Defect, ModelReply, Prompt
from judge.types.requests import JudgeRequest
from judge.types.results import Restarted, Step

REQUEST_ID = "golden"


@dataclass(frozen=True, slots=True)
class ReplayClock:
    """A Clock that stands; `monotonic` moves only if a real model takes real time."""

    at: datetime = REPLAY_TIME
    is_live: bool = False

    def now(self) -> datetime:
        """The moment at which the case was recorded."""
        return self.at

    def monotonic(self) -> float:
        """Always 0 in a replay, and so are all timings."""
        return time.monotonic() if self.is_live else 0.0


class ReplayFetcher:
    """A PageFetcher that serves the pages of a case; others fail, and are listed in `unknown`."""

    def __init__(self, pages: Mapping[str, Page | str | None]) -> None:
        self._pages = pages
        self.unknown: list[str] = []

    async def fetch(self, url: str, *, media: Media = "html", **_: Any) -> Page:
        """The page of the case; raises FetchError when it has none."""
        if url not in self._pages and media != "json":
            self.unknown.append(url)
        page = self._pages.get(url)
        if page is None:
            raise FetchError("connection", f"The case has no page for {url}.")
        page = Page(url, page.encode(), "utf-8") if isinstance(page, str) else page
        return replace(page, content_type="application/json" if media == "json" else "text/html")


class RuleJournal:
    """A Journal that records which rules each reply broke, and nothing else."""

    def __init__(self) -> None:
        self.broken: list[tuple[str, ...]] = []

    def note(self, event: str, **fields: str | float | bool) -> None:
        """See `Journal.note`."""
        if event == "model.replied":
            self.broken.append(())
        elif event == "reply.defect":
            self.broken[-1] += (str(fields["rule"]),)


class RecordingFetcher:
    """A PageFetcher that stores what *fetcher* returns; None stands for a page that is down."""

    def __init__(self, fetcher: PageFetcher) -> None:
        self._fetcher = fetcher
        self.pages: dict[str, Page | None] = {}

    async def fetch(self, url: str, *, media: Media = "html", **options: Any) -> Page:
        """See `PageFetcher.fetch`."""
        if media != "json":
            self.pages[url] = None  # Stays None on a timeout too.
        self.pages[url] = page = await self._fetcher.fetch(url, media=media, **options)
        return page


class RecordingModel:
    """A LanguageModel that stores prompts and replies, these also in the form of a case.

    The replies are those of *model*; without it the *replies* of a case, in order.
    """

    def __init__(self, model: LanguageModel | None, replies: Sequence[GoldenReply] = ()) -> None:
        self._model = model
        self._given = replies
        self.name = model.name if model else "scripted"
        self.gives_verdicts = model.gives_verdicts if model else True
        self.replies: list[dict[str, Any]] = []
        self.model_replies: list[ModelReply] = []
        self.prompts: list[Prompt] = []

    @property
    def lacks_reply(self) -> bool:
        """Whether there were more calls than replies of the case."""
        return not self._model and len(self.prompts) > len(self._given)

    async def complete(self, prompt: Prompt, **options: Any) -> ModelReply:
        """See `LanguageModel.complete`; raises ModelUnavailable past the last reply of the case."""
        self.prompts.append(prompt)
        try:
            ask = self._model.complete(prompt, **options) if self._model else self._next()
            reply = await ask
        except ContentBlocked as error:
            self.replies.append({"blocked": error.reason})
            raise
        except (ModelUnavailable, TimeoutError, asyncio.CancelledError) as error:
            self.replies.append({"unavailable": str(error) or "no reply in time"})
            raise
        self.model_replies.append(reply)
        fields = asdict(reply)
        self.replies.append({key: fields[key] for key in ("text", "finish", "model", "usage")})
        return reply

    async def _next(self) -> ModelReply:
        if self.lacks_reply:
            raise ModelUnavailable(f"The case does not have reply {len(self.prompts)}.")
        reply = self._given[len(self.prompts) - 1]
        if reply.blocked is not None:
            raise ContentBlocked(reply.blocked)
        if reply.unavailable is not None:
            raise ModelUnavailable(reply.unavailable)
        return ModelReply(reply.text, reply.model, reply.finish, reply.usage)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of judging a case: HTTP status, body or problem as JSON, and how it came about.

    *rules* are those that each reply broke, *defects* what the pipeline tells of them; *missing*
    names the pages and replies that were requested and that the case does not have; *unanswered* is
    why there is no answer, if the model gave none.
    """

    status: int
    body: Mapping[str, Any]
    prompts: tuple[str, ...] = ()
    prompt_digest: str = ""
    replies: tuple[ModelReply, ...] = ()
    rules: tuple[tuple[str, ...], ...] = ()
    defects: tuple[Defect, ...] = ()
    missing: tuple[str, ...] = ()
    unanswered: str = ""

    @property
    def lacks_reply(self) -> bool:
        """Whether the model was called more often than the case has replies."""
        return any(name.startswith("reply") for name in self.missing)


@dataclass(frozen=True, slots=True)
class RunConfig:
    """How cases are judged: over which sources, by which model."""

    knowledge: Callable[[], Knowledge]
    model: LanguageModel | None = None  # None replays the replies of the case.
    deadline_s: float = 30.0
    arrange: Arrange = tuple
    sources_file: str = ""
    started: datetime = REPLAY_TIME
    is_exact: bool = True  # Whether more counts than what any good answer meets.

    @property
    def is_live(self) -> bool:
        """Whether a real model is asked."""
        return self.model is not None

    def knowledge_for(self, stored: StoredCase) -> Knowledge:
        """The sources that *stored* was recorded with, if it has any and the run is exact."""
        own = stored.sources if self.is_exact else ()
        return compile_knowledge(*own) if own else self.knowledge()


async def run_case(stored: StoredCase, config: RunConfig) -> Outcome:
    """Judge *stored* over its own pages; errors become the problem that a client would get."""
    case, fetcher, journal = stored.case, ReplayFetcher(stored.pages), RuleJournal()
    knowledge = config.knowledge_for(stored)
    clock = ReplayClock(case.recorded_at, is_live=config.is_live)
    own_model = ExtractiveModel() if case.model == "extractive" else None
    model = RecordingModel(config.model or own_model, case.replies)
    retriever = SnippetRetriever(fetcher, MemoryCache(clock), MemoryLock(clock), clock, journal)
    async with _open_documents(stored, clock) as passages:
        pipeline = Pipeline(
            knowledge=lambda: knowledge,
            references=ReferenceCollector(retriever, passages, config.arrange),
            model=ModelCaller(model, None, clock, journal),
            clock=clock,
            journal=journal,
            deadline_s=config.deadline_s,
        )
        outcome = await judge_recorded(pipeline, model, case.input)
    missing = [f"the page {url}" for url in fetcher.unknown]
    if model.lacks_reply:
        why = ", which is asked for because the one before broke a rule" * bool(outcome.defects)
        missing.append(f"reply {len(model.prompts)}{why}")
    return replace(outcome, rules=tuple(journal.broken), missing=tuple(missing))


@asynccontextmanager
async def _open_documents(
    stored: StoredCase, clock: Clock
) -> AsyncIterator[CitablePassageFinder | None]:
    """Index the documents of *stored* for the duration of the block; None without any.

    They are dated by *clock*, so that every replay gives the same bytes. Raises
    ConfigurationError, naming the file, for one that cannot be indexed.
    """
    documents = stored.case.documents
    if not documents:
        yield None
        return
    with TemporaryDirectory(prefix="judge-golden-") as data_dir:
        settings = Settings.model_construct(data_dir=data_dir)
        entries = []
        for name, text in documents.items():
            collection, _, path = name.partition("/")
            folder, modified = path.rpartition("/")[0], clock.now()
            about = DocumentMetadata(collection, path, path, path, folder=folder, modified=modified)
            entries.append((text.encode(), about))
        async with open_search(settings, RuleJournal(), clock=clock) as corpus:
            try:
                await corpus.indexer.add_documents(entries)
            except JudgeError as error:
                raise ConfigurationError(f"{stored.path}: documents: {error}") from error
            yield CitablePassageFinder(corpus.search, clock)


async def judge_recorded(
    pipeline: Pipeline,
    model: RecordingModel,
    request: JudgeRequest,
    *,
    reported: tuple[type[JudgeError], ...] = (JudgeError,),
) -> Outcome:
    """What a client over HTTP would get; errors that are not to be *reported* so are raised."""
    steps: list[Step] = []
    error: JudgeError | None = None
    try:
        result = await pipeline.judge(request, request_id=REQUEST_ID, emit=steps.append)
        body = to_jsonable_python(result)
    except reported as failure:
        error = failure
        problem = as_body(problem_of(failure), path="/api/judge", request_id=REQUEST_ID)
        body = to_jsonable_python(problem)
    finally:
        await pipeline.references.retriever.aclose()
    # Of a reply that is shown, no step tells the soft defects.
    asked_again = (d for step in steps if isinstance(step, Restarted) for d in step.defects)
    prompts = [(prompt.instructions, prompt.text) for prompt in model.prompts]
    text = "\0".join(part for parts in prompts for part in parts)
    return Outcome(
        body["status"] if error else 200,
        body,
        prompts=tuple(map("\n\n".join, prompts)),
        prompt_digest=hashlib.sha256(text.encode()).hexdigest()[:16],
        replies=tuple(model.model_replies),
        defects=error.defects if isinstance(error, InvalidReply) else tuple(asked_again),
        unanswered=str(error) if isinstance(error, ModelUnavailable | DeadlineExceeded) else "",
    )
