"""All that the core needs from outside, on one page.

Each port is a Protocol with one to three methods. Its docstring promises the errors too; one
contract suite in `tests/contract/` holds every adapter to it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from judge.types.judging import ModelReply, NotModified, Page, Prompt, Validators


class Clock(Protocol):
    """Where the time comes from, so that tests and golden cases can fix it."""

    def now(self) -> datetime:
        """The present moment, in UTC and aware of it."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards, for measuring."""
        ...


class LanguageModel(Protocol):
    """Something that answers a prompt with one JSON text."""

    @property
    def name(self) -> str:
        """What answers, as shown in the result."""
        ...

    @property
    def gives_verdicts(self) -> bool:
        """False for a model that only quotes: its verdicts are null and its reply degraded."""
        ...

    async def complete(
        self, prompt: Prompt, *, timeout_s: float, has_more_room: bool
    ) -> ModelReply:
        """One reply, within *timeout_s* seconds of wall time, a transport retry included.

        *has_more_room* asks for twice the usual output limit, after a truncated reply.

        Raises ModelUnavailable when no reply can be had, TimeoutError when the time runs out
        and ContentBlocked when a safety filter refuses. A reply that is empty or cut short is
        no error here: its `finish` says so.
        """
        ...


class PageFetcher(Protocol):
    """Gets a page from the web, safely."""

    async def fetch(
        self, url: str, *, timeout_s: float, validators: Validators = ...
    ) -> Page | NotModified:
        """The page, or NotModified when *validators* still hold; raises FetchError."""
        ...


class Cache(Protocol):
    """Texts under keys, each with a time to live; may be shared between processes."""

    async def get_many(self, keys: Sequence[str]) -> list[str | None]:
        """The values in the order of *keys*, None where absent, in one round trip.

        Raises CacheUnavailable.
        """
        ...

    async def put_many(self, entries: Mapping[str, tuple[str, int]]) -> None:
        """Store each (value, seconds to live), in one round trip; raises CacheUnavailable."""
        ...

    async def seconds_left(self, key: str) -> float | None:
        """How long *key* has to live, None where absent; raises CacheUnavailable."""
        ...


class Lock(Protocol):
    """Mutual exclusion between processes, by name, that can be neither lost nor held for ever."""

    async def acquire(self, name: str, token: str, ttl_s: float) -> bool:
        """True if *token* now holds *name* until *ttl_s* is over; raises CacheUnavailable.

        Called again by its holder it extends the time.
        """
        ...

    async def release(self, name: str, token: str) -> None:
        """Give *name* back if *token* still holds it; raises CacheUnavailable."""
        ...


class Journal(Protocol):
    """Where events go: logs and metrics. Fields never carry words of a dispute."""

    def note(self, event: str, **fields: str | float | bool) -> None:
        """Record a stable event name such as `snippet.fetch_failed` with its fields."""
        ...
