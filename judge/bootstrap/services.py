"""Opens all services of a process together, for its entrypoints."""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from judge.adapters.files.watched_file import LastGood, WatchedFile
from judge.adapters.memory import Admission
from judge.adapters.models.budget import BudgetedModel, DailyBudget
from judge.adapters.models.extractive import ExtractiveModel
from judge.adapters.models.remote import RemoteModel
from judge.bootstrap.code_roots import CodeRoots, open_roots
from judge.bootstrap.corpus import Corpus, open_search
from judge.bootstrap.library import open_library
from judge.bootstrap.models import open_gemini, open_model, open_support
from judge.judging.model_caller import ModelCaller
from judge.judging.pipeline import Pipeline
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

    def visible_to(self, viewer: Viewer) -> "Services":
        """The same services limited to what *viewer* may see; entrypoints use no other."""
        if viewer.sees_all:
            return self
        corpus = self.corpus.visible_to(viewer)
        passages = CitablePassageFinder(corpus.search, self.clock)
        references = replace(self.pipeline.references, passages=passages)
        return replace(self, corpus=corpus, pipeline=replace(self.pipeline, references=references))


@asynccontextmanager
async def open_services(
    settings: Settings, journal: Journal, *, last_good: LastGood | None = None
) -> AsyncIterator[Services]:
    """Open everything that *settings* ask for; raises ConfigurationError that names the setting.

    *last_good* stores the last valid sources, with which a process may start.
    """
    code = open_roots(settings.code_roots)
    async with AsyncExitStack() as stack:
        library = await stack.enter_async_context(
            open_library(settings, journal, last_good=last_good)
        )
        gemini, clock, retriever = open_gemini(settings, stack), library.clock, library.retriever
        budget = None
        if settings.daily_tokens:
            budget = DailyBudget(library.stores.tokens, settings.daily_tokens, clock, journal)
        model = open_model(settings.model, settings, journal, gemini, stack)
        fallback = None
        if settings.fallback:
            fallback = open_model(settings.fallback, settings, journal, gemini, stack)
        corpus = await stack.enter_async_context(open_search(settings, journal, gemini))
        embeddings = None
        if corpus.embedder and settings.embedder:  # only by name, since it is sent disputes
            embeddings = PageEmbeddings(corpus.embedder, retriever.cache, retriever.lock, journal)
        caller = ModelCaller(
            _budgeted(model, budget), fallback and _budgeted(fallback, budget), clock, journal
        )
        passages = CitablePassageFinder(corpus.search, clock)
        ahead = ReadAhead(
            retriever, lambda: library.sources.current().catalog, journal, embeddings=embeddings
        )
        yield Services(
            settings=settings,
            pipeline=Pipeline(
                knowledge=library.sources.current,
                references=ReferenceCollector(retriever, passages, embeddings=embeddings),
                model=caller,
                support=open_support(settings, caller),
                clock=clock,
                journal=journal,
                deadline_s=settings.deadline_s,
                check_budget=budget.check if budget else None,
                admission=Admission(settings.max_in_flight),
            ),
            retriever=retriever,
            sources=library.sources,
            journal=journal,
            clock=clock,
            degraded=lambda: (*library.stores.degraded(), *_failing(model, budget)),
            warm=partial(_warm, model, budget),
            read_ahead=ahead.run,
            corpus=corpus,
            code=code,
            limiter=library.stores.limiter,
        )


def _budgeted(model: LanguageModel, budget: DailyBudget | None) -> LanguageModel:
    """*model* limited by *budget*, unless it costs nothing."""
    is_free = isinstance(model, ExtractiveModel)
    return BudgetedModel(model, budget) if budget and not is_free else model


def _failing(model: LanguageModel, budget: DailyBudget | None) -> tuple[str, ...]:
    """`model` while its last calls failed for a key, a quota or the budget; never asks it."""
    is_refused = isinstance(model, RemoteModel) and model.is_refused
    return ("model",) if is_refused or (budget and budget.is_spent) else ()


async def _warm(model: LanguageModel, budget: DailyBudget | None) -> None:
    """Show the budget in the metrics from the start, and open the model's client."""
    if budget:
        await budget.count(0)
    if isinstance(model, RemoteModel):
        await model.warm()
