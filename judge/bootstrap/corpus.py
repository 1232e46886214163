"""Opens the search over indexed documents: the configured engine, and the indexer."""

import asyncio
import re
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from judge.adapters.files.document_files import LocalFiles, pandoc_html
from judge.adapters.files.pdf_text import pdf_reader
from judge.adapters.index.tantivy.index import VECTORS, TantivyIndex
from judge.adapters.index.tantivy.writer import TantivyStore
from judge.adapters.memory import SystemClock
from judge.errors import ConfigurationError, InvalidAddress
from judge.library.indexing.indexer import DocumentIndexer
from judge.library.search.service import DocumentSearch
from judge.ports import Clock, Embedder, Journal, SearchEngine
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
    embedder: Embedder | None = None

    def visible_to(self, viewer: Viewer) -> "Corpus":
        """The corpus limited to what *viewer* may see; routes decide what it may change."""
        return replace(self, search=self.search.visible_to(viewer))


@asynccontextmanager
async def open_search(
    settings: Settings,
    journal: Journal,
    gemini: "GeminiClient | None" = None,
    clock: Clock | None = None,
) -> AsyncIterator[Corpus]:
    """Open the document index, with *gemini* for its embedder; raises ConfigurationError."""
    clock = clock or SystemClock()
    async with AsyncExitStack() as stack:
        embedder = None
        if settings.embedder or settings.qdrant_url:
            from judge.bootstrap.models import open_embedder  # noqa: PLC0415 - most need none

            embedder = open_embedder(settings, gemini, stack)
        if settings.qdrant_url is not None:
            key = settings.qdrant_api_key
            key_text = key.get_secret_value() if key else None
            opening = open_qdrant(settings.qdrant_url, key_text, embedder)
            engine = await stack.enter_async_context(opening)
        elif settings.database_url is not None:
            opening = open_postgres(settings.database_url.get_secret_value(), embedder)
            engine = await stack.enter_async_context(opening)
        else:
            data_dir = Path(settings.data_dir)
            index, store = TantivyIndex(data_dir), TantivyStore(data_dir, clock)
            engine = SearchEngine(index, index, store)
            if embedder:
                engine = open_vectors(data_dir, index, store, embedder, journal)
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
            embedder=embedder,
        )


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
    trusted = frozenset(settings.trusted_hosts)
    async with aclosing(open_fetcher(contact=lambda: contact, trusted_hosts=trusted)) as fetcher:
        yield fetcher


@contextmanager
def needing(setting: str, extra: str, packages: str) -> Iterator[None]:
    """Imports what only *extra* brings; raises ConfigurationError where it is missing."""
    try:
        yield
    except ImportError as error:
        raise ConfigurationError(
            f"{setting} needs the extra `judge[{extra}]`, which `pip install {packages}` brings. "
            f"Install it, or unset {setting}."
        ) from error


@asynccontextmanager
async def open_qdrant(
    url: str, api_key: str | None, embedder: Embedder | None
) -> AsyncIterator[SearchEngine]:
    """A SearchEngine on the server at *url*; raises ConfigurationError and InvalidAddress."""
    with needing("QDRANT_URL", "qdrant", "qdrant-client"):
        from qdrant_client import AsyncQdrantClient  # noqa: PLC0415 - an extra

        from judge.adapters.index.qdrant import QdrantIndex  # noqa: PLC0415 - an extra
    try:
        with warnings.catch_warnings():
            # It warns of a key sent without TLS, which is usual within a network of containers.
            warnings.simplefilter("ignore")
            client = AsyncQdrantClient(
                url=url, api_key=api_key, timeout=5, check_compatibility=False
            )
    except (ValueError, OSError, ImportError) as error:  # bad certificates; httpx without SOCKS
        # The client's message repeats the URL, which may hold a password.
        raise InvalidAddress(
            f"No client for QDRANT_URL can be opened ({type(error).__name__}). Write it as in "
            "http://127.0.0.1:6333; correct SSL_CERT_FILE and the proxy variables where set."
        ) from None
    address = re.sub("//[^/]*@", "//", url)  # no message may show a password
    try:
        index = QdrantIndex(client, address, embedder)
        yield SearchEngine(index, index, index)
    finally:
        await client.close()


@asynccontextmanager
async def open_postgres(url: str, embedder: Embedder | None) -> AsyncIterator[SearchEngine]:
    """A SearchEngine in the database at *url*; raises ConfigurationError and InvalidAddress."""
    with needing("JUDGE_DATABASE_URL", "postgres", "psycopg[binary] psycopg-pool"):
        from judge.adapters.index.postgres.database import open_database  # noqa: PLC0415 - an extra
        from judge.adapters.index.postgres.index import PostgresIndex  # noqa: PLC0415 - an extra
    async with aclosing(open_database(url)) as database:
        index = PostgresIndex(database, embedder)
        yield SearchEngine(index, index, index)


def open_vectors(
    data_dir: Path, index: TantivyIndex, store: TantivyStore, embedder: Embedder, journal: Journal
) -> SearchEngine:
    """A SearchEngine with *embedder*'s vectors in *data_dir*; raises ConfigurationError."""
    with needing("JUDGE_EMBEDDER", "vectors", "numpy"):
        from judge.adapters.index.vectors import VectorFile, VectorIndex  # noqa: PLC0415 - an extra
    name = re.sub(r"[^\w.-]", "_", embedder.name)
    file = VectorFile(data_dir / VECTORS / f"{name}.v2")
    vectors = VectorIndex(index, file, embedder, journal)
    return SearchEngine(vectors, index, store, vectors)
