"""All that the core needs from outside, on one page.

Each port is a Protocol with few methods, and its docstring promises the errors too. One that has
several adapters, or one against a real server, has a contract suite in `tests/contract/`.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from judge.types.limits import Allowance
from judge.types.references import CitablePassages, Media, NotModified, Page, Validators
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

NameKind = Literal["document", "folder", "tag"]
"""What a scope names, apart from collections."""

OnText = Callable[[str], None]
"""Gets a reply as far as it was written, whole each time; shorter again when it began anew."""


def ignore_text(_: str) -> None:
    """For callers who wait for the whole reply."""


class Clock(Protocol):
    """Where the time comes from, so that tests and golden cases can fix it."""

    def now(self) -> datetime:
        """The present moment, in UTC and aware of it."""

    def monotonic(self) -> float:
        """Seconds that never run backwards, for measuring."""


class LanguageModel(Protocol):
    """Something that answers a prompt with one JSON text."""

    @property
    def name(self) -> str:
        """What answers, as shown in the result."""

    @property
    def gives_verdicts(self) -> bool:
        """False for a model that only quotes: its verdicts are null and its reply degraded."""

    async def complete(
        self,
        prompt: Prompt,
        *,
        timeout_s: float,
        has_more_room: bool,
        on_text: OnText = ignore_text,
    ) -> ModelReply:
        """One reply, within *timeout_s* seconds of wall time, a transport retry included.

        *has_more_room* asks for twice the usual output limit, after a truncated reply.
        *on_text* is called with the reply as it grows by a model that can show it, never after
        this has returned or raised; it must return at once.

        Raises ModelUnavailable when no reply can be had, TimeoutError when the time runs out
        and ContentBlocked when a safety filter refuses. A reply that is empty or cut short is
        no error here: its `finish` says so.
        """


class PageFetcher(Protocol):
    """Gets a page from the web, safely."""

    async def fetch(
        self,
        url: str,
        *,
        timeout_s: float,
        validators: Validators = ...,
        media: Media = "html",
    ) -> Page | NotModified:
        """The page, or NotModified when *validators* still hold; raises FetchError.

        *media* is what is expected; an answer of another type is a FetchError.
        """


class Cache(Protocol):
    """Texts under keys, each with a time to live; may be shared between processes.

    One that is shared raises CacheUnavailable when it does not answer. The core is given one that
    never does, since a cache inside the process stands in (`adapters/redis/failover.py`).
    """

    async def get_many(self, keys: Sequence[str]) -> list[str | None]:
        """The values in the order of *keys*, None where absent, in one round trip."""

    async def put_many(self, entries: Mapping[str, tuple[str, int]]) -> None:
        """Store each (value, seconds to live), in one round trip."""

    async def seconds_left(self, key: str) -> float | None:
        """How long *key* has to live, None where absent."""


class Lock(Protocol):
    """Mutual exclusion between processes, by name, that can be neither lost nor held for ever.

    It fails as the cache does.
    """

    async def acquire(self, name: str, token: str, ttl_s: float) -> bool:
        """True if *token* now holds *name* until *ttl_s* is over.

        Called again by its holder it extends the time.
        """

    async def release(self, name: str, token: str) -> None:
        """Give *name* back if *token* still holds it."""


class RateLimiter(Protocol):
    """Counts the requests of each caller; may be shared between processes."""

    async def take(self, caller: str) -> Allowance:
        """Count one request of *caller*, in one step with its answer; raises CacheUnavailable."""


class TokenBudget(Protocol):
    """Counts the tokens of the day in UTC; may be shared between processes.

    It never raises: what cannot be shared now is counted here, and shared later.
    """

    async def spend(self, tokens: int) -> int:
        """Add *tokens*, which is 0 or more; the tokens spent since midnight with them."""


class Journal(Protocol):
    """Where events go: logs and metrics. Fields never carry words of a dispute."""

    def note(self, event: str, **fields: str | float | bool) -> None:
        """Record a stable event name such as `snippet.fetch_failed` with its fields."""


class SearchIndex(Protocol):
    """Finds passages; the scope filters before anything is ranked."""

    async def search(
        self, query: SearchQuery, scope: Scope, *, limit: int, offset: int = 0
    ) -> SearchResults:
        """The relevant passages from *offset* on, best first; raises IndexUnavailable.

        An index to which nothing was ever added finds nothing.
        """


class PassageFinder(Protocol):
    """Finds passages for a dispute among the indexed documents."""

    async def find(self, dispute: str, scope: str, limit: int) -> CitablePassages:
        """At most *limit* passages in *scope* about *dispute*.

        Raises BadScope, also when nothing at all is indexed, and IndexUnavailable.
        """


class Catalogue(Protocol):
    """Tells what an index holds. Every method raises IndexUnavailable."""

    async def collections(self) -> tuple[CollectionStats, ...]:
        """All collections by name."""

    async def documents(self, collection: str) -> tuple[IndexedDocument, ...]:
        """All documents of *collection* (case ignored) by path, none when it is unknown."""

    async def names(self, kind: NameKind, scope: Scope = ...) -> tuple[str, ...]:
        """The names of *kind* that passages in *scope* have, in lower case and sorted.

        Without a scope, of all passages. Folders include every ancestor of a document's folder.
        """

    async def contains(self, scope: Scope) -> bool:
        """Whether any passage is in *scope*."""

    async def around(
        self, passage_id: str, *, before: int = 0, after: int = 0
    ) -> tuple[Passage, ...]:
        """A passage with its neighbours, in order; empty when there is none of that id."""

    async def ping(self) -> None:
        """Return when the index answers."""


class IndexWriter(Protocol):
    """Changes an index; what was not committed is lost, and nothing else can be.

    Every method raises IndexUnavailable.
    """

    async def replace(self, documents: Sequence[DocumentWithPassages]) -> None:
        """Put *documents* in the place of what has the same collection and id (case ignored)."""

    async def remove(self, collection: str, document_ids: Sequence[str] | None = None) -> None:
        """Take documents out, or the whole collection when no ids are given.

        Unknown ones are no error.
        """

    async def commit(self) -> None:
        """Return when all changes so far will survive a crash and readers can see them."""


class WritableIndex(Protocol):
    """Hands out the one writer an index may have at a time."""

    def writing(self) -> AbstractAsyncContextManager[IndexWriter]:
        """The writer, for the length of the block; nothing is committed by leaving it.

        Entering waits a little for another writer, then raises IndexLocked, which names it.
        """


class DocumentFiles(Protocol):
    """The files that documents are read from."""

    def scan(self, paths: Sequence[str], globs: Sequence[str]) -> FileScan:
        """Every file at or below *paths* that one of *globs* names; without globs, all."""

    def read(self, location: str, *, max_bytes: int) -> bytes:
        """The bytes of the regular file at *location*; raises UnreadableDocument."""

    def exists(self, path: str) -> bool:
        """Whether anything is at *path*."""


PdfReader = Callable[[bytes], PdfText]
"""Reads a PDF document; raises UnreadableDocument."""


class VectorStorage(Protocol):
    """Keeps a vector of every passage beside the embedded index."""

    @property
    def name(self) -> str:
        """Whose vectors they are, as `Embedder.name`."""

    async def missing(self) -> int:
        """How many passages have none; raises IndexUnavailable."""

    async def complete(
        self, advance: Callable[[int], None], should_stop: Callable[[], bool]
    ) -> None:
        """Make the missing ones, calling *advance* with how many at a time, until asked to stop.

        What was made is kept whatever happens. Raises EmbedderUnavailable and IndexUnavailable.
        """


@dataclass(frozen=True, slots=True)
class SearchEngine:
    """All sides of one index."""

    index: SearchIndex
    catalogue: Catalogue
    store: WritableIndex
    vectors: VectorStorage | None = None
    """What keeps vectors beside the embedded index; None where there are none."""


class Embedder(Protocol):
    """Turns texts into vectors that are the nearer the more alike their meaning is."""

    @property
    def name(self) -> str:
        """Which model, and how many dimensions: vectors of other names do not compare."""

    @property
    def least_similarity(self) -> float:
        """The cosine below which a passage is not about the question."""

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text, in order; raises EmbedderUnavailable."""

    async def embed_query(self, text: str) -> list[float]:
        """The vector to look for passages with; raises EmbedderUnavailable."""
