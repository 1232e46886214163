"""The Redis that all processes share, and whether it answers now.

Cache, lock, rate limit and token count ask it together: the first call that fails makes all of them
turn to this process, until everything that they use works again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from judge.adapters.redis.connect import RedisClient, call_redis, connect, disconnect
from judge.errors import CacheUnavailable
from judge.ports import Clock, Journal

MAX_CONCURRENT_CALLS = 16
"""Concurrent calls of one process; no time-out runs while others wait for their turn."""

BACKOFF_S = 1.0
"""How long Redis is not asked after it failed, so that few requests wait for it."""

T = TypeVar("T")
Call = Callable[[], Awaitable[T]]


class SharedRedis:
    """Asks Redis while it works, notes when that changes, and bounds the concurrent calls."""

    def __init__(self, client: RedisClient, clock: Clock, journal: Journal) -> None:
        self.client = client
        self._clock = clock
        self._journal = journal
        self._probes: list[Call[object]] = []
        self._down_since: float | None = None
        self._retry_at = 0.0
        self._turns = asyncio.Semaphore(MAX_CONCURRENT_CALLS)

    @property
    def is_degraded(self) -> bool:
        """True from the first call that failed until all that is used works again."""
        return self._down_since is not None

    def is_tested_by(self, *probes: Call[object]) -> None:
        """Count Redis as working only if the *probes* do: a user may lack the right to one."""
        self._probes += probes

    async def ask(self, shared: Call[T], local: Call[T]) -> T:
        """The reply of *shared*, a call of the client, or of *local* while Redis is down."""
        async with self._turns:
            if await self._is_up():
                try:
                    return await call_redis(self.client, shared)
                except CacheUnavailable as error:
                    self._begin(error)
        return await local()

    async def ping(self) -> None:
        """Raise CacheUnavailable unless all that is used works."""
        for probe in self._probes:
            await call_redis(self.client, probe)

    async def aclose(self) -> None:
        """Close all connections."""
        await disconnect(self.client)

    async def _is_up(self) -> bool:
        """Whether Redis works; after an outage, one call a second finds out."""
        now = self._clock.monotonic()
        if self._down_since is None:
            return True
        if now < self._retry_at:
            return False
        self._retry_at = now + BACKOFF_S  # no other call waits for this one
        try:
            await self.ping()
        except CacheUnavailable:
            return False
        self._end()
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


def open_redis(url: str, clock: Clock, journal: Journal) -> SharedRedis:
    """The Redis at *url*, which is connected to when first used; raises ConfigurationError."""
    return SharedRedis(connect(url), clock, journal)


async def nothing() -> None:
    """The local call where this process has done its part already."""
