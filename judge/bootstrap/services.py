"""Opens all services of a process together, for its entrypoints."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from judge.adapters.admission import Admission
from judge.adapters.files.watched_file import LastGood, WatchedFile
from judge.adapters.models.budget import BudgetedModel, DailyBudget
from judge.adapters.models.extractive import ExtractiveModel
from judge.adapters.models.remote import RemoteModel
from judge.bootstrap.code_roots import CodeRoots, open_roots
from judge.bootstrap.corpus import Corpus, open_search
from judge.bootstrap.library import Library, open_library
from judge.bootstrap.models import open_gemini, open_model, open_support
from judge.judging.model_caller import ModelCaller
from judge.judging.pipeline import Pipeline, unlimited_budget
from judge.judging.references import ReferenceCollector
from judge.judging.results import Knowledge
from judge.library.pages.retriever import ReadAhead, SnippetRetriever
from judge.library.rank.page_embeddings import PageEmbeddings
from judge.library.search.service import CitablePassageFinder
from judge.ports import Clock, Journal, LanguageModel, RateLimiter
from judge.settings import Settings
from judge.types.search import Viewer


@dataclass(frozen=True, slots=True)
class Services:
    """What entrypoints are given: the pipeline, and the services beside it."""

    settings: Settings
    pipeline: Pipeline
    retriever: SnippetRetriever
    sources: WatchedFile[Knowledge]
    journal: Journal
    clock: Clock
    degraded: Callable[[], tuple[str, ...]]
    """Returns the names of optional services that are down, such as `redis`."""
    warm: Callable[[], Awaitable[None]]
    """Prepares what the first requests would wait for; a server runs it once, in the background."""
    read_ahead: Callable[[], Coroutine[Any, Any, object]]
    """Keeps the approved pages in the cache until cancelled; a server runs it in the background."""
    corpus: Corpus
    """The indexed documents; there may be none yet."""
    limiter: RateLimiter | None = None
    """Counts the requests of each caller; None without a limit."""
    code: CodeRoots = field(default_factory=CodeRoots)
    """The repositories that may be queried."""

    def seen_by(self, viewer: Viewer) -> "Services":
        """The same services limited to the documents that *viewer* may see.

        Entrypoints use no other: everything that reads documents is limited here, in one place.
        """
        if viewer.sees_all:
            return self
        corpus = self.corpus.seen_by(viewer)
        passages = CitablePassageFinder(corpus.search, self.clock)
        references = replace(self.pipeline.references, passages=passages)
        return replace(self, corpus=corpus, pipeline=replace(self.pipeline, references=references))


@asynccontextmanager
async def open_services(
    settings: Settings, journal: Journal, *, last_good: LastGood | None = None
) -> AsyncIterator[Services]:
    """Open everything that *settings* ask for; close it in reverse order on exit.

    *last_good* stores the last valid sources, with which a process may start.

    Raises ConfigurationError that names the setting to correct.
    """
    code = open_roots(settings.code_roots)
    async with AsyncExitStack() as stack:
        library = await stack.enter_async_context(
            open_library(settings, journal, last_good=last_good)
        )
        gemini = open_gemini(settings, stack)
        opened = partial(open_model, settings=settings, library=library, gemini=gemini, stack=stack)
        model = opened(settings.model)
        fallback = opened(settings.fallback) if settings.fallback else None
        budget = (
            DailyBudget(library.stores.tokens, settings.daily_tokens, library.clock, journal)
            if settings.daily_tokens
            else None
        )
        corpus = await stack.enter_async_context(open_search(settings, journal, gemini))
        embeddings = _page_embeddings(settings, library, corpus)
        caller = ModelCaller(
            _budgeted(model, budget),
            _budgeted(fallback, budget) if fallback else None,
            library.clock,
            journal,
        )
        passages, retriever = CitablePassageFinder(corpus.search, library.clock), library.retriever
        references = ReferenceCollector(retriever, passages, embeddings=embeddings)
        ahead = ReadAhead(
            retriever, lambda: library.sources.current().catalog, journal, embeddings=embeddings
        )
        yield Services(
            settings=settings,
            pipeline=_pipeline(settings, library, references, caller, budget),
            retriever=retriever,
            sources=library.sources,
            journal=journal,
            clock=library.clock,
            degraded=lambda: (*library.stores.degraded(), *_failing(model, budget)),
            warm=partial(_warm, library, model, budget),
            read_ahead=ahead.run,
            corpus=corpus,
            code=code,
            limiter=library.stores.limiter,
        )


def _pipeline(
    settings: Settings,
    library: Library,
    references: ReferenceCollector,
    caller: ModelCaller,
    budget: DailyBudget | None,
) -> Pipeline:
    """The pipeline; each judgement uses the sources file as it is at that time."""
    return Pipeline(
        knowledge=library.sources.current,
        references=references,
        model=caller,
        support=open_support(settings, caller),
        clock=library.clock,
        journal=library.journal,
        deadline_s=settings.deadline_s,
        check_budget=budget.check if budget else unlimited_budget,
        admission=Admission(settings.max_in_flight),
    )


def _budgeted(model: LanguageModel, budget: DailyBudget | None) -> LanguageModel:
    """*model* limited by *budget*, unless it costs nothing."""
    is_free = isinstance(model, ExtractiveModel)
    return BudgetedModel(model, budget) if budget and not is_free else model


def _failing(model: LanguageModel, budget: DailyBudget | None) -> tuple[str, ...]:
    """`model` while its last calls failed for a key, a quota or the budget; never asks it."""
    is_refused = isinstance(model, RemoteModel) and model.health.is_refused
    return ("model",) if is_refused or (budget and budget.is_spent) else ()


def _page_embeddings(settings: Settings, library: Library, corpus: Corpus) -> PageEmbeddings | None:
    """Similarity for the choice of pages, only if an embedder is named: it is sent disputes."""
    if corpus.embedder is None or not settings.embedder:
        return None
    retriever = library.retriever
    return PageEmbeddings(corpus.embedder, retriever.cache, retriever.lock, library.journal)


async def _warm(library: Library, model: LanguageModel, budget: DailyBudget | None) -> None:
    """Import the SDK and open its client, index the cached pages, and count the spent budget.

    The count makes the budget appear in the metrics from the start.
    """
    catalog = library.sources.current().catalog
    async with asyncio.TaskGroup() as group:
        group.create_task(library.retriever.indexed(catalog))
        if budget:
            group.create_task(budget.count(0))
        if isinstance(model, RemoteModel):
            group.create_task(model.warm())
