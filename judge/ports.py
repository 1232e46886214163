"""The ports: everything the core needs from outside, on one page, with the errors that it raises.

A port with several adapters, or with one for a real server, has a suite in `tests/contract/`.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from judge.errors import UnreadableDocument
from judge.types.references import Media, Page
from judge.types.replies import ModelReply, Prompt
from judge.types.search import (
    CollectionStats,
    DocumentWithPassages,
    FileScan,
    IndexedDocument,
    Passage,
    PdfText,
    Scope,
    SearchQuery,
    SearchResults,
)
from judge.types.setting_values import Allowance

NameKind = Literal["document", "folder", "tag"]
"""The kinds of names in a scope, apart from collections."""

OnText = Callable[[str], None]
"""Receives all of a reply written so far, each time it grows, or after it started over."""


def ignore_text(_: str) -> None:
    """For callers who wait for the whole reply."""


class Clock(Protocol):
    """The source of time, so that tests and golden cases can fix it."""

    def now(self) -> datetime:
        """The current time as an aware datetime in UTC."""

    def monotonic(self) -> float:
        """Seconds that never decrease, for measuring durations."""


class LanguageModel(Protocol):
    """Answers a prompt with one JSON text."""

    @property
    def name(self) -> str:
        """The name of the model, as shown in the result."""

    @property
    def gives_verdicts(self) -> bool:
        """False for a model that only quotes: its verdicts are null and its reply degraded."""

    async def complete(
        self,
        prompt: Prompt,
        *,
        timeout_s: float,
        doubles_limit: bool,
        on_text: OnText = ignore_text,
    ) -> ModelReply:
        """One reply, within *timeout_s* seconds; *doubles_limit* asks for twice the usual length.

        A model that streams calls *on_text*, which must return at once, until this has returned or
        raised. An empty or truncated reply is no error: its `finish` says so. Raises
        ModelUnavailable, TimeoutError, and ContentBlocked when a safety filter refuses.
        """


class PageFetcher(Protocol):
    """Fetches a page from the web, safely."""

    async def fetch(self, url: str, *, timeout_s: float, media: Media = "html") -> Page:
        """The page at *url*; raises FetchError, also for another type of content than *media*."""


class Cache(Protocol):
    """Texts under keys, each with a time to live; may be shared between processes.

    The core's never raises, since a cache inside the process stands in for a shared one.
    """

    async def get_many(self, keys: Sequence[str]) -> list[str | None]:
        """The values in the order of *keys*, None for an absent one, in one round trip."""

    async def put_many(self, entries: Mapping[str, tuple[str, int]]) -> None:
        """Store each value with its TTL in seconds, in one round trip."""

    async def seconds_left(self, key: str) -> float | None:
        """The remaining TTL of *key*, None if absent."""


class Lock(Protocol):
    """Mutual exclusion between processes by name; every lock expires."""

    async def acquire(self, name: str, token: str, ttl_s: float) -> bool:
        """Whether *token* now holds the lock *name* for *ttl_s* seconds, perhaps once more."""

    async def release(self, name: str, token: str) -> None:
        """Release *name* if *token* still holds it."""


class RateLimiter(Protocol):
    """Counts the requests of each caller; may be shared between processes."""

    async def take(self, caller: str) -> Allowance:
        """Atomically count one request of *caller* and decide on it; raises CacheUnavailable."""


class TokenCounter(Protocol):
    """Counts the tokens of the day in UTC; what cannot be shared now is shared later."""

    async def add(self, tokens: int) -> int:
        """Add *tokens*, 0 or more; returns the tokens spent since midnight, including these."""


class Journal(Protocol):
    """Records events in logs and metrics. Fields never contain words of a dispute."""

    def note(self, event: str, **fields: str | float | bool) -> None:
        """Record an event by its stable name, such as `snippet.fetch_failed`, with its fields."""


class SearchIndex(Protocol):
    """Finds passages; the scope filters before ranking."""

    async def search(
        self, query: SearchQuery, scope: Scope, *, limit: int, offset: int = 0
    ) -> SearchResults:
        """The relevant passages from *offset* on, best first; raises IndexUnavailable."""


class Catalogue(Protocol):
    """Lists the contents of an index. Every method raises IndexUnavailable."""

    async def collections(self) -> tuple[CollectionStats, ...]:
        """All collections by name."""

    async def documents(self, collection: str) -> tuple[IndexedDocument, ...]:
        """All documents of *collection* (case ignored) by path, none when it is unknown."""

    async def names(self, kind: NameKind, scope: Scope = ...) -> tuple[str, ...]:
        """The names of *kind* in *scope*, folded and sorted, with the ancestors of folders."""

    async def contains(self, scope: Scope) -> bool:
        """Whether any passage is in *scope*."""

    async def window(
        self, passage_id: str, *, before: int = 0, after: int = 0
    ) -> tuple[Passage, ...]:
        """A passage with its neighbours, in order; empty if no passage has that id."""


class IndexWriter(Protocol):
    """Changes an index, all or nothing until `commit`. Every method raises IndexUnavailable."""

    async def replace(self, documents: Sequence[DocumentWithPassages]) -> None:
        """Add *documents*, replacing those with the same collection and id (case ignored)."""

    async def remove(self, collection: str, document_ids: Sequence[str] | None = None) -> None:
        """Remove documents, or all of *collection* without ids; unknown ones are no error."""

    async def commit(self) -> None:
        """Make all changes so far durable and visible to readers."""


class WritableIndex(Protocol):
    """Provides the one writer that an index may have at a time."""

    def writing(self) -> AbstractAsyncContextManager[IndexWriter]:
        """The writer, for the length of the block; raises IndexLocked after a little while."""


class DocumentFiles(Protocol):
    """The files that documents are read from."""

    def scan(self, paths: Sequence[str], globs: Sequence[str]) -> FileScan:
        """The files below *paths* that match a glob, or all; raises InvalidRequest."""

    def read(self, location: str, *, max_bytes: int) -> bytes:
        """The bytes of the regular file at *location*; raises UnreadableDocument."""

    def exists(self, path: str) -> bool:
        """Whether anything is at *path*."""


PdfReader = Callable[[bytes], PdfText]
"""Reads a PDF document; raises UnreadableDocument."""


DocumentConverter = Callable[[bytes, str], bytes]
"""Converts a document of a format such as `docx` to HTML; raises UnreadableDocument."""


def not_converted(_content: bytes, kind: str) -> bytes:
    """A DocumentConverter that converts nothing."""
    raise UnreadableDocument(
        f"Files of the kind {kind} are read only where pandoc is installed. Install it, or save "
        "the file as Markdown, HTML or PDF and add that."
    )


class VectorStorage(Protocol):
    """Stores a vector for every passage, beside the embedded index."""

    @property
    def name(self) -> str:
        """The `Embedder.name` of the vectors."""

    async def missing(self) -> int:
        """How many passages have no vector; raises IndexUnavailable."""

    async def complete(self, advance: Callable[[int], None]) -> None:
        """Make the missing vectors in batches that are kept; *advance* gets the size of each.

        Raises EmbedderUnavailable and IndexUnavailable.
        """


@dataclass(frozen=True, slots=True)
class SearchEngine:
    """The ports of one index."""

    index: SearchIndex
    catalogue: Catalogue
    store: WritableIndex
    vectors: VectorStorage | None = None
    """Vectors beside the embedded index, if there are any."""


class Entailment(Protocol):
    """Tells how far a text says what a sentence says."""

    async def entailed(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The probability, 0 to 1, for each text and sentence; raises ModelUnavailable."""


class Embedder(Protocol):
    """Turns texts into vectors; the more similar their meaning, the nearer the vectors."""

    name: str
    """The model and its number of dimensions; vectors of another name are not comparable."""
    min_similarity: float
    """The cosine similarity below which a passage is not about the question."""

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text, in order; raises EmbedderUnavailable."""

    async def embed_query(self, text: str) -> list[float]:
        """The vector of a query; raises EmbedderUnavailable."""
