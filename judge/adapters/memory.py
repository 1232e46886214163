"""What a process has of its own: a clock, a bounded cache, a lock, counters, and room for judging.

A single process without Redis uses them, and any process while Redis is down. The event loop runs
nothing else between two awaits, so methods that never await need no lock.
"""
# ruff: noqa: D102 - judge/ports.py says what each method does

import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from judge.errors import Overloaded
from judge.ports import Clock
from judge.types.setting_values import Allowance, RateLimit


class SystemClock:
    """A Clock that reads this machine's clocks."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


@dataclass(slots=True)
class MemoryCache:
    """A Cache that evicts the least recently used entries when it is full."""

    clock: Clock
    max_entries: int = 10_000
    max_characters: int = 8_000_000
    """About 1,000 pages with their passages (7,000 characters each on average): 8 MB of memory, or
    32 MB where Python stores four bytes a character."""
    _entries: OrderedDict[str, tuple[str, float]] = field(default_factory=OrderedDict)
    """The value of each key, and when it ends."""
    _characters: int = 0

    async def get_many(self, keys: Sequence[str]) -> list[str | None]:
        entries = [self._find(key) for key in keys]
        return [entry[0] if entry else None for entry in entries]

    async def put_many(self, entries: Mapping[str, tuple[str, int]]) -> None:
        """Store each (value, TTL in seconds, at least 1) as far as there is room."""
        now = self.clock.monotonic()
        for key, (value, ttl_s) in entries.items():
            self._drop(key)
            self._entries[key] = value, now + max(1, ttl_s)
            self._characters += len(key) + len(value)
        while len(self._entries) > self.max_entries or self._characters > self.max_characters:
            self._drop(next(iter(self._entries)))

    async def seconds_left(self, key: str) -> float | None:
        entry = self._find(key)
        return entry[1] - self.clock.monotonic() if entry else None

    def _find(self, key: str) -> tuple[str, float] | None:
        if key in self._entries and self._entries[key][1] <= self.clock.monotonic():
            self._drop(key)
        if key in self._entries:
            self._entries.move_to_end(key)
        return self._entries.get(key)

    def _drop(self, key: str) -> None:
        if entry := self._entries.pop(key, None):
            self._characters -= len(key) + len(entry[0])


@dataclass(slots=True)
class MemoryLock:
    """A Lock between the coroutines of this process."""

    clock: Clock
    _holders: dict[str, tuple[str, float]] = field(default_factory=dict)

    async def acquire(self, name: str, token: str, ttl_s: float) -> bool:
        now = self.clock.monotonic()
        holder, ends = self._holders.get(name, (token, now))
        if holder != token and now < ends:
            return False
        self._holders[name] = (token, now + ttl_s)
        return True

    async def release(self, name: str, token: str) -> None:
        if self._holders.get(name, ("", 0.0))[0] == token:
            del self._holders[name]


@dataclass(slots=True)
class MemoryRateLimiter:
    """A RateLimiter for one process."""

    limit: RateLimit
    clock: Clock
    max_callers: int = 50_000
    """About 10 MB; past it the caller with the oldest window is forgotten."""
    _windows: OrderedDict[str, tuple[float, int]] = field(default_factory=OrderedDict)
    """When each caller's ends, and the requests in it; in the order in which they end, since all
    are equally long."""

    async def take(self, caller: str) -> Allowance:
        now = self.clock.monotonic()
        self._evict(now)
        ends, count = self._windows.get(caller, (now + self.limit.window_s, 0))
        self._windows[caller] = ends, count + 1
        return allowance(self.limit, count + 1, ends - now)

    def _evict(self, now: float) -> None:
        """Drop the windows that have ended, and the oldest when there are too many."""
        while self._windows:
            oldest, (ends, _) = next(iter(self._windows.items()))
            if now < ends and len(self._windows) < self.max_callers:
                return
            del self._windows[oldest]


def allowance(limit: RateLimit, count: int, reset_s: float) -> Allowance:
    """The Allowance for request number *count* of a window that ends in *reset_s* seconds."""
    return Allowance(count <= limit.requests, max(0, limit.requests - count), reset_s)


@dataclass(slots=True)
class MemoryTokenCounter:
    """A TokenCounter for one process; its counts are lost when the process ends."""

    clock: Clock
    _totals: Counter[str] = field(default_factory=Counter)
    """By day: a clock that is set back and forth over midnight starts no day anew."""

    async def add(self, tokens: int) -> int:
        day = self.clock.now().date().isoformat()
        self._totals[day] += tokens
        return self._totals[day]


@dataclass(slots=True)
class Admission:
    """At most *capacity* judgements at once; used as `async with admission():`."""

    capacity: int
    _count: int = 0

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[None]:
        """Hold a place for the length of the block; raises Overloaded when there is none."""
        if self._count >= self.capacity:
            raise Overloaded
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1
