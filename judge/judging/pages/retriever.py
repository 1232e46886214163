"""The words to cite for a request: from the cache, else from the page, else the last good ones.

look up all pages at once -> fresh? cite it
                          -> else one reader per page, in all processes: fetch, extract, keep
                          -> no page to be had? cite the last good text as stale, or leave it out
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from uuid import uuid4

from judge.errors import CacheUnavailable, FetchError
from judge.judging.pages.extract import extract_snippet
from judge.judging.pages.page_records import PageRecord, SnippetRequest
from judge.judging.pages.snippet_store import CachedPage, SnippetStore
from judge.ports import Cache, Clock, Journal, Lock, PageFetcher
from judge.single_flight import SingleFlight
from judge.types.judgements import (
    NotModified,
    Page,
    RetrievalSettings,
    Snippet,
    SourceSpec,
    Validators,
)

EXTRACT_TIMEOUT_S = 2.0
"""The slowest real page takes 0.05 s; hostile markup can take seconds."""

LOCK_MARGIN_S = 1.0
"""How much longer than reading a page its lock lasts, so that it is not lost on the way."""

POLL_S = 0.04
"""How often we look whether the process that reads a page has finished."""


@dataclass(slots=True)
class SnippetRetriever:
    """Retrieves snippets for requests. Neither a page nor the cache can make that fail."""

    fetcher: PageFetcher
    cache: Cache
    lock: Lock
    clock: Clock
    journal: Journal
    extract: Callable[..., str] = extract_snippet
    _shelf: SnippetStore = field(init=False)
    _flights: SingleFlight = field(init=False, default_factory=SingleFlight)

    def __post_init__(self) -> None:
        self._shelf = SnippetStore(self.cache, self.clock, self.journal)

    async def retrieve(
        self, domain: str, sources: Sequence[SourceSpec], settings: RetrievalSettings
    ) -> tuple[Snippet, ...]:
        """The snippets of *sources*, in their order, without those that cannot be had.

        Takes little more than `settings.fetch_timeout_s` whatever the pages do.
        """
        wanted = tuple(SnippetRequest(domain, source, settings) for source in sources)
        if not wanted:
            return ()
        kept = await self._flights.share(wanted, lambda: self._shelf.look(wanted))
        if all(page.is_settled for page in kept):
            found = [page.best for page in kept]
        else:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._settle(one, page))
                    for one, page in zip(wanted, kept, strict=True)
                ]
            found = [task.result() for task in tasks]
        return tuple(snippet for snippet in found if snippet is not None)

    async def refresh(
        self, domain: str, source: SourceSpec, settings: RetrievalSettings
    ) -> Snippet:
        """The snippet of *source* as its page is now, which is then kept; raises FetchError."""
        wanted = SnippetRequest(domain, source, settings)
        record = await self._read(wanted, known=None)
        await self._shelf.put(wanted, record)
        return wanted.snippet(record.text, record.fetched_at)

    async def aclose(self) -> None:
        """Give up the pages that are being read for nobody any more."""
        await self._flights.aclose()

    async def _settle(self, wanted: SnippetRequest, kept: CachedPage) -> Snippet | None:
        """What to cite of one page, which is read if that is needed and useful."""
        if kept.is_settled:
            return kept.best
        try:
            async with asyncio.timeout(wanted.settings.fetch_timeout_s):
                return await self._flights.share(wanted, lambda: self._obtain(wanted))
        except TimeoutError:
            return kept.stale

    async def _obtain(self, wanted: SnippetRequest) -> Snippet | None:
        """Read the page, unless another process has just done so or is about to."""
        token = uuid4().hex
        try:
            is_ours, kept = await self._take_turn(wanted, token)
            if is_ours and not kept.is_settled:
                return await self._read_and_keep(wanted, kept)
            return kept.best
        finally:
            with suppress(CacheUnavailable):
                await self.lock.release(wanted.lock_name, token)

    async def _take_turn(self, wanted: SnippetRequest, token: str) -> tuple[bool, CachedPage]:
        """Whether the lock is ours, and what is kept of the page now.

        Comes back when the lock is free, when another process has settled the page, or when that
        one should have been done by now.
        """
        give_up = self.clock.monotonic() + _lock_ttl_s(wanted)
        while True:
            is_ours = await self._try_lock(wanted, token)
            # Even with the lock: its last holder may have read the page since we looked.
            [kept] = await self._shelf.look([wanted])
            if is_ours or kept.is_settled or self.clock.monotonic() >= give_up:
                return is_ours, kept
            await asyncio.sleep(POLL_S)

    async def _try_lock(self, wanted: SnippetRequest, token: str) -> bool:
        try:
            return await self.lock.acquire(wanted.lock_name, token, _lock_ttl_s(wanted))
        except CacheUnavailable:
            return True  # There is nothing to share, so nobody to wait for.

    async def _read_and_keep(self, wanted: SnippetRequest, kept: CachedPage) -> Snippet | None:
        """The page's snippet as it is now, or the last good one after a failure."""
        started = self.clock.monotonic()
        try:
            record = await self._read(wanted, known=kept.record)
        except FetchError as error:
            self._note("snippet.fetch_failed", wanted, started, reason=error.reason)
            await self._shelf.put_failure(wanted)
            return kept.stale
        self._note("snippet.fetched", wanted, started)
        await self._shelf.put(wanted, record)
        return wanted.snippet(record.text, record.fetched_at)

    async def _read(self, wanted: SnippetRequest, known: PageRecord | None) -> PageRecord:
        """A new record of the page, or *known* renewed; raises FetchError."""
        validators = known.validators if known else Validators()
        page = await self._fetch(wanted, validators)
        if isinstance(page, Page):
            text = await self._extract(wanted, page)
            return PageRecord(text, self.clock.now(), wanted.fingerprint, page.validators)
        if known is None:
            raise FetchError("unasked-304", f"{_host(wanted)} sent 304 to a first request.")
        if page.validators != Validators():
            validators = page.validators
        return PageRecord(known.text, self.clock.now(), wanted.fingerprint, validators)

    async def _fetch(self, wanted: SnippetRequest, validators: Validators) -> Page | NotModified:
        timeout_s = wanted.settings.fetch_timeout_s
        try:
            # The fetcher keeps its own deadline; this one is for the lock, which must outlast it.
            async with asyncio.timeout(timeout_s + LOCK_MARGIN_S / 2):
                return await self.fetcher.fetch(
                    wanted.source.url, timeout_s=timeout_s, validators=validators
                )
        except FetchError:
            raise
        except TimeoutError as error:
            raise FetchError("timeout", f"{_host(wanted)} took too long to answer.") from error
        except Exception as error:
            # A fault of the fetcher costs its page, as a fault of the page does.
            name = type(error).__name__
            raise FetchError(
                f"unexpected-{name}", f"{name} while fetching {_host(wanted)}."
            ) from error

    async def _extract(self, wanted: SnippetRequest, page: Page) -> str:
        """The text to quote; in a thread, which is left behind when markup takes too long."""
        host = _host(wanted)
        try:
            async with asyncio.timeout(EXTRACT_TIMEOUT_S):
                text = await asyncio.to_thread(
                    self.extract,
                    page.body,
                    charset=page.charset,
                    selector=wanted.source.selector,
                    max_words=wanted.settings.max_words,
                )
        except TimeoutError as error:
            raise FetchError(
                "slow-markup", f"The page on {host} takes too long to read."
            ) from error
        except Exception as error:
            raise FetchError("bad-markup", f"The page on {host} cannot be read.") from error
        if not text.strip():
            raise FetchError(
                "no-text", f"No paragraph was found on {host}; a selector may be needed."
            )
        return text

    def _note(self, event: str, wanted: SnippetRequest, started: float, **fields: str) -> None:
        elapsed_ms = round((self.clock.monotonic() - started) * 1000, 1)
        self.journal.note(event, host=_host(wanted), elapsed_ms=elapsed_ms, **fields)


def _host(wanted: SnippetRequest) -> str:
    """The host alone: a query string may hold something private."""
    return urlsplit(wanted.source.url).hostname or ""


def _lock_ttl_s(wanted: SnippetRequest) -> float:
    return wanted.settings.fetch_timeout_s + EXTRACT_TIMEOUT_S + LOCK_MARGIN_S
