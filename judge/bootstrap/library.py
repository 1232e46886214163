"""Opens the sources file and the retriever of approved pages, with the shared cache."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from judge.adapters.files.pdf_text import pdf_text
from judge.adapters.files.watched_file import LastGood, WatchedFile
from judge.adapters.system_clock import SystemClock
from judge.adapters.web.fetcher import open_fetcher
from judge.bootstrap.sources import open_sources
from judge.bootstrap.stores import Stores, open_stores
from judge.judging.results import Knowledge
from judge.library.pages.page_records import PDF_TIMEOUT_S
from judge.library.pages.retriever import SnippetRetriever
from judge.ports import Clock, Journal
from judge.settings import Settings


@dataclass(frozen=True, slots=True)
class Library:
    """The sources and the retriever of their pages: all that works without a model."""

    sources: WatchedFile[Knowledge]
    retriever: SnippetRetriever
    journal: Journal
    clock: Clock
    stores: Stores


@asynccontextmanager
async def open_library(
    settings: Settings, journal: Journal, *, last_good: LastGood | None = None
) -> AsyncIterator[Library]:
    """Open the library; raises ConfigurationError for an invalid sources file."""
    clock = SystemClock()
    sources = open_sources(settings, journal, last_good)
    async with AsyncExitStack() as stack:
        stores = open_stores(settings, clock, journal)
        if stores.redis:
            stack.push_async_callback(stores.redis.aclose)
        fetcher = open_fetcher(
            contact=lambda: sources.current().catalog.retrieval.contact,
            trusted_hosts=frozenset(settings.trusted_hosts),
        )
        stack.push_async_callback(fetcher.aclose)
        read_pdf = partial(pdf_text, timeout_s=PDF_TIMEOUT_S)
        retriever = SnippetRetriever(
            fetcher, stores.cache, stores.lock, clock, journal, read_pdf=read_pdf
        )
        stack.push_async_callback(retriever.aclose)
        yield Library(
            sources=sources,
            retriever=retriever,
            journal=journal,
            clock=clock,
            stores=stores,
        )
