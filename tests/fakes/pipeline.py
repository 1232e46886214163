"""Builds the pipeline on fakes, for every test that judges."""

from collections.abc import Awaitable, Callable

from judge.adapters.memory import MemoryCache, MemoryLock
from judge.judging.model_caller import ModelCaller
from judge.judging.pipeline import Pipeline
from judge.judging.references import ReferenceCollector
from judge.judging.results import Knowledge
from judge.library.extract.html_page import ReadPage
from judge.library.pages.page_records import SnippetRequest
from judge.library.pages.retriever import SnippetRetriever
from judge.library.search.service import CitablePassageFinder
from judge.ports import Clock, Journal, LanguageModel, PageFetcher
from judge.types.references import Page
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal


def text_retriever(fetcher: PageFetcher, clock: Clock, journal: Journal) -> SnippetRetriever:
    """A retriever whose pages are plain text already."""

    def read(_: SnippetRequest, page: Page) -> ReadPage | None:
        return ReadPage(lead=page.body.decode()) if page.content_type == "text/html" else None

    return SnippetRetriever(
        fetcher, MemoryCache(clock), MemoryLock(clock), clock, journal, read=read
    )


def build_pipeline(
    known: Knowledge | Callable[[], Knowledge],
    retriever: SnippetRetriever,
    model: LanguageModel,
    fallback: LanguageModel | None = None,
    *,
    clock: Clock | None = None,
    journal: Journal | None = None,
    deadline_s: float = 30.0,
    passages: CitablePassageFinder | None = None,
    check_budget: Callable[[], Awaitable[None]] | None = None,
) -> Pipeline:
    """The server's pipeline, with *retriever* and *model* as its only links to the outside."""
    clock, journal = clock or FakeClock(), journal or RecordingJournal()
    return Pipeline(
        knowledge=(lambda: known) if isinstance(known, Knowledge) else known,
        references=ReferenceCollector(retriever, passages),
        model=ModelCaller(model, fallback, clock, journal),
        clock=clock,
        journal=journal,
        deadline_s=deadline_s,
        check_budget=check_budget,
    )
