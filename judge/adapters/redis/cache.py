"""The cache and the lock that all processes share, in Redis.

Every failure becomes CacheUnavailable; `failover.py` then turns to the cache inside the process.
"""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from redis.asyncio import RedisCluster
from redis.exceptions import (
    ClusterCrossSlotError,
    MovedError,
    RedisClusterException,
    RedisError,
    ResponseError,
)

from judge.adapters.redis.auto_pipeline import AutoPipeline
from judge.adapters.redis.connect import RedisClient, connect, disconnect
from judge.adapters.redis.kept_connection import asking_on_kept_connection
from judge.errors import CacheUnavailable

Answer = TypeVar("Answer")

ANSWER_TIMEOUT_S = 0.25
"""For one operation with its retry; a Redis in the same building answers in about 1 ms."""

MAX_AT_ONCE = 48
"""Operations on their way in one process; the others wait here, where no time-out blames Redis."""

SPARE_CONNECTIONS = 4
"""For what does not wait in that line: the request limit and the look-ups, one at a time of each,
and probes."""

LOCK_PREFIX = "lock:"

PROBE_KEYS = ("probe:1", "probe:2")
"""In two slots, so that one server of a cluster is told from a server."""

PROBE_TTL_S = 1.0

NEVER_EXPIRES = -1
ABSENT = -2

_NOT_TOLD = re.compile(r", with args|Command # | script: | : <|\. ")
"""What follows it in an error holds what was sent, a password even, or leads nowhere."""

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
    """A Cache in Redis: one MGET for all who look up at once, one pipeline to store.

    In a cluster each is one pipeline for every node that has some of the keys.
    """

    def __init__(self, client: RedisClient, line: asyncio.Semaphore | None = None) -> None:
        self._client = client
        self._line = line or asyncio.Semaphore(MAX_AT_ONCE)
        self._ask = asking_on_kept_connection(client)
        self._look_ups = AutoPipeline(self._look_up)

    async def get_many(self, keys: Sequence[str]) -> list[str | None]:
        """The texts in the order of *keys*; what is no UTF-8 text counts as absent."""
        return await self._look_ups.ask(keys) if keys else []

    async def aclose(self) -> None:
        """Give up what is being looked up."""
        await self._look_ups.aclose()

    async def _look_up(self, asked: Sequence[Sequence[str]]) -> list[list[str | None]]:
        keys = list(dict.fromkeys(chain.from_iterable(asked)))
        client, ask = self._client, self._ask
        values = await answer_of(
            client,
            lambda: (
                client.mget_nonatomic(keys)
                if isinstance(client, RedisCluster)
                else ask("MGET", *keys)
            ),
        )
        found = {key: _text(value) for key, value in zip(keys, values, strict=True)}
        return [[found[key] for key in one] for one in asked]

    async def put_many(self, entries: Mapping[str, tuple[str, int]]) -> None:
        """Store each text for its seconds, at least one."""
        if not entries:
            return
        async with self._line:
            await answer_of(self._client, lambda: self._store(entries))

    async def _store(self, entries: Mapping[str, tuple[str, int]]) -> None:
        # In a cluster a pipeline asks for the nodes as it is entered, which may fail as well.
        async with self._client.pipeline(transaction=False) as pipeline:
            for key, (value, ttl_s) in entries.items():
                _ = pipeline.set(key, value, ex=max(1, ttl_s))  # queued, not sent
            _ = await pipeline.execute()

    async def seconds_left(self, key: str) -> float | None:
        """The time left in seconds, infinite for a key that somebody stored without an end."""
        async with self._line:
            left_ms = int(await answer_of(self._client, lambda: self._client.pttl(key)))
        if left_ms == ABSENT:
            return None
        return math.inf if left_ms == NEVER_EXPIRES else left_ms / 1000


