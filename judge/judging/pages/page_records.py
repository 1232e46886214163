"""What is kept of a page: under which keys, for how long, and in which form."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import AwareDatetime, StringConstraints, TypeAdapter, ValidationError

from judge.types.judgements import RetrievalSettings, Snippet, SourceSpec, Validators

HOUR_S = 3600
DAY_S = 24 * HOUR_S


@dataclass(frozen=True, slots=True)
class PageRecord:
    """The last good text of a page, when it was so, and how to ask whether it still is.

    `fingerprint` tells with which selector and word limit the text was made.
    """

    text: Annotated[str, StringConstraints(min_length=1)]
    fetched_at: AwareDatetime
    fingerprint: str
    validators: Validators


_RECORDS = TypeAdapter(PageRecord)


def format_record(record: PageRecord) -> str:
    """*record* as JSON, for the cache."""
    return _RECORDS.dump_json(record).decode()


def find_record(text: str | None) -> PageRecord | None:
    """The record in *text*; None when there is none, or none that we understand."""
    if text is None:
        return None
    try:
        return _RECORDS.validate_json(text)
    except ValidationError:
        return None


@dataclass(frozen=True, slots=True)
class SnippetRequest:
    """A source that a request wants to quote, for a domain and under the present settings."""

    domain: str
    source: SourceSpec
    settings: RetrievalSettings

    @property
    def snippet_key(self) -> str:
        """Where the plain text lies that other tools read too."""
        return f"snippet:{self.domain}:{self.source.url}"

    @property
    def page_key(self) -> str:
        """Where the PageRecord lies."""
        return f"page:{self.domain}:{self.source.url}"

    @property
    def failure_key(self) -> str:
        """Where it is noted that the page could not be read."""
        return f"failed:{self.domain}:{self.source.url}"

    @property
    def lock_name(self) -> str:
        """Under which only one process reads the page."""
        return f"page:{self.domain}:{self.source.url}"

    @property
    def fingerprint(self) -> str:
        """What a text depends on besides the page; another one is not used in its place."""
        return f"{self.settings.max_words} words of {self.source.selector!r}"

    @property
    def ttl_s(self) -> int:
        """For how many seconds a text is fresh."""
        return round(self.settings.ttl_hours * HOUR_S)

    @property
    def stale_ttl_s(self) -> int:
        """For how many seconds the last good text is kept."""
        return max(round(self.settings.stale_days * DAY_S), self.ttl_s)

    def snippet(self, text: str, fetched_at: datetime, *, is_stale: bool = False) -> Snippet:
        """*text* as something to cite."""
        return Snippet(self.source.url, self.source.title, text, fetched_at, is_stale=is_stale)
