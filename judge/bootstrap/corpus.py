"""Opens the search over indexed documents: the configured engine, and the indexer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from judge.adapters.files.document_files import LocalFiles
from judge.adapters.files.pandoc import pandoc_html
from judge.adapters.files.pdf_text import pdf_reader
from judge.adapters.index.extras import open_postgres, open_qdrant, open_vectors
from judge.adapters.index.tantivy.index import TantivyIndex
from judge.adapters.index.tantivy.writer import TantivyStore
from judge.adapters.system_clock import SystemClock
from judge.errors import ConfigurationError
from judge.library.indexing.indexer import DocumentIndexer
from judge.library.search.service import DocumentSearch
from judge.ports import Clock, Embedder, Journal, SearchEngine, VectorStorage
from judge.settings import Settings
from judge.types.search import Viewer

if TYPE_CHECKING:
    from judge.adapters.models.gemini import GeminiClient
    from judge.adapters.web.fetcher import HttpxFetcher


@dataclass(frozen=True, slots=True)
class Corpus:
    """The indexed documents: searching them, and changing them."""

    search: DocumentSearch
    indexer: DocumentIndexer
    vectors: VectorStorage | None = None
    """Vectors beside the embedded index; None without an embedder, or on Qdrant."""
    embedder: Embedder | None = None

    def seen_by(self, viewer: Viewer) -> "Corpus":
        """The corpus limited to what *viewer* may see; routes decide what it may change."""
        return replace(self, search=self.search.seen_by(viewer))


@asynccontextmanager
async def open_search(
    settings: Settings,
    journal: Journal,
    gemini: "GeminiClient | None" = None,
    clock: Clock | None = None,
) -> AsyncIterator[Corpus]:
    """Open the document index, which reads nothing before the first search.

    A Gemini embedder uses *gemini*, or else a client of its own. Raises MissingKey and
    ConfigurationError.
    """
    clock = clock or SystemClock()
    async with AsyncExitStack() as stack:
        embedder = None
        if settings.embedder or settings.qdrant_url or settings.database_url:
            from judge.bootstrap.embedders import open_embedder  # noqa: PLC0415 - most need none

            embedder = open_embedder(settings, clock, gemini, stack)
        engine = await _open_engine(settings, clock, journal, embedder, stack)
        yield Corpus(
            search=DocumentSearch(engine.index, engine.catalogue, clock),
            indexer=DocumentIndexer(
                store=engine.store,
                catalogue=engine.catalogue,
                files=LocalFiles(),
                open_pdf_reader=pdf_reader,
                convert=pandoc_html,
                open_fetcher=partial(open_pages, settings, journal),
                clock=clock,
                vectors=engine.vectors,
            ),
            vectors=engine.vectors,
            embedder=embedder,
        )


async def _open_engine(
    settings: Settings,
    clock: Clock,
    journal: Journal,
    embedder: Embedder | None,
    stack: AsyncExitStack,
) -> SearchEngine:
    """The embedded engine, or the one whose address is set: Qdrant or PostgreSQL."""
    if settings.qdrant_url is not None:
        key = settings.qdrant_api_key
        return await stack.enter_async_context(
            open_qdrant(settings.qdrant_url, key.get_secret_value() if key else None, embedder)
        )
    if settings.database_url is not None:
        url = settings.database_url.get_secret_value()
        return await stack.enter_async_context(open_postgres(url, embedder))
    data_dir = Path(settings.data_dir)
    index, store = TantivyIndex(data_dir), TantivyStore(data_dir, clock)
    if embedder is None:
        return SearchEngine(index, index, store)
    return open_vectors(data_dir, index, store, embedder, journal)


@asynccontextmanager
async def open_pages(settings: Settings, journal: Journal) -> AsyncIterator["HttpxFetcher"]:
    """Open the fetcher of web pages to be indexed, with the contact of the sources file."""
    from judge.adapters.web.fetcher import open_fetcher  # noqa: PLC0415 - few index web pages
    from judge.bootstrap.sources import open_sources  # noqa: PLC0415 - see above

    contact = ""
    with suppress(ConfigurationError):  # Without a sources file there is no contact.
        # On a thread: compiling the file takes 0.2 s, during which a server answers nobody.
        sources = await asyncio.to_thread(open_sources, settings, journal)
        contact = sources.current().catalog.retrieval.contact
    fetcher = open_fetcher(contact=lambda: contact, trusted_hosts=frozenset(settings.trusted_hosts))
    try:
        yield fetcher
    finally:
        await fetcher.aclose()
