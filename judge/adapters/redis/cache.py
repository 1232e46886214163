"""The cache and the lock that all processes share, in Redis.

Every failure becomes CacheUnavailable; `failover.py` then turns to the cache inside the process.
"""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from redis.asyncio import RedisCluster
from redis.exceptions import (
    ClusterCrossSlotError,
    MovedError,
    RedisClusterException,
    RedisError,
    ResponseError,
)

from judge.adapters.redis.connect import RedisClient, connect, disconnect
from judge.errors import CacheUnavailable

Reply = TypeVar("Reply")

REPLY_TIMEOUT_S = 0.25
"""For one operation with its retry; a Redis in the same building replies in about 1 ms."""

MAX_CONNECTIONS = 64
"""To one server; `Outage` lets fewer calls run at once."""

LOCK_PREFIX = "lock:"

PROBE_KEYS = ("probe:1", "probe:2")
"""Keys of two hash slots: a node of a cluster, used as a single server, refuses this MGET."""

PROBE_TTL_S = 1.0

NEVER_EXPIRES = -1
ABSENT = -2

_BEFORE_ARGUMENTS = re.compile(r", with args|Command # | script: | : <|\. ")
"""What follows in an error message repeats what was sent, even a password, or does not help."""

# One script acquires and extends: a call repeated after a lost reply still succeeds. A foreign key
# of another type counts as absent: its error would look as if Redis were down.
ACQUIRE = """
local holder = redis.pcall('GET', KEYS[1])
if type(holder) == 'string' and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""
RELEASE = """
if redis.pcall('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""


class RedisCache:
    """A Cache in Redis: one MGET for each look-up, one pipeline for each store.

    In a cluster each becomes one pipeline for every node that has some of the keys.
    """

    def __init__(self, client: RedisClient) -> None:
        self._client = client

    async def get_many(self, keys: Sequence[str]) -> list[str | None]:
        """The texts in the order of *keys*; None where absent or not UTF-8."""
        if not keys:
            return []
        client = self._client
        mget = client.mget_nonatomic if isinstance(client, RedisCluster) else client.mget
        values = await call_redis(client, lambda: mget(keys))
        return [_text(value) for value in values]

    async def put_many(self, entries: Mapping[str, tuple[str, int]]) -> None:
        """Store each (value, TTL in seconds, at least 1)."""
        if not entries:
            return
        await call_redis(self._client, lambda: self._store(entries))

    async def _store(self, entries: Mapping[str, tuple[str, int]]) -> None:
        # In a cluster, entering a pipeline looks up the nodes, which may fail as well.
        async with self._client.pipeline(transaction=False) as pipeline:
            for key, (value, ttl_s) in entries.items():
                _ = pipeline.set(key, value, ex=max(1, ttl_s))  # queued, not sent
            _ = await pipeline.execute()

    async def seconds_left(self, key: str) -> float | None:
        """The time left in seconds; infinite for a key without a TTL, None where absent."""
        left_ms = int(await call_redis(self._client, lambda: self._client.pttl(key)))
        if left_ms == ABSENT:
            return None
        return math.inf if left_ms == NEVER_EXPIRES else left_ms / 1000


class RedisLock:
    """A Lock in Redis: a key with a token and a TTL, changed only by the holder of the token."""

    def __init__(self, client: RedisClient) -> None:
        self._client = client
        self._acquire = client.register_script(ACQUIRE)
        self._release = client.register_script(RELEASE)

    async def acquire(self, name: str, token: str, ttl_s: float) -> bool:
        """True if *token* holds *name* from now for *ttl_s* seconds."""
        keys, ttl_ms = [LOCK_PREFIX + name], max(1, round(ttl_s * 1000))
        return bool(await call_redis(self._client, lambda: self._acquire(keys, [token, ttl_ms])))

    async def release(self, name: str, token: str) -> None:
        """Release *name*, unless another token holds it by now."""
        await call_redis(self._client, lambda: self._release([LOCK_PREFIX + name], [token]))


@dataclass(frozen=True, slots=True)
class SharedRedis:
    """One client, and the cache and lock that use it."""

    client: RedisClient
    """For limiters and budgets."""
    cache: RedisCache
    lock: RedisLock

    async def ping(self) -> None:
        """Raise CacheUnavailable unless Redis can be read and written, and all primaries answer."""
        await self.cache.get_many(PROBE_KEYS)
        await self.lock.acquire("ping", "", PROBE_TTL_S)
        if isinstance(cluster := self.client, RedisCluster):
            await call_redis(cluster, lambda: cluster.ping(target_nodes=RedisCluster.PRIMARIES))

    async def aclose(self) -> None:
        """Close all connections."""
        await disconnect(self.client)


def open_redis(url: str) -> SharedRedis:
    """The cache and lock at *url*; connects when first used. Raises ConfigurationError."""
    client = connect(url, MAX_CONNECTIONS)
    return SharedRedis(client, RedisCache(client), RedisLock(client))


async def ping_redis(url: str) -> None:
    """Raise CacheUnavailable unless the Redis at *url* answers; raises ConfigurationError too."""
    redis = open_redis(url)
    try:
        await redis.ping()
    finally:
        await redis.aclose()


async def call_redis(client: RedisClient, call: Callable[[], Awaitable[Reply]]) -> Reply:
    """The reply to *call*; every failure of Redis, silence included, is CacheUnavailable."""
    try:
        async with asyncio.timeout(None) as timeout:
            with _ListeningTimer(timeout, REPLY_TIMEOUT_S):
                if isinstance(client, RedisCluster):
                    # Until it knows its nodes, the client would send commands to any of them.
                    _ = await client.initialize()
                return await call()
    except TimeoutError as error:
        message = f"Redis did not answer within {REPLY_TIMEOUT_S:g} seconds."
        raise CacheUnavailable(message) from error
    except (MovedError, ClusterCrossSlotError) as error:
        message = "Redis is a cluster: begin REDIS_URL with redis+cluster://."
        raise CacheUnavailable(message) from error
    except (RedisError, RedisClusterException, OSError, AttributeError) as error:
        # When a node is lost, the cluster client closes connections in use: calls that use them
        # then fail with AttributeError, since the writer is gone.
        reason = f"{type(error).__name__}{_message(error)}"
        raise CacheUnavailable(f"Redis failed: {reason}.") from error


def _message(error: BaseException) -> str:
    """The message of the system or of Redis, in brackets, without what was sent."""
    while not isinstance(error, ResponseError) and (cause := error.__cause__ or error.__context__):
        error = cause
    message = _BEFORE_ARGUMENTS.split(str(error))[0].rstrip(".")
    return f" ({message})" if message else ""


class _ListeningTimer:
    """Ends *timeout* after *seconds* in which the event loop was free to read the socket.

    In a busy process the reply may wait in the socket, unread. A slice that ends late counts once,
    so the loop turns a dozen times before Redis is blamed; even a new connection needs no more.
    """

    def __init__(self, timeout: asyncio.Timeout, seconds: float, slices: int = 12) -> None:
        self._timeout = timeout
        self._slice_s = seconds / slices
        self._left = slices

    def __enter__(self) -> None:
        self._end_slice()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def _end_slice(self) -> None:
        """Start the next slice; after the last one, end the timeout."""
        loop = asyncio.get_running_loop()
        if self._left:
            self._left -= 1
            self._timer = loop.call_later(self._slice_s, self._end_slice)
        else:
            self._timeout.reschedule(loop.time())


def _text(value: bytes | str | None) -> str | None:
    """*value* if it was UTF-8 in Redis, else None."""
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value
