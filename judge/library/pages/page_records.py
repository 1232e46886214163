"""What the cache stores of a page: keys, TTLs and format; looks them up and stores them."""

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal, get_args

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from judge.library.extract.page_passages import PagePassage
from judge.library.extract.page_status import RegionNames
from judge.ports import Cache, Clock
from judge.text.english import strip_invisible
from judge.types.references import RetrievalSettings, Snippet, SourceSpec

HOUR_S = 3600
DAY_S = 24 * HOUR_S

PARSE_TIMEOUT_S = 2.0
"""Timeout for parsing: the slowest real page takes 0.05 s; hostile markup can take seconds."""

PDF_TIMEOUT_S = 15.0
"""Timeout for reading a PDF in a process of its own, which gives up ten seconds before."""

_Kind = Literal["snippet", "page", "record", "failed"]

PageKey = tuple[str, str]
"""The domain and URL that a page is configured with."""

READING_VERSION = 12
"""Raise this when pages are parsed differently, so that cached ones are read again."""


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A page as last read, without text if withdrawn; `digest` identifies what it says."""

    text: str
    fetched_at: AwareDatetime
    title: str = ""
    passages: tuple[PagePassage, ...] = ()
    updated: date | None = None
    nations: tuple[str, ...] = ()
    is_withdrawn: bool = False
    digest: str = ""


_RECORDS = TypeAdapter(PageRecord)


@functools.lru_cache(maxsize=1024)
def _decode(text: str) -> PageRecord | None:
    """The record in *text* from the cache; None if it cannot be decoded."""
    try:
        return _RECORDS.validate_json(text)
    except ValidationError:
        return None


@dataclass(frozen=True, slots=True)
class SnippetRequest:
    """A source to quote, with the domain it is configured for and the current settings."""

    domain: str
    source: SourceSpec
    settings: RetrievalSettings
    region_names: RegionNames = ()
    """The regions that the page may say it applies to."""

    @property
    def key(self) -> PageKey:
        """Identifies the page."""
        return self.domain, self.source.url

    def cache_key(self, kind: _Kind) -> str:
        """The key of the plain text, which other tools read too, or of another entry of the page.

        `page` has the fingerprint of the snippet and names the lock, `record` the PageRecord, and
        `failed` the mark of a failure; the last two are of our fingerprint alone.
        """
        # While two versions run, as in a rolling restart, each uses what it has read itself.
        own = hashlib.sha256(self.fingerprint.encode()).hexdigest()[:12]
        place = f"{own}:{self.domain}" if kind in {"record", "failed"} else self.domain
        return f"{kind}:{place}:{self.source.url}"

    @property
    def fingerprint(self) -> str:
        """All that a text depends on besides the page; those of other fingerprints are not used."""
        return f"{READING_VERSION}: {self.settings.max_words} words of {self.source.selector!r}"

    @property
    def ttl_s(self) -> int:
        """How many seconds a text stays fresh."""
        return round(self.settings.ttl_hours * HOUR_S)

    @property
    def lock_ttl_s(self) -> float:
        """TTL in seconds of the page's lock, which outlasts fetching and parsing by a second."""
        return self.settings.fetch_timeout_s + PDF_TIMEOUT_S + 1

    def is_younger(self, record: PageRecord, now: datetime, share: float = 1.0) -> bool:
        """Whether the age of *record*, were it from the future, is less than *share* of the TTL."""
        return abs((now - record.fetched_at).total_seconds()) < self.ttl_s * share

    def snippet(self, record: PageRecord, text: str = "", *, is_stale: bool = False) -> Snippet:
        """The text of *record*, or *text* instead, as a snippet to cite."""
        return Snippet(
            url=self.source.url,
            title=self.source.title,
            text=text or record.text,
            fetched_at=record.fetched_at,
            updated=record.updated,
            is_stale=is_stale,
        )


@dataclass(frozen=True, slots=True)
class CachedPage:
    """The fresh text or last good one; `record` is None unless made with the current settings."""

    snippet: Snippet | None = None
    record: PageRecord | None = None
    has_just_failed: bool = False
    is_withdrawn: bool = False

    @property
    def needs_fetch(self) -> bool:
        """Whether fetching the page now is necessary and may help."""
        is_fresh = self.snippet is not None and not self.snippet.is_stale
        return not (is_fresh or self.has_just_failed or self.is_withdrawn)


@dataclass(frozen=True, slots=True)
class SnippetStore:
    """Looks up and stores the cache entries of pages."""

    cache: Cache
    clock: Clock

    async def look_up(self, requests: Sequence[SnippetRequest]) -> list[CachedPage]:
        """The cached state of each page, in one round trip."""
        keys = [request.cache_key(kind) for request in requests for kind in get_args(_Kind)]
        values = iter(await self.cache.get_many(keys))
        entries = zip(requests, values, values, values, values)
        return [await self._cached(*entry) for entry in entries]

    async def put(self, request: SnippetRequest, record: PageRecord) -> None:
        """Store *record* as the fresh snippet, empty if withdrawn, and as the last good one."""
        kept_s = max(request.settings.stale_days * DAY_S, request.ttl_s)
        fresh_s = 1 if record.is_withdrawn else request.ttl_s
        stored = _RECORDS.dump_json(record).decode()
        await self.cache.put_many(
            {
                request.cache_key("snippet"): (record.text, fresh_s),
                request.cache_key("page"): (request.fingerprint, kept_s),
                request.cache_key("record"): (stored, kept_s),
            }
        )

    async def put_failure(self, request: SnippetRequest) -> None:
        """Remember for `failure_ttl_s` that reading the page as in *request* failed."""
        ttl_s = request.settings.failure_ttl_s
        await self.cache.put_many({request.cache_key("failed"): ("1", ttl_s)})

    async def _cached(self, request: SnippetRequest, *values: str | None) -> CachedPage:
        """The state of a page in the *values* of its keys, in the order of `_Kind`."""
        text, maker, stored, failure = values
        has_just_failed = bool(failure)
        if text and not strip_invisible(text).strip():
            text = None  # nothing that could be quoted
        record = _decode(stored or "")
        if record is None:
            is_foreign = text and maker is None
            snippet = await self._foreign_snippet(request, text or "") if is_foreign else None
            return CachedPage(snippet, has_just_failed=has_just_failed)
        # A TTL that was shortened applies to entries stored before, too.
        is_fresh = request.is_younger(record, self.clock.now())
        if record.is_withdrawn:
            return CachedPage(None, record, has_just_failed, is_withdrawn=is_fresh)
        # Whoever corrects the text in the cache is obeyed while it is fresh.
        is_fresh = is_fresh and bool(text)
        is_ours = is_fresh and maker == request.fingerprint
        snippet = request.snippet(record, (is_ours and text) or "", is_stale=not is_fresh)
        return CachedPage(snippet, record, has_just_failed)

    async def _foreign_snippet(self, request: SnippetRequest, text: str) -> Snippet:
        """A snippet that another program stored; its age follows from its TTL."""
        left_s = await self.cache.seconds_left(request.cache_key("snippet"))
        age = timedelta(seconds=request.ttl_s - min(left_s or 0.0, request.ttl_s))
        return request.snippet(PageRecord(text, self.clock.now() - age))
