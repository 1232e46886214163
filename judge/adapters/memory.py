"""What a process has of its own: a clock, a bounded cache, a lock, counters, and room for judging.

A single process without Redis uses them, and any process while Redis is down. The event loop runs
nothing else between two awaits, so methods that never await need no lock.
"""

import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from judge.errors import Overloaded
from judge.ports import Clock
from judge.types.setting_values import Allowance, RateLimit

MAX_ENTRIES = 10_000
MAX_CHARACTERS = 8_000_000
"""About 1,000 pages with their passages (7,000 characters each on average): 8 MB of memory, or
32 MB where Python stores four bytes a character."""

MAX_CALLERS = 50_000
"""About 10 MB in a process; past it the caller with the oldest window is forgotten."""


class SystemClock:
    """A Clock that reads this machine's clocks."""

    def now(self) -> datetime:
        """The current time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since some moment in the past; never runs backwards."""
        return time.monotonic()


class MemoryCache:
    """A Cache that evicts the least recently used entries when it is full."""

    def __init__(
        self,
        clock: Clock,
        *,
        max_entries: int = MAX_ENTRIES,
        max_characters: int = MAX_CHARACTERS,
    ) -> None:
        self._clock = clock
        self._max_entries = max_entries
        self._max_characters = max_characters
        self._entries: OrderedDict[str, tuple[str, float]] = OrderedDict()
        """The value of each key, and when it ends."""
        self._characters = 0

    async def get_many(self, keys: Sequence[str]) -> list[str | None]:
        """The texts in the order of *keys*, None where absent."""
        entries = [self._find(key) for key in keys]
        return [entry[0] if entry else None for entry in entries]

    async def put_many(self, entries: Mapping[str, tuple[str, int]]) -> None:
        """Store each (value, TTL in seconds, at least 1) as far as there is room."""
        now = self._clock.monotonic()
        for key, (value, ttl_s) in entries.items():
            self._drop(key)
            self._entries[key] = value, now + max(1, ttl_s)
            self._characters += len(key) + len(value)
        while len(self._entries) > self._max_entries or self._characters > self._max_characters:
            self._drop(next(iter(self._entries)))

    async def seconds_left(self, key: str) -> float | None:
        """The remaining TTL of *key*, None where absent."""
        entry = self._find(key)
        return entry[1] - self._clock.monotonic() if entry else None

    def _find(self, key: str) -> tuple[str, float] | None:
        if key in self._entries and self._entries[key][1] <= self._clock.monotonic():
            self._drop(key)
        if key in self._entries:
            self._entries.move_to_end(key)
        return self._entries.get(key)

    def _drop(self, key: str) -> None:
        if entry := self._entries.pop(key, None):
            self._characters -= len(key) + len(entry[0])


class MemoryLock:
    """A Lock between the coroutines of this process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._holders: dict[str, tuple[str, float]] = {}

    async def acquire(self, name: str, token: str, ttl_s: float) -> bool:
        """True if *token* holds *name* from now for *ttl_s* seconds."""
        now = self._clock.monotonic()
        holder, ends = self._holders.get(name, (token, now))
        if holder != token and now < ends:
            return False
        self._holders[name] = (token, now + ttl_s)
        return True

    async def release(self, name: str, token: str) -> None:
        """Release *name*, unless another token holds it by now."""
        if self._holders.get(name, ("", 0.0))[0] == token:
            del self._holders[name]


@dataclass(slots=True)
class _Window:
    ends: float
    count: int = 0


class MemoryRateLimiter:
    """A RateLimiter for one process."""

    def __init__(self, limit: RateLimit, clock: Clock, *, max_callers: int = MAX_CALLERS) -> None:
        self._limit = limit
        self._clock = clock
        self._max_callers = max_callers
        self._windows: OrderedDict[str, _Window] = OrderedDict()
        """In the order in which they end, since all are equally long."""

    async def take(self, caller: str) -> Allowance:
        """Count one request of *caller*."""
        now = self._clock.monotonic()
        self._evict(now)
        window = self._windows.setdefault(caller, _Window(now + self._limit.window_s))
        window.count += 1
        return allowance(self._limit, window.count, window.ends - now)

    def _evict(self, now: float) -> None:
        """Drop the windows that have ended, and the oldest when there are too many."""
        while self._windows:
            oldest = next(iter(self._windows))
            if now < self._windows[oldest].ends and len(self._windows) < self._max_callers:
                return
            del self._windows[oldest]


def allowance(limit: RateLimit, count: int, reset_s: float) -> Allowance:
    """The Allowance for request number *count* of a window that ends in *reset_s* seconds."""
    return Allowance(
        is_allowed=count <= limit.requests,
        remaining=max(0, limit.requests - count),
        reset_s=reset_s,
    )


class MemoryTokenCounter:
    """A TokenCounter for one process; its counts are lost when the process ends."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._totals: Counter[str] = Counter()
        """By day: a clock that is set back and forth over midnight starts no day anew."""

    async def add(self, tokens: int) -> int:
        """Add *tokens*; returns the day's new total."""
        day = self._clock.now().date().isoformat()
        self._totals[day] += tokens
        return self._totals[day]


class Admission:
    """At most *capacity* judgements at once; used as `async with admission():`."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._count = 0

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[None]:
        """Hold a place for the length of the block; raises Overloaded when there is none."""
        if self._count >= self._capacity:
            raise Overloaded
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1
