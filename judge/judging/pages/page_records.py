"""What is kept of a page: under which keys, for how long, and in which form."""

import functools
import hashlib
from dataclasses import dataclass
from datetime import date, datetime

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from judge.judging.pages.passages import PagePassage
from judge.types.references import RetrievalSettings, Snippet, SourceSpec, Validators

HOUR_S = 3600
DAY_S = 24 * HOUR_S

READ_TIMEOUT_S = 2.0
"""For the markup of a page: the slowest real one takes 0.05 s; hostile markup can take seconds."""

FETCH_MARGIN_S = 0.5
"""How much longer than its own deadline a fetch is waited for."""

LOCK_MARGIN_S = 0.5
"""How much longer than reading a page its lock lasts, so that it is not lost on the way."""

PageKey = tuple[str, str]
"""The domain and address that a page is configured with."""

READING_VERSION = 5
"""Raised when pages are read another way, so that they are read anew."""


@dataclass(frozen=True, slots=True)
class PageContent:
    """What a page says, for ranking: its own title, and its passages in order."""

    title: str
    passages: tuple[PagePassage, ...]


@dataclass(frozen=True, slots=True)
class PageRecord:
    """The last good lead of a page, when it was so, and how to ask whether it still is.

    `fingerprint` tells how the page was read, `address` where, `digest` what was read there. The
    text of a withdrawn page is empty.
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
    """The record in *text*; None when there is none, or none that we understand."""
    try:
        record = _RECORDS.validate_json(text or "")
    except ValidationError:
        return None
    return record if record.text or record.is_withdrawn else None


def format_content(content: PageContent) -> str:
    """*content* as JSON, for the cache."""
    return _CONTENTS.dump_json(content).decode()


def find_content(text: str | None) -> PageContent | None:
    """The content in *text*; None when there is none, or none that we understand."""
    try:
        return _CONTENTS.validate_json(text or "")
    except ValidationError:
        return None


@dataclass(frozen=True)  # without slots, so that its keys are put together once
class SnippetRequest:
    """A source to be quoted, for the domain it is configured for, under the present settings."""

    domain: str
    source: SourceSpec
    settings: RetrievalSettings

    @functools.cached_property
    def key(self) -> PageKey:
        """What tells the page from all others."""
        return self.domain, self.source.url

    @functools.cached_property
    def snippet_key(self) -> str:
        """Where the plain text lies that other tools read too."""
        return f"snippet:{self.domain}:{self.source.url}"

    @functools.cached_property
    def page_key(self) -> str:
        """Where the PageRecord lies, whoever read the page last; its lock is called so too."""
        return f"page:{self.domain}:{self.source.url}"

    @property
    def own_page_key(self) -> str:
        """Where the PageRecord lies that was made as we make it."""
        return f"page:{self._reading}:{self.domain}:{self.source.url}"

    @property
    def content_key(self) -> str:
        """Where the PageContent lies that was made as we make it."""
        return f"content:{self._reading}:{self.domain}:{self.source.url}"

    @functools.cached_property
    def failure_key(self) -> str:
        """Where it is noted that the page could not be read."""
        return f"failed:{self.domain}:{self.source.url}"

    @functools.cached_property
    def fingerprint(self) -> str:
        """What a text depends on besides the page; another one is not used in its place."""
        return f"{READING_VERSION}: {self.settings.max_words} words of {self.source.selector!r}"

    @property
    def _reading(self) -> str:
        """The fingerprint, short."""
        return hashlib.sha256(self.fingerprint.encode()).hexdigest()[:12]

    @functools.cached_property
    def ttl_s(self) -> int:
        """For how many seconds a text is fresh."""
        return round(self.settings.ttl_hours * HOUR_S)

    @property
    def stale_ttl_s(self) -> int:
        """For how many seconds the last good text is kept."""
        return max(round(self.settings.stale_days * DAY_S), self.ttl_s)

    def is_younger(self, record: PageRecord, now: datetime, share: float = 1.0) -> bool:
        """Whether *record* is younger at *now* than *share* of the time that a text is fresh.

        One that is as far in the future was made before somebody set the clock back.
        """
        return abs((now - record.fetched_at).total_seconds()) < self.ttl_s * share

    @property
    def reading_s(self) -> float:
        """For how many seconds the page may be read at most, fetches and all."""
        return self.settings.fetch_timeout_s + FETCH_MARGIN_S + READ_TIMEOUT_S

    @property
    def lock_ttl_s(self) -> float:
        """For how many seconds the lock of the page is taken."""
        return self.reading_s + LOCK_MARGIN_S

    def snippet(
        self,
        text: str,
        fetched_at: datetime,
        updated: date | None = None,
        *,
        is_stale: bool = False,
    ) -> Snippet:
        """*text* as something to cite."""
        source = self.source
        return Snippet(source.url, source.title, text, fetched_at, updated, is_stale=is_stale)
