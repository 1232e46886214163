"""Retrieves the text to cite from pages: from the cache, else the page, else the last good text.

look up all pages at once -> fresh? cite it
                          -> else fetch, parse and store, one process at a time per page
                          -> failed? cite the last good text as stale, or leave the page out
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from judge.library.pages.approved_pages import IndexedPages, PageLibrary, requests_of
from judge.library.pages.page_reader import PageReader, Read, host_of, path_of, read_body
from judge.library.pages.page_records import CachedPage, PageRecord, SnippetRequest, SnippetStore
from judge.library.pages.walls import visit_signs, wall_error
from judge.library.rank.page_embeddings import PageEmbeddings
from judge.library.sources.catalog import SourceCatalog
from judge.ports import Cache, Clock, Journal, Lock, PageFetcher, PdfReader
from judge.single_flight import SingleFlight
from judge.vocabulary.thesaurus import load_thesaurus

POLL_S = 0.04
"""Polling interval while another process reads a page."""

AHEAD_SHARE = 0.1
"""The last share of a text's TTL, in which it is refreshed ahead of need."""


@dataclass(slots=True)
class SnippetRetriever:
    """Retrieves snippets, and adds pages to `library`; no failure of a page makes it fail."""

    fetcher: PageFetcher
    cache: Cache
    lock: Lock
    clock: Clock
    journal: Journal
    read: Read = read_body
    read_pdf: PdfReader | None = None
    library: PageLibrary = field(default_factory=lambda: PageLibrary(load_thesaurus()))
    reader: PageReader = field(init=False)
    store: SnippetStore = field(init=False)
    _single_flight: SingleFlight = field(init=False, default_factory=SingleFlight)
    _loaded_digest: str = field(init=False, default="")

    def __post_init__(self) -> None:
        self.reader = PageReader(self.fetcher, self.clock, self.read, self.read_pdf)
        self.store = SnippetStore(self.cache, self.clock)

    async def indexed(self, catalog: SourceCatalog) -> IndexedPages:
        """The index of all pages of *catalog*; the first call loads them from the cache."""
        if self._loaded_digest != catalog.digest:
            requests = requests_of(catalog)
            await self._single_flight.share(catalog.digest, lambda: self.look_up(requests))
            self._loaded_digest = catalog.digest
        return await self.library.indexed(catalog)

    async def look_up(self, requests: Sequence[SnippetRequest]) -> list[CachedPage]:
        """The cached state of each page, in one round trip."""
        pages = await self.store.look_up(requests)
        await self.library.update(
            (request, page.record) for request, page in zip(requests, pages) if page.record
        )
        return pages

    async def retrieve(self, requests: Sequence[SnippetRequest]) -> list[CachedPage]:
        """Each page with the snippet to cite, if any, in about `settings.fetch_timeout_s`."""
        if not requests:
            return []
        pages = await self.look_up(requests)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._resolve(request, page))
                for request, page in zip(requests, pages)
            ]
        return [task.result() for task in tasks]

    async def full_texts(self, requests: Sequence[SnippetRequest]) -> list[str | None]:
        """The full text of each page, a paragraph for each passage; None if it is unavailable."""
        return [_full_text(page) for page in await self.retrieve(requests)]

    async def refresh(self, request: SnippetRequest) -> PageRecord:
        """Fetch the page now, store it, and return its record; raises FetchError."""
        await self.look_up([request])  # The last good text, which it is compared with.
        return await self._fetch(request)

    def is_due(self, request: SnippetRequest, page: CachedPage) -> bool:
        """Whether the page should be refreshed ahead of need."""
        if page.has_just_failed:
            return False
        if page.record is None:
            return page.snippet is None
        return not request.is_younger(page.record, self.clock.now(), 1 - AHEAD_SHARE)

    async def read_ahead(self, request: SnippetRequest) -> None:
        """Fetch the page if it is due and no other process does so; failures are remembered."""
        await self._fetch_once(request, lambda page: self.is_due(request, page), patience_s=0)

    async def aclose(self) -> None:
        """Cancel the fetches that nobody waits for any more."""
        await self._single_flight.aclose()

    async def _resolve(self, request: SnippetRequest, page: CachedPage) -> CachedPage:
        """The page with the snippet to cite; fetched if that is needed and useful."""
        if not page.needs_fetch:
            return page

        async def fetch_needed() -> CachedPage:
            return await self._fetch_once(
                request, lambda page: page.needs_fetch, patience_s=request.lock_ttl_s
            )

        try:
            async with asyncio.timeout(request.settings.fetch_timeout_s):
                return await self._single_flight.share(request, fetch_needed)
        except TimeoutError:
            return page

    async def _fetch_once(
        self, request: SnippetRequest, is_wanted: Callable[[CachedPage], bool], *, patience_s: float
    ) -> CachedPage:
        """Fetch the page if it *is_wanted*, unless another process has just done so.

        While another does so it is waited for, up to *patience_s*.
        """
        name, token = request.cache_key("page"), uuid4().hex
        give_up = self.clock.monotonic() + patience_s
        try:
            while True:
                is_ours = await self.lock.acquire(name, token, request.lock_ttl_s)
                # Look even with the lock: its last holder may have fetched the page since.
                [page] = await self.look_up([request])
                if is_ours and is_wanted(page):
                    return await self._try_fetch(request, page)
                if is_ours or not is_wanted(page) or self.clock.monotonic() >= give_up:
                    return page
                await asyncio.sleep(POLL_S)
        finally:
            await self.lock.release(name, token)

    async def _try_fetch(self, request: SnippetRequest, page: CachedPage) -> CachedPage:
        """The page as fetched now, or *page* itself if that fails."""
        started = self.clock.monotonic()
        try:
            record = await self._fetch(request)
        except Exception as error:  # noqa: BLE001 - a bug costs one page, as a fault of it does
            reason = getattr(error, "reason", f"unexpected-{type(error).__name__}")
            status = getattr(error, "status", 0)
            self._note("snippet.fetch_failed", request, started, reason=reason, status=status)
            await self.store.put_failure(request)
            return page
        self._note("page.withdrawn" if record.is_withdrawn else "snippet.fetched", request, started)
        if record.is_withdrawn:
            return CachedPage(record=record, is_withdrawn=True)
        return CachedPage(request.snippet(record), record)

    async def _fetch(self, request: SnippetRequest) -> PageRecord:
        """Fetch the page and store it in the cache and the library; raises FetchError."""
        last = self.library.page(request)
        record = await self.reader.read_page(request, None if last.is_withdrawn else last.record)
        if visit_signs([record.text]) and self.library.has_twin(request, record):
            raise wall_error("twin", host_of(request))
        await self.library.update([(request, record)])
        await self.store.put(request, record)
        return record

    def _note(
        self, event: str, request: SnippetRequest, started: float, **fields: str | int
    ) -> None:
        elapsed_ms = round((self.clock.monotonic() - started) * 1000, 1)
        self.journal.note(
            event, host=host_of(request), path=path_of(request), elapsed_ms=elapsed_ms, **fields
        )


