"""The words to cite for a request: from the cache, else from the page, else the last good ones.

look up all pages at once -> fresh? cite it
                          -> else one reader per page, in all processes: fetch, read, keep
                          -> no page to be had? cite the last good text as stale, or leave it out
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import uuid4

from judge.errors import CacheUnavailable, FetchError
from judge.judging.pages.library import PageLibrary
from judge.judging.pages.page_reader import FETCH_MARGIN_S, READ_TIMEOUT_S, PageReader, host_of
from judge.judging.pages.page_records import PageRecord, SnippetRequest
from judge.judging.pages.publishers import read_body
from judge.judging.pages.read import ReadPage
from judge.judging.pages.snippet_store import CachedPage, SnippetStore
from judge.ports import Cache, Clock, Journal, Lock, PageFetcher
from judge.single_flight import SingleFlight
from judge.types.judgements import Snippet
from judge.vocabulary.thesaurus import load_thesaurus

LOCK_MARGIN_S = 2 * FETCH_MARGIN_S
"""How much longer than reading a page its lock lasts, so that it is not lost on the way."""

POLL_S = 0.04
"""How often we look whether the process that reads a page has finished."""

AHEAD_SHARE = 0.1
"""The last part of a text's time in which it is read anew ahead of need."""


@dataclass(slots=True)
class SnippetRetriever:
    """Retrieves snippets for requests. Neither a page nor the cache can make that fail."""

    fetcher: PageFetcher
    cache: Cache
    lock: Lock
    clock: Clock
    journal: Journal
    read: Callable[..., ReadPage | None] = read_body
    library: PageLibrary = field(default_factory=lambda: PageLibrary(load_thesaurus()))
    reader: PageReader = field(init=False)
    store: SnippetStore = field(init=False)
    _single_flight: SingleFlight = field(init=False, default_factory=SingleFlight)

    def __post_init__(self) -> None:
        self.reader = PageReader(self.fetcher, self.clock, self.read)
        self.store = SnippetStore(self.cache, self.clock, self.journal)

    async def retrieve(self, requests: Sequence[SnippetRequest]) -> list[Snippet | None]:
        """The snippet of each request, None where it cannot be had.

        Takes little more than `settings.fetch_timeout_s` whatever the pages do.
        """
        if not requests:
            return []
        key = tuple(requests)
        pages = await self._single_flight.share(key, lambda: self.store.look(key))
        if all(page.is_settled for page in pages):
            return [page.best for page in pages]
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._settle(request, page))
                for request, page in zip(requests, pages, strict=True)
            ]
        return [task.result() for task in tasks]

    async def refresh(self, request: SnippetRequest) -> PageRecord:
        """The record of the page as it is now, which is then kept; raises FetchError."""
        record, content = await self.reader.read_page(request, known=None)
        if content is not None:
            await self.store.put(request, record, content)
            self.library.learn(request, record, content)
        return record

    async def read_ahead(self, request: SnippetRequest) -> None:
        """Read the page if it is due soon and nobody else does; failures are remembered."""
        [page] = await self.store.look([request])
        if not _is_due(page, request, self.clock):
            return
        token = uuid4().hex
        try:
            if await self._try_lock(request, token):
                await self._read_and_keep(request, page)
        finally:
            await self._release(request, token)

    async def aclose(self) -> None:
        """Give up the pages that are being read for nobody any more."""
        await self._single_flight.aclose()

    async def _settle(self, request: SnippetRequest, page: CachedPage) -> Snippet | None:
        """What to cite of one page, which is read if that is needed and useful."""
        if page.is_settled:
            return page.best
        try:
            async with asyncio.timeout(request.settings.fetch_timeout_s):
                return await self._single_flight.share(request, lambda: self._obtain(request))
        except TimeoutError:
            return page.stale

    async def _obtain(self, request: SnippetRequest) -> Snippet | None:
        """Read the page, unless another process has just done so or is about to."""
        token = uuid4().hex
        try:
            is_ours, page = await self._take_turn(request, token)
            if is_ours and not page.is_settled:
                return await self._read_and_keep(request, page)
            return page.best
        finally:
            await self._release(request, token)

    async def _take_turn(self, request: SnippetRequest, token: str) -> tuple[bool, CachedPage]:
        """Whether the lock is ours, and what is kept of the page now.

        Comes back when the lock is free, when another process has settled the page, or when that
        one should have been done by now.
        """
        give_up = self.clock.monotonic() + _lock_ttl_s(request)
        while True:
            is_ours = await self._try_lock(request, token)
            # Even with the lock: its last holder may have read the page since we looked.
            [page] = await self.store.look([request])
            if is_ours or page.is_settled or self.clock.monotonic() >= give_up:
                return is_ours, page
            await asyncio.sleep(POLL_S)

    async def _try_lock(self, request: SnippetRequest, token: str) -> bool:
        try:
            return await self.lock.acquire(request.lock_name, token, _lock_ttl_s(request))
        except CacheUnavailable:
            return True  # There is nothing to share, so nobody to wait for.

    async def _release(self, request: SnippetRequest, token: str) -> None:
        with suppress(CacheUnavailable):
            await self.lock.release(request.lock_name, token)

    async def _read_and_keep(self, request: SnippetRequest, page: CachedPage) -> Snippet | None:
        """The page's snippet as it is now, or the last good one after a failure."""
        started = self.clock.monotonic()
        try:
            record, content = await self.reader.read_page(request, known=page.record)
        except FetchError as error:
            self._note("snippet.fetch_failed", request, started, reason=error.reason)
            await self.store.put_failure(request)
            return page.stale
        self._note("page.withdrawn" if record.is_withdrawn else "snippet.fetched", request, started)
        if content is None:
            await self.store.renew(request, record)
        else:
            await self.store.put(request, record, content)
            self.library.learn(request, record, content)
        return None if record.is_withdrawn else request.snippet_of(record)

    def _note(self, event: str, request: SnippetRequest, started: float, **fields: str) -> None:
        elapsed_ms = round((self.clock.monotonic() - started) * 1000, 1)
        self.journal.note(event, host=host_of(request), elapsed_ms=elapsed_ms, **fields)


def _lock_ttl_s(request: SnippetRequest) -> float:
    return request.settings.fetch_timeout_s + READ_TIMEOUT_S + LOCK_MARGIN_S


def _is_due(page: CachedPage, request: SnippetRequest, clock: Clock) -> bool:
    """Whether the page should be read before somebody waits for it."""
    if not page.is_settled:
        return True
    if page.record is None or page.has_just_failed:
        return False
    age = clock.now() - page.record.fetched_at
    return age >= timedelta(seconds=request.ttl_s * (1 - AHEAD_SHARE))
