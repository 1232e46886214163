"""What the cache stores of a page: the keys, the TTLs and the format."""

import functools
import hashlib
from dataclasses import dataclass
from datetime import date, datetime

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from judge.library.extract.page_passages import PagePassage
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

READING_VERSION = 5
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