def _full_text(page: CachedPage) -> str | None:
    """The passages, preceded by the lead unless one of them contains it."""
    if page.snippet is None:
        return None
    lead = page.snippet.text
    passages = [passage.text for passage in page.record.passages] if page.record else []
    has_lead = any(lead.removesuffix("...") in passage for passage in passages)
    return "\n\n".join(passages if has_lead else [lead, *passages])


INTERVAL_S = 20.0
"""Interval between two checks of all pages; a check is one round trip to the cache."""


@dataclass(frozen=True, slots=True)
class ReadAhead:
    """Keeps all pages of the catalogue fresh for as long as `run` runs.

    Gently: one page at a time per host, over all processes; the others load it from the cache.
    """

    retriever: SnippetRetriever
    catalog: Callable[[], SourceCatalog]
    journal: Journal
    interval_s: float = INTERVAL_S
    embeddings: PageEmbeddings | None = None
    """Gets vectors of the pages, if there is an embedder."""

    async def run(self) -> None:
        """Refresh pages periodically, until cancelled."""
        while True:
            try:
                await self.run_once()
            except Exception as error:  # noqa: BLE001 - requests then fetch what they need
                self.journal.note("read_ahead.failed", error=type(error).__name__)
            await asyncio.sleep(self.interval_s)

    async def run_once(self) -> None:
        """Load what other processes read, fetch the pages that are due, and index all once."""
        catalog = self.catalog()
        requests = requests_of(catalog)
        pages = await self.retriever.look_up(requests)
        by_host: dict[str, list[SnippetRequest]] = {}
        for request, page in zip(requests, pages):
            if self.retriever.is_due(request, page):
                by_host.setdefault(host_of(request), []).append(request)
        async with asyncio.TaskGroup() as group:
            for host, due in by_host.items():
                group.create_task(self._read_host(host, due))
        indexed = await self.retriever.library.indexed(catalog)
        if self.embeddings:
            await self.embeddings.update(indexed)

    async def _read_host(self, host: str, due: Sequence[SnippetRequest]) -> None:
        """Fetch *due* pages one by one; stop if another process is fetching from *host*."""
        lock, name, token = self.retriever.lock, f"host:{host}", uuid4().hex
        try:
            for request in due:
                if not await lock.acquire(name, token, request.lock_ttl_s):
                    return
                await self.retriever.read_ahead(request)
        except Exception as error:  # noqa: BLE001 - the other hosts are read all the same
            self.journal.note("read_ahead.failed", error=type(error).__name__)
        finally:
            await lock.release(name, token)
