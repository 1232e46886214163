"""Snippets and records in the cache, as seen by the retriever.

A cache that cannot be reached counts as empty: a judgement never fails because of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from judge.errors import CacheUnavailable
from judge.judging.pages.page_records import PageRecord, SnippetRequest, find_record, format_record
from judge.ports import Cache, Clock, Journal
from judge.types.judgements import Snippet


@dataclass(frozen=True, slots=True)
class CachedPage:
    """What is known of a page without asking for it.

    `record` is there only if it was made with the present selector and word limit.
    """

    fresh: Snippet | None = None
    stale: Snippet | None = None
    record: PageRecord | None = None
    has_just_failed: bool = False

    @property
    def is_settled(self) -> bool:
        """True when there is no need, or no use, to ask for the page now."""
        return self.fresh is not None or self.has_just_failed

    @property
    def best(self) -> Snippet | None:
        """What can be cited without asking for the page."""
        return self.fresh or self.stale


@dataclass(frozen=True, slots=True)
class SnippetStore:
    """Looks up and stores what is kept of pages."""

    cache: Cache
    clock: Clock
    journal: Journal

    async def look(self, wanted: Sequence[SnippetRequest]) -> list[CachedPage]:
        """What is kept of each page, in one round trip."""
        keys = [key for one in wanted for key in (one.snippet_key, one.page_key, one.failure_key)]
        try:
            values = await self.cache.get_many(keys)
            return [
                await self._kept(one, *values[3 * place : 3 * place + 3])
                for place, one in enumerate(wanted)
            ]
        except CacheUnavailable as error:
            self._note(error)
            return [CachedPage() for _ in wanted]

    async def put(self, wanted: SnippetRequest, record: PageRecord) -> None:
        """Keep *record*: as the fresh snippet, and for long as the last good text."""
        await self._put(
            {
                wanted.snippet_key: (record.text, wanted.ttl_s),
                wanted.page_key: (format_record(record), wanted.stale_ttl_s),
            }
        )

    async def put_failure(self, wanted: SnippetRequest) -> None:
        """Remember for a while that the page cannot be read as *wanted*."""
        await self._put({wanted.failure_key: (wanted.fingerprint, wanted.settings.failure_ttl_s)})

    async def _kept(
        self, wanted: SnippetRequest, text: str | None, page: str | None, failure: str | None
    ) -> CachedPage:
        record = find_record(page)
        has_just_failed = failure == wanted.fingerprint
        if record is None:
            fresh = await self._foreign(wanted, text) if text else None
            return CachedPage(fresh=fresh, has_just_failed=has_just_failed)
        if record.fingerprint != wanted.fingerprint:
            return CachedPage(has_just_failed=has_just_failed)
        # A time to live that was shortened holds for what is stored already.
        is_fresh = self.clock.now() - record.fetched_at < timedelta(seconds=wanted.ttl_s)
        return CachedPage(
            fresh=wanted.snippet(text, record.fetched_at) if text and is_fresh else None,
            stale=wanted.snippet(record.text, record.fetched_at, is_stale=True),
            record=record,
            has_just_failed=has_just_failed,
        )

    async def _foreign(self, wanted: SnippetRequest, text: str) -> Snippet:
        """A snippet that somebody else stored: its age follows from the time it has left."""
        left_s = await self.cache.seconds_left(wanted.snippet_key)
        age_s = wanted.ttl_s - min(left_s or 0.0, wanted.ttl_s)
        return wanted.snippet(text, self.clock.now() - timedelta(seconds=age_s))

    async def _put(self, entries: dict[str, tuple[str, int]]) -> None:
        try:
            await self.cache.put_many(entries)
        except CacheUnavailable as error:
            self._note(error)

    def _note(self, error: CacheUnavailable) -> None:
        self.journal.note("cache.unavailable", reason=str(error))
