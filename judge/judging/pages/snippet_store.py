"""Snippets, records and contents in the cache, as seen by those who retrieve and rank pages."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from judge.judging.pages.page_records import (
    PageContent,
    PageKey,
    PageRecord,
    SnippetRequest,
    find_content,
    find_record,
    format_content,
    format_record,
)
from judge.ports import Cache, Clock
from judge.types.references import Snippet

DROP_S = 1
"""A withdrawn page's snippet is overwritten by nothing, and that for a second."""


@dataclass(frozen=True, slots=True)
class CachedPage:
    """What is kept of a page: `best` are words to cite that are fresh, or the last good ones.

    `record` is there only if it was made with the present selector and word limit.
    """

    best: Snippet | None = None
    record: PageRecord | None = None
    has_just_failed: bool = False
    is_withdrawn: bool = False

    @property
    def is_settled(self) -> bool:
        """True when there is no need, or no use, to ask for the page now."""
        is_fresh = self.best is not None and not self.best.is_stale
        return is_fresh or self.has_just_failed or self.is_withdrawn


Values = tuple[str | None, ...]
"""What the cache has of a page: its fresh text, its record, and who failed to read it."""


@dataclass(frozen=True, slots=True)
class SnippetStore:
    """Looks up and stores what is kept of pages."""

    cache: Cache
    clock: Clock
    _fresh: dict[PageKey, tuple[SnippetRequest, Values, PageRecord, CachedPage]] = field(
        init=False, default_factory=dict
    )
    """The pages that were fresh when they were looked up last: mostly they are as they were."""

    async def look_up(self, requests: Sequence[SnippetRequest]) -> list[CachedPage]:
        """What is kept of each page, in one round trip."""
        keys = [key for one in requests for key in (one.snippet_key, one.page_key, one.failure_key)]
        values = iter(await self.cache.get_many(keys))
        now = self.clock.now()
        return [
            await self._cached(one, kept, now)
            for one, kept in zip(requests, zip(values, values, values))
        ]

    async def contents(self, requests: Sequence[SnippetRequest]) -> list[PageContent | None]:
        """What is kept of each page's content, in one round trip."""
        values = await self.cache.get_many([one.content_key for one in requests])
        # Megabytes at the start of a server, which may be answering already.
        return await asyncio.to_thread(lambda: [find_content(value) for value in values])

    async def put(
        self, request: SnippetRequest, record: PageRecord, content: PageContent | None
    ) -> None:
        """Keep *record*: as the fresh snippet, and with *content* for long as the last good one."""
        entries = {
            request.snippet_key: (record.text, DROP_S if record.is_withdrawn else request.ttl_s),
            request.page_key: (kept := format_record(record), request.stale_ttl_s),
            request.own_page_key: (kept, request.stale_ttl_s),
        }
        if content is not None:
            entries[request.content_key] = (format_content(content), request.stale_ttl_s)
        await self.cache.put_many(entries)

    async def renew(self, request: SnippetRequest, record: PageRecord) -> None:
        """Keep *record* of a page that has not changed, and the content that is kept of it."""
        [content] = await self.contents([request])
        await self.put(request, record, content)

    async def put_failure(self, request: SnippetRequest) -> None:
        """Remember for a while that the page cannot be read as in *request*."""
        await self.cache.put_many(
            {request.failure_key: (request.fingerprint, request.settings.failure_ttl_s)}
        )

    async def _cached(self, request: SnippetRequest, values: Values, now: datetime) -> CachedPage:
        last = self._fresh.get(request.key)
        if last and last[:2] == (request, values) and request.is_younger(last[2], now):
            return last[3]
        text, page, failure = values
        shared = record = find_record(page)
        has_just_failed = failure == request.fingerprint
        if record is None:
            foreign = await self._foreign(request, text) if text else None
            return CachedPage(foreign, has_just_failed=has_just_failed)
        if record.fingerprint != request.fingerprint:
            # Somebody reads pages another way, as during a rolling restart: each keeps its own, or
            # the two would read them in turns.
            [own] = await self.cache.get_many([request.own_page_key])
            record = find_record(own)
            if record is None:
                return CachedPage(has_just_failed=has_just_failed)
            text = text and record.text
        # A time to live that was shortened holds for what is stored already.
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
        found = CachedPage(snippet, record, has_just_failed)
        if is_fresh and record is shared:
            self._fresh[request.key] = (request, values, record, found)
        return found

    async def _foreign(self, request: SnippetRequest, text: str) -> Snippet:
        """A snippet that somebody else stored: its age follows from the time it has left."""
        left_s = await self.cache.seconds_left(request.snippet_key)
        age_s = request.ttl_s - min(left_s or 0.0, request.ttl_s)
        return request.snippet(text, self.clock.now() - timedelta(seconds=age_s))
