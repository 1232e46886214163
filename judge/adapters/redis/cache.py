"""The cache and the lock that all processes share, in Redis.

Every failure becomes CacheUnavailable; `failover.py` then turns to the cache inside the process.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import RedisError

from judge.errors import CacheUnavailable, ConfigurationError

ANSWER_TIMEOUT_S = 0.25
"""For one operation with its retry; a Redis in the same building answers in about 1 ms."""

SOCKET_TIMEOUT_S = 1.0
"""For one read or write. Longer than the above, which counts only the time in which we listened:
redis-py's own time-out blames a silent server also when our event loop was busy with a burst."""

MAX_AT_ONCE = 48
"""Operations on their way in one process; the others wait here, where no time-out blames Redis."""

SPARE_CONNECTIONS = 4
"""For what does not wait in that line: the request limit, one script at a time, and probes."""

LOCK_PREFIX = "lock:"
NEVER_EXPIRES = -1
ABSENT = -2

# One script for taking and extending: a try that is repeated after a lost answer still succeeds.
ACQUIRE = """
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""
RELEASE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""


class RedisCache:
    """A Cache in Redis: one MGET to look up, one pipeline to store."""

    def __init__(self, client: Redis, line: asyncio.Semaphore | None = None) -> None:
        self._client = client
        self._line = line or asyncio.Semaphore(MAX_AT_ONCE)

    async def get_many(self, keys: Sequence[str]) -> list[str | None]:
        """The texts in the order of *keys*; what is no UTF-8 text counts as absent."""
        if not keys:
            return []
        async with self._line, answering():
            return [_text(value) for value in await self._client.mget(keys)]

    async def put_many(self, entries: Mapping[str, tuple[str, int]]) -> None:
        """Store each text for its seconds, at least one."""
        if not entries:
            return
        async with self._line, answering(), self._client.pipeline(transaction=False) as pipeline:
            for key, (value, ttl_s) in entries.items():
                _ = pipeline.set(key, value, ex=max(1, ttl_s))  # queued, not sent
            await pipeline.execute()

    async def seconds_left(self, key: str) -> float | None:
        """The time left in seconds, infinite for a key that somebody stored without an end."""
        async with self._line, answering():
            left_ms = int(await self._client.pttl(key))
        if left_ms == ABSENT:
            return None
        return math.inf if left_ms == NEVER_EXPIRES else left_ms / 1000


class RedisLock:
    """A Lock in Redis: a key with a token and an end, changed only by whoever has the token."""

    def __init__(self, client: Redis, line: asyncio.Semaphore | None = None) -> None:
        self._line = line or asyncio.Semaphore(MAX_AT_ONCE)
        self._acquire = client.register_script(ACQUIRE)
        self._release = client.register_script(RELEASE)

    async def acquire(self, name: str, token: str, ttl_s: float) -> bool:
        """True if *token* holds *name* from now for *ttl_s* seconds."""
        ttl_ms = max(1, round(ttl_s * 1000))
        async with self._line, answering():
            return bool(await self._acquire(keys=[LOCK_PREFIX + name], args=[token, ttl_ms]))

    async def release(self, name: str, token: str) -> None:
        """Give *name* back, unless another token holds it by now."""
        async with self._line, answering():
            await self._release(keys=[LOCK_PREFIX + name], args=[token])


@dataclass(frozen=True, slots=True)
class SharedRedis:
    """One pool of connections and what is built on it."""

    client: Redis
    line: asyncio.Semaphore
    """Where operations wait for a connection."""
    cache: RedisCache
    lock: RedisLock

    async def ping(self) -> None:
        """Return if the server answers; raises CacheUnavailable."""
        async with answering():
            await self.client.ping()

    async def aclose(self) -> None:
        """Close all connections."""
        await self.client.aclose()


def open_redis(url: str, *, max_at_once: int = MAX_AT_ONCE) -> SharedRedis:
    """Cache and lock at *url*; connects when first used. Raises ConfigurationError.

    Options in the query of *url* win over ours.
    """
    try:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=max_at_once + SPARE_CONNECTIONS,
            timeout=SOCKET_TIMEOUT_S,
            socket_timeout=SOCKET_TIMEOUT_S,
            socket_connect_timeout=SOCKET_TIMEOUT_S,
            # Writes are idempotent here, so one repeat is safe; the default of ten is not bounded.
            retry=Retry(ExponentialWithJitterBackoff(cap=0.05, base=0.01), 1),
            decode_responses=True,
            # Bytes that are no UTF-8 come out as lone surrogates, which `_text` finds.
            encoding_errors="surrogateescape",
        )
    except ValueError as error:
        # Not the address itself: it may hold a password.
        message = f"REDIS_URL cannot be used: {error}. Write it as redis://host:6379/0."
        raise ConfigurationError(message) from None
    client = Redis.from_pool(pool)
    line = asyncio.Semaphore(max_at_once)
    return SharedRedis(client, line, RedisCache(client, line), RedisLock(client, line))


async def ping_redis(url: str) -> None:
    """Return if the Redis at *url* answers; raises CacheUnavailable and ConfigurationError."""
    redis = open_redis(url)
    try:
        await redis.ping()
    finally:
        await redis.aclose()


@asynccontextmanager
async def answering() -> AsyncIterator[None]:
    """Turn every failure of Redis, silence included, into CacheUnavailable."""
    try:
        async with _patience(ANSWER_TIMEOUT_S):
            yield
    except TimeoutError as error:
        message = f"Redis did not answer within {ANSWER_TIMEOUT_S:g} seconds."
        raise CacheUnavailable(message) from error
    except (RedisError, OSError) as error:
        raise CacheUnavailable(f"Redis failed: {type(error).__name__}.") from error


@asynccontextmanager
async def _patience(seconds: float, slices: int = 12) -> AsyncIterator[None]:
    """Raise TimeoutError after *seconds* in which this process was listening.

    In a busy process the answer may lie in the socket, unread. A slice that ends late counts once,
    so the loop turns a dozen times before Redis is blamed; even a new connection needs no more.
    """
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle
    async with asyncio.timeout(None) as limit:

        def end_slice(left: int) -> None:
            nonlocal timer
            if left:
                timer = loop.call_later(seconds / slices, end_slice, left - 1)
            else:
                limit.reschedule(loop.time())

        timer = loop.call_later(seconds / slices, end_slice, slices - 1)
        try:
            yield
        finally:
            timer.cancel()


def _text(value: bytes | str | None) -> str | None:
    """*value* if it was UTF-8 in Redis."""
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value
