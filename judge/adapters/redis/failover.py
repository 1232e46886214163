"""The shared cache while it answers, the cache inside this process while it does not.

When the shared cache stops answering, only requests that are waiting for it notice, each for one
time-out at most. From then on a single background task probes whether it is back.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass
from typing import TypeVar
from uuid import uuid4

from judge.errors import CacheUnavailable
from judge.ports import Cache, Clock, Journal, Lock

PROBE_EVERY_S = 1.0
"""Often enough to return to Redis soon, seldom enough to cost nothing."""

PROBE_NAME = "probe"
PROBE_TTL_S = 1.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CacheAndLock:
    """A cache and the lock that goes with it."""

    cache: Cache
    lock: Lock


class Failover:
    """A Cache and Lock that never raise CacheUnavailable, since *standby* is in this process.

    Entries are stored in both, so that no page is fetched again because the shared cache crashed.
    """

    def __init__(
        self,
        shared: CacheAndLock,
        standby: CacheAndLock,
        clock: Clock,
        journal: Journal,
        *,
        probe_every_s: float = PROBE_EVERY_S,
    ) -> None:
        self._shared = shared
        self._standby = standby
        self._clock = clock
        self._journal = journal
        self._probe_every_s = probe_every_s
        self._down_since: float | None = None
        self._probing: asyncio.Task[None] | None = None
        self._calls: set[asyncio.Timeout] = set()
        """The time-outs of the calls that wait for the shared cache."""

    @property
    def is_degraded(self) -> bool:
        """True while the shared cache is down."""
        return self._down_since is not None

    async def get_many(self, keys: Sequence[str]) -> list[str | None]:
        """The texts in the order of *keys*, None where absent."""
        return await self._with_fallback(lambda stores: stores.cache.get_many(keys))

    async def put_many(self, entries: Mapping[str, tuple[str, int]]) -> None:
        """Store each (value, TTL in seconds) in both caches, or the standby while Redis is down."""
        await self._standby.cache.put_many(entries)
        if not self.is_degraded:
            await self._with_fallback(lambda stores: stores.cache.put_many(entries))

    async def seconds_left(self, key: str) -> float | None:
        """The remaining TTL of *key* in seconds, None where absent."""
        return await self._with_fallback(lambda stores: stores.cache.seconds_left(key))

    async def acquire(self, name: str, token: str, ttl_s: float) -> bool:
        """True if *token* now holds *name* until *ttl_s* is over."""
        return await self._with_fallback(lambda stores: stores.lock.acquire(name, token, ttl_s))

    async def release(self, name: str, token: str) -> None:
        """Release *name* in both: it may have been acquired before the failover or after it."""
        await self._standby.lock.release(name, token)
        if not self.is_degraded:
            await self._with_fallback(lambda stores: stores.lock.release(name, token))

    async def probe(self) -> bool:
        """Check the shared cache now; True if it answers."""
        try:
            # A lock is a write: a server that can only be read counts as down.
            await self._shared.lock.acquire(PROBE_NAME, uuid4().hex, PROBE_TTL_S)
        except CacheUnavailable as error:
            self._fail_over(error)
            return False
        self._recover()
        return True

    async def aclose(self) -> None:
        """Stop probing; the stores are closed by whoever opened them."""
        if self._probing is not None:
            self._probing.cancel()
            await asyncio.wait([self._probing])

    async def _with_fallback(self, call: Callable[[CacheAndLock], Awaitable[T]]) -> T:
        """What *call* gives with the shared stores, or with the standby while those are down."""
        if self.is_degraded:
            return await call(self._standby)
        try:
            async with asyncio.timeout(None) as timeout:
                self._calls.add(timeout)
                try:
                    return await call(self._shared)
                finally:
                    self._calls.discard(timeout)
        except CacheUnavailable as error:
            self._fail_over(error)
        except TimeoutError:
            pass  # Another call found the shared cache down and ended this one's wait.
        return await call(self._standby)

    def _fail_over(self, error: CacheUnavailable) -> None:
        if self.is_degraded:
            return
        self._down_since = self._clock.monotonic()
        self._journal.note("cache.down", reason=str(error))
        for timeout in self._calls:
            timeout.reschedule(asyncio.get_running_loop().time())
        self._calls.clear()
        if self._probing is None or self._probing.done():
            # In a context of its own, or its log lines would bear this request's id.
            self._probing = asyncio.create_task(self._probe_until_back(), context=Context())

    def _recover(self) -> None:
        if self._down_since is not None:
            down_s = self._clock.monotonic() - self._down_since
            self._down_since = None
            self._journal.note("cache.back", down_s=round(down_s, 3))

    async def _probe_until_back(self) -> None:
        while self.is_degraded:
            await asyncio.sleep(self._probe_every_s)
            await self.probe()
