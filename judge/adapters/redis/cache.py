"""The cache and the lock that all processes share, in Redis.

Every failure becomes CacheUnavailable; `failover.py` then turns to the cache inside the process.
"""

import asyncio
import math
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from redis.asyncio import RedisCluster

from judge.adapters.redis.connect import Connected, RedisClient, connect
from judge.adapters.redis.round_trips import Question, RoundTrips, answer_of

MAX_AT_ONCE = 48
"""Operations on their way in one process; the others wait here, where no time-out blames Redis."""

SPARE_CONNECTIONS = 4
"""For what does not wait in that line: the round trip of limits and look-ups, and probes."""

LOCK_PREFIX = "lock:"

PROBE_KEYS = ("probe:1", "probe:2")
"""In two slots, so that one server of a cluster is told from a server."""

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
    """A Cache in Redis: one MGET for all who look up at once, one pipeline to store.

    In a cluster each is one pipeline for every node that has some of the keys.
    """

    def __init__(
        self,
        client: RedisClient,
        line: asyncio.Semaphore | None = None,
        round_trips: RoundTrips | None = None,
    ) -> None:
        self._client = client
        self._line = line or asyncio.Semaphore(MAX_AT_ONCE)
        self._round_trips = round_trips or RoundTrips(client)

    async def get_many(self, keys: Sequence[str]) -> list[str | None]:
        """The texts in the order of *keys*; what is no UTF-8 text counts as absent."""
        return await self._round_trips.ask(LOOK_UP, keys) if keys else []

    async def aclose(self) -> None:
        """Give up what is being looked up."""
        await self._round_trips.aclose()

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

    connected: Connected
    line: asyncio.Semaphore
    """Where operations wait for a connection."""
    round_trips: RoundTrips
    """Of the cache, and for a limiter to join."""
    cache: RedisCache
    lock: RedisLock

    @property
    def client(self) -> RedisClient:
        """For limiters and budgets."""
        return self.connected.client

    async def ping(self) -> None:
        """Return if the server answers as we ask, or all of a cluster; raises CacheUnavailable."""
        await self.cache.get_many(PROBE_KEYS)
        if isinstance(cluster := self.client, RedisCluster):
            await answer_of(cluster, lambda: cluster.ping(target_nodes=RedisCluster.PRIMARIES))

    async def aclose(self) -> None:
        """Close all connections."""
        await self.round_trips.aclose()
        await self.connected.aclose()


def open_redis(url: str, *, max_at_once: int = MAX_AT_ONCE) -> SharedRedis:
    """Cache and lock at *url*; connects when first used. Raises ConfigurationError."""
    connected = connect(url, max_at_once + SPARE_CONNECTIONS)
    line, client = asyncio.Semaphore(max_at_once), connected.client
    trips, lock = RoundTrips(client), RedisLock(client, line)
    return SharedRedis(connected, line, trips, RedisCache(client, line, trips), lock)


async def ping_redis(url: str) -> None:
    """Return if the Redis at *url* answers; raises CacheUnavailable and ConfigurationError."""
    redis = open_redis(url)
    try:
        await redis.ping()
    finally:
        await redis.aclose()


def _keys(asked: Iterable[Sequence[str]]) -> list[str]:
    """Each key that is asked for, once."""
    return list(dict.fromkeys(chain.from_iterable(asked)))


def _send_keys(client: Any, asked: Sequence[Sequence[str]]) -> Awaitable[list[Any]]:
    look_up = client.mget_nonatomic if isinstance(client, RedisCluster) else client.mget
    found: Awaitable[list[Any]] = look_up(_keys(asked))
    return found


def _read_texts(
    values: Sequence[bytes | str | None], asked: Sequence[Sequence[str]]
) -> list[list[str | None]]:
    found = {key: _text(value) for key, value in zip(_keys(asked), values, strict=True)}
    return [[found[key] for key in one] for one in asked]


def _text(value: bytes | str | None) -> str | None:
    """*value* if it was UTF-8 in Redis."""
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value


LOOK_UP = Question(_send_keys, _read_texts)
"""The texts of some keys."""
