"""Redis while it answers, and what this process keeps for itself while it does not.

Cache, lock, rate limit and token budget share one `Outage`: the first call that fails makes all of
them turn to this process, and once a second one call tries whether Redis is back.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from judge.errors import CacheUnavailable
from judge.ports import Cache, Clock, Journal, Lock

MAX_CONCURRENT_CALLS = 16
"""Concurrent calls of one process; no time-out runs while others wait for their turn."""

BACKOFF_S = 1.0
"""How long Redis is not asked after it failed, so that few requests wait for it."""

T = TypeVar("T")


class Outage:
    """Knows whether Redis is down, notes when that changes, and bounds the concurrent calls."""

    def __init__(self, clock: Clock, journal: Journal) -> None:
        self._clock = clock
        self._journal = journal
        self._down_since: float | None = None
        self._retry_at = 0.0
        self._turns = asyncio.Semaphore(MAX_CONCURRENT_CALLS)

    @property
    def is_degraded(self) -> bool:
        """True from the first call that failed to the first that succeeds again."""
        return self._down_since is not None

    async def ask(self, shared: Callable[[], Awaitable[T]], local: Callable[[], Awaitable[T]]) -> T:
        """The reply of *shared*, or of *local* while Redis is down."""
        async with self._turns:
            if self._may_ask():
                try:
                    reply = await shared()
                except CacheUnavailable as error:
                    self._begin(error)
                else:
                    self._end()
                    return reply
        return await local()

    def _may_ask(self) -> bool:
        """Whether Redis is up, or this call is the one that tries it again."""
        now = self._clock.monotonic()
        if self.is_degraded and now < self._retry_at:
            return False
        if self.is_degraded:
            self._retry_at = now + BACKOFF_S  # no other call waits for this one
        return True

    def _begin(self, error: CacheUnavailable) -> None:
        now = self._clock.monotonic()
        self._retry_at = now + BACKOFF_S
        if self._down_since is None:
            self._down_since = now
            self._journal.note("cache.down", reason=str(error))

    def _end(self) -> None:
        if self._down_since is not None:
            down_s = self._clock.monotonic() - self._down_since
            self._down_since = None
            self._journal.note("cache.back", down_s=round(down_s, 3))


@dataclass(frozen=True, slots=True)
class CacheAndLock:
    """A cache and the lock that goes with it."""

    cache: Cache
    lock: Lock


class Failover:
    """A Cache and Lock that never raise CacheUnavailable, since *standby* is in this process.

    Entries are stored in both, so that no page is fetched again because the shared cache crashed.
    """

    def __init__(self, shared: CacheAndLock, standby: CacheAndLock, outage: Outage) -> None:
        self._shared = shared
        self._standby = standby
        self._outage = outage

    @property
    def is_degraded(self) -> bool:
        """True while the shared cache is down."""
        return self._outage.is_degraded

    async def get_many(self, keys: Sequence[str]) -> list[str | None]:
        """The texts in the order of *keys*, None where absent."""
        return await self._ask(lambda stores: stores.cache.get_many(keys))

    async def put_many(self, entries: Mapping[str, tuple[str, int]]) -> None:
        """Store each (value, TTL in seconds) in both caches."""
        await self._standby.cache.put_many(entries)
        await self._outage.ask(lambda: self._shared.cache.put_many(entries), _nothing)

    async def seconds_left(self, key: str) -> float | None:
        """The remaining TTL of *key* in seconds, None where absent."""
        return await self._ask(lambda stores: stores.cache.seconds_left(key))

    async def acquire(self, name: str, token: str, ttl_s: float) -> bool:
        """True if *token* now holds *name* until *ttl_s* is over."""
        return await self._ask(lambda stores: stores.lock.acquire(name, token, ttl_s))

    async def release(self, name: str, token: str) -> None:
        """Release *name* in both: it may have been acquired before the failover or after it."""
        await self._standby.lock.release(name, token)
        await self._outage.ask(lambda: self._shared.lock.release(name, token), _nothing)

    async def _ask(self, call: Callable[[CacheAndLock], Awaitable[T]]) -> T:
        return await self._outage.ask(lambda: call(self._shared), lambda: call(self._standby))


async def _nothing() -> None:
    """For what the standby has done already."""