class RedisLock:
    """A Lock in Redis: a key with a token and an end, changed only by whoever has the token."""

    def __init__(self, client: RedisClient, line: asyncio.Semaphore | None = None) -> None:
        self._client = client
        self._line = line or asyncio.Semaphore(MAX_AT_ONCE)
        self._acquire = client.register_script(ACQUIRE)
        self._release = client.register_script(RELEASE)

    async def acquire(self, name: str, token: str, ttl_s: float) -> bool:
        """True if *token* holds *name* from now for *ttl_s* seconds."""
        keys, ttl_ms = [LOCK_PREFIX + name], max(1, round(ttl_s * 1000))
        async with self._line:
            return bool(await answer_of(self._client, lambda: self._acquire(keys, [token, ttl_ms])))

    async def release(self, name: str, token: str) -> None:
        """Give *name* back, unless another token holds it by now."""
        async with self._line:
            await answer_of(self._client, lambda: self._release([LOCK_PREFIX + name], [token]))


@dataclass(frozen=True, slots=True)
class SharedRedis:
    """One client and what is built on it."""

    client: RedisClient
    """For limiters and budgets."""
    line: asyncio.Semaphore
    """Where operations wait for a connection."""
    cache: RedisCache
    lock: RedisLock

    async def ping(self) -> None:
        """Return if the server can be read and written, or all of a cluster answer.

        Raises CacheUnavailable.
        """
        await self.cache.get_many(PROBE_KEYS)
        await self.lock.acquire("ping", "", PROBE_TTL_S)
        if isinstance(cluster := self.client, RedisCluster):
            await answer_of(cluster, lambda: cluster.ping(target_nodes=RedisCluster.PRIMARIES))

    async def aclose(self) -> None:
        """Close all connections."""
        await self.cache.aclose()
        await disconnect(self.client)


def open_redis(url: str) -> SharedRedis:
    """Cache and lock at *url*; connects when first used. Raises ConfigurationError."""
    client = connect(url, MAX_AT_ONCE + SPARE_CONNECTIONS)
    line = asyncio.Semaphore(MAX_AT_ONCE)
    return SharedRedis(client, line, RedisCache(client, line), RedisLock(client, line))


async def ping_redis(url: str) -> None:
    """Return if the Redis at *url* answers; raises CacheUnavailable and ConfigurationError."""
    redis = open_redis(url)
    try:
        await redis.ping()
    finally:
        await redis.aclose()


async def answer_of(client: RedisClient, asking: Callable[[], Awaitable[Answer]]) -> Answer:
    """The answer to *asking*; every failure of Redis, silence included, is CacheUnavailable."""
    try:
        async with asyncio.timeout(None) as limit:
            with _Patience(limit, ANSWER_TIMEOUT_S):
                if isinstance(client, RedisCluster):
                    # Commands that come before it knows its nodes are sent to any of them.
                    _ = await client.initialize()
                return await asking()
    except TimeoutError as error:
        message = f"Redis did not answer within {ANSWER_TIMEOUT_S:g} seconds."
        raise CacheUnavailable(message) from error
    except (MovedError, ClusterCrossSlotError) as error:
        message = "Redis is a cluster: begin REDIS_URL with redis+cluster://."
        raise CacheUnavailable(message) from error
    except (RedisError, RedisClusterException, OSError, AttributeError) as error:
        # A cluster's client closes connections in use when a node is lost; their users then find
        # no writer where it was, an AttributeError.
        raise CacheUnavailable(f"Redis failed: {type(error).__name__}{_said(error)}.") from error


def _said(error: BaseException) -> str:
    """What the system or Redis said, in brackets, without what was sent."""
    while not isinstance(error, ResponseError) and (below := error.__cause__ or error.__context__):
        error = below
    said = _NOT_TOLD.split(str(error))[0].rstrip(".")
    return f" ({said})" if said else ""


class _Patience:
    """Ends *limit* after *seconds* in which this process was listening.

    In a busy process the answer may lie in the socket, unread. A slice that ends late counts once,
    so the loop turns a dozen times before Redis is blamed; even a new connection needs no more.
    """

    def __init__(self, limit: asyncio.Timeout, seconds: float, slices: int = 12) -> None:
        self._limit = limit
        self._slice_s = seconds / slices
        self._left = slices

    def __enter__(self) -> None:
        self._end_slice()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def _end_slice(self) -> None:
        """Begin the next one, or end it all."""
        loop = asyncio.get_running_loop()
        if self._left:
            self._left -= 1
            self._timer = loop.call_later(self._slice_s, self._end_slice)
        else:
            self._limit.reschedule(loop.time())


def _text(value: bytes | str | None) -> str | None:
    """*value* if it was UTF-8 in Redis."""
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value
