"""Data types of what is cited, from the approved page to the numbered reference."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """An approved page of a domain, as configured."""

    url: str
    title: str
    topics: tuple[str, ...] = ()
    nations: tuple[str, ...] = ()
    selector: str = ""


@dataclass(frozen=True, slots=True)
class RetrievalSettings:
    """How pages are fetched and cut: the table `[retrieval]` of the sources file, with defaults."""

    ttl_hours: float = 24
    references: int = 8
    passages: int = 3
    passages_per_scope: int = 2
    max_words: int = 80
    fetch_timeout_s: float = 5.0
    failure_ttl_s: int = 60
    stale_days: int = 30
    contact: str = ""


Media = Literal["html", "page", "json"]
"""What is fetched: HTML, a page that may be a PDF too, or the reply of a publisher's API."""


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched page, or an API's reply: the raw body and what the HTTP headers say of it."""

    url: str
    body: bytes
    charset: str = ""
    content_type: str = "text/html"
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class Snippet:
    """The text of a page or passage that may be cited, and how old it is."""

    url: str
    title: str
    text: str
    fetched_at: datetime
    updated: date | None = None
    """The publisher's own date."""
    is_stale: bool = False
    kind: Literal["page", "passage"] = "page"


@dataclass(frozen=True, slots=True)
class CitablePassages:
    """The passages of a scope that may be cited, best first, and sentences for the reader."""

    snippets: tuple[Snippet, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """A snippet with its number in the prompt; *text* is what the model was shown."""

    number: int
    """What citations refer to, from 1."""
    kind: Literal["page", "passage"]
    """An approved page, or a passage of the indexed documents."""
    url: str
    """Where it is from."""
    title: str
    """Its title."""
    text: str
    """The exact text that the model was shown."""
    fetched_at: datetime
    """When it was fetched or changed, in UTC."""
    updated: date | None = None
    """The publisher's own date, null when there is none."""
    stale: bool = False
    """Whether the text is old because the page could not be fetched again."""
    cited: bool = False
    """Whether the answer cites it; false while there is no answer yet."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The short form of a reference that the first frontends read."""

    url: str
    """Where it is from."""
    text: str
    """The reference's text."""
