"""What the cache stores of a page: keys, TTLs and format; looks them up and stores them."""

import asyncio
import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from judge.library.extract.page_passages import PagePassage
from judge.library.extract.page_status import RegionNames
from judge.ports import Cache, Clock
from judge.text.english import strip_invisible
from judge.types.references import RetrievalSettings, Snippet, SourceSpec, Validators

HOUR_S = 3600
DAY_S = 24 * HOUR_S

PARSE_TIMEOUT_S = 2.0
"""Timeout for parsing: the slowest real page takes 0.05 s; hostile markup can take seconds."""

FETCH_MARGIN_S = 0.5
"""How long a fetch may exceed its own timeout before it is cancelled."""

LOCK_MARGIN_S = 0.5
"""How much longer than reading a page its lock lasts, so that it does not expire meanwhile."""

PageKey = tuple[str, str]
"""The domain and URL that a page is configured with."""

READING_VERSION = 6
"""Raise this when pages are parsed differently, so that cached ones are read again."""


@dataclass(frozen=True, slots=True)
class PageContent:
    """The text of a page, for ranking: its own title, and its passages in order."""

    title: str
    passages: tuple[PagePassage, ...]


@dataclass(frozen=True, slots=True)
class PageRecord:
    """The last good lead of a page, when it was fetched, and the validators to revalidate it.

    `fingerprint` identifies how the page was read, `address` is the URL it was read from, `digest`
    identifies its content. The text of a withdrawn page is empty.
    """

    text: str
    fetched_at: AwareDatetime
    fingerprint: str
    validators: Validators
    address: str = ""
    updated: date | None = None
    nations: tuple[str, ...] = ()
    is_withdrawn: bool = False
    digest: str = ""


_RECORDS = TypeAdapter(PageRecord)
_CONTENTS = TypeAdapter(PageContent)


def format_record(record: PageRecord) -> str:
    """*record* as JSON, for the cache."""
    return _RECORDS.dump_json(record).decode()


def find_record(text: str | None) -> PageRecord | None:
    """The record in *text*; None if it is absent or cannot be decoded."""
    try:
        record = _RECORDS.validate_json(text or "")
    except ValidationError:
        return None
    return record if record.text or record.is_withdrawn else None


def format_content(content: PageContent) -> str:
    """*content* as JSON, for the cache."""
    return _CONTENTS.dump_json(content).decode()


def find_content(text: str | None) -> PageContent | None:
    """The content in *text*; None if it is absent or cannot be decoded."""
    try:
        return _CONTENTS.validate_json(text or "")
    except ValidationError:
        return None


@dataclass(frozen=True)  # without slots, so that its keys can be cached properties
class SnippetRequest:
    """A source to quote, with the domain it is configured for and the current settings."""

    domain: str
    source: SourceSpec
    settings: RetrievalSettings
    region_names: RegionNames = ()
    """The regions that the page may say it applies to."""

    @functools.cached_property
    def key(self) -> PageKey:
        """Identifies the page."""
        return self.domain, self.source.url

    @functools.cached_property
    def snippet_key(self) -> str:
        """Cache key of the plain text, which other tools read too."""
        return f"snippet:{self.domain}:{self.source.url}"

    @functools.cached_property
    def page_key(self) -> str:
        """Cache key of the PageRecord that any version of Judge wrote last; also names its lock."""
        return f"page:{self.domain}:{self.source.url}"

    @property
    def own_page_key(self) -> str:
        """Cache key of the PageRecord made with our fingerprint."""
        return f"page:{self._fingerprint_hash}:{self.domain}:{self.source.url}"

    @property
    def content_key(self) -> str:
        """Cache key of the PageContent made with our fingerprint."""
        return f"content:{self._fingerprint_hash}:{self.domain}:{self.source.url}"

    @functools.cached_property
    def failure_key(self) -> str:
        """Cache key of the mark that reading the page failed."""
        return f"failed:{self.domain}:{self.source.url}"

    @functools.cached_property
    def fingerprint(self) -> str:
        """All that a text depends on besides the page; those of other fingerprints are not used."""
        return f"{READING_VERSION}: {self.settings.max_words} words of {self.source.selector!r}"

    @property
    def _fingerprint_hash(self) -> str:
        """A short hash of the fingerprint."""
        return hashlib.sha256(self.fingerprint.encode()).hexdigest()[:12]

    @functools.cached_property
    def ttl_s(self) -> int:
        """How many seconds a text stays fresh."""
        return round(self.settings.ttl_hours * HOUR_S)

    @property
    def stale_ttl_s(self) -> int:
        """How many seconds the last good text is kept."""
        return max(round(self.settings.stale_days * DAY_S), self.ttl_s)

    def is_younger(self, record: PageRecord, now: datetime, share: float = 1.0) -> bool:
        """Whether the age of *record* at *now* is less than *share* of the TTL.

        A record from the future, left when a clock is set back, expires by the same limit.
        """
        return abs((now - record.fetched_at).total_seconds()) < self.ttl_s * share

    @property
    def reading_s(self) -> float:
        """Timeout in seconds for reading the page: fetching and parsing."""
        return self.settings.fetch_timeout_s + FETCH_MARGIN_S + PARSE_TIMEOUT_S

    @property
    def lock_ttl_s(self) -> float:
        """TTL in seconds of the page's lock."""
        return self.reading_s + LOCK_MARGIN_S

    def snippet(
        self,
        text: str,
        fetched_at: datetime,
        updated: date | None = None,
        *,
        is_stale: bool = False,
    ) -> Snippet:
        """*text* as a snippet to cite."""
        source = self.source
        return Snippet(source.url, source.title, text, fetched_at, updated, is_stale=is_stale)


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
        if text and not strip_invisible(text).strip():
            text = None  # nothing that could be quoted
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
