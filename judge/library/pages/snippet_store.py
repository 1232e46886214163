"""Reads and writes what the cache holds of pages: snippets, records and contents."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from judge.library.pages.page_records import (
    PageContent,
    PageRecord,
    SnippetRequest,
    find_content,
    find_record,
    format_content,
    format_record,
)
from judge.ports import Cache, Clock
from judge.types.references import Snippet

WITHDRAWN_TTL_S = 1
"""TTL of the empty text that overwrites the snippet of a withdrawn page."""


@dataclass(frozen=True, slots=True)
class CachedPage:
    """A page as cached: `snippet` is the fresh text to cite, or else the last good one.

    `record` is None unless it was made with the current selector and word limit.
    """

    snippet: Snippet | None = None
    record: PageRecord | None = None
    has_just_failed: bool = False
    is_withdrawn: bool = False

    @property
    def needs_fetch(self) -> bool:
        """Whether fetching the page now is necessary and may help."""
        is_fresh = self.snippet is not None and not self.snippet.is_stale
        return not (is_fresh or self.has_just_failed or self.is_withdrawn)


Entries = tuple[str | None, ...]
"""A page's raw cache entries: fresh text, record, and the fingerprint of a failed read."""


@dataclass(frozen=True, slots=True)
class SnippetStore:
    """Looks up and stores the cache entries of pages."""

    cache: Cache
    clock: Clock

    async def look_up(self, requests: Sequence[SnippetRequest]) -> list[CachedPage]:
        """The cached state of each page, in one round trip."""
        keys = [key for r in requests for key in (r.snippet_key, r.page_key, r.failure_key)]
        values = iter(await self.cache.get_many(keys))
        now = self.clock.now()
        return [
            await self._cached(request, entries, now)
            for request, entries in zip(requests, zip(values, values, values))
        ]

    async def contents(self, requests: Sequence[SnippetRequest]) -> list[PageContent | None]:
        """The cached content of each page, in one round trip."""
        values = await self.cache.get_many([request.content_key for request in requests])
        # In a thread: at start this is megabytes, and the server may be answering already.
        return await asyncio.to_thread(lambda: [find_content(value) for value in values])

    async def put(
        self, request: SnippetRequest, record: PageRecord, content: PageContent | None
    ) -> None:
        """Store *record* as the fresh snippet and, for longer, with *content* as the last good."""
        ttl_s = WITHDRAWN_TTL_S if record.is_withdrawn else request.ttl_s
        entries = {
            request.snippet_key: (record.text, ttl_s),
            request.page_key: (stored := format_record(record), request.stale_ttl_s),
            request.own_page_key: (stored, request.stale_ttl_s),
        }
        if content is not None:
            entries[request.content_key] = (format_content(content), request.stale_ttl_s)
        await self.cache.put_many(entries)

    async def renew(self, request: SnippetRequest, record: PageRecord) -> None:
        """Store *record* of a page that has not changed, and extend the TTL of its content."""
        [content] = await self.contents([request])
        await self.put(request, record, content)

    async def put_failure(self, request: SnippetRequest) -> None:
        """Remember for `failure_ttl_s` that reading the page as in *request* failed."""
        await self.cache.put_many(
            {request.failure_key: (request.fingerprint, request.settings.failure_ttl_s)}
        )

    async def _cached(self, request: SnippetRequest, values: Entries, now: datetime) -> CachedPage:
        text, page, failure = values
        record = find_record(page)
        has_just_failed = failure == request.fingerprint
        if record is None:
            foreign = await self._foreign_snippet(request, text) if text else None
            return CachedPage(foreign, has_just_failed=has_just_failed)
        if record.fingerprint != request.fingerprint:
            # Another version reads pages differently, as during a rolling restart: each uses its
            # own record, or the two would overwrite each other's in turns.
            [own] = await self.cache.get_many([request.own_page_key])
            record = find_record(own)
            if record is None:
                return CachedPage(has_just_failed=has_just_failed)
            text = text and record.text
        # A TTL that was shortened applies to entries stored before, too.
        is_fresh = request.is_younger(record, now)
        if record.is_withdrawn:
            return CachedPage(record=record, has_just_failed=has_just_failed, is_withdrawn=is_fresh)
        is_fresh = is_fresh and bool(text)
        snippet = request.snippet(
            (is_fresh and text) or record.text,
            record.fetched_at,
            record.updated,
            is_stale=not is_fresh,
        )
        return CachedPage(snippet, record, has_just_failed)

    async def _foreign_snippet(self, request: SnippetRequest, text: str) -> Snippet:
        """A snippet without a record, stored by another program; its age follows from its TTL."""
        left_s = await self.cache.seconds_left(request.snippet_key)
        age_s = request.ttl_s - min(left_s or 0.0, request.ttl_s)
        return request.snippet(text, self.clock.now() - timedelta(seconds=age_s))
