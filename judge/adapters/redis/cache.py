"""The cache and the lock that all processes share, each with its stand-in for an outage."""

import math
from collections.abc import Mapping, Sequence

from redis.asyncio import RedisCluster

from judge.adapters.redis.shared import SharedRedis, nothing
from judge.ports import Cache, Lock

LOCK_PREFIX = "lock:"

PROBE_KEYS = ("probe:1", "probe:2")
"""Keys of two hash slots: a node of a cluster, used as a single server, refuses this MGET."""

NEVER_EXPIRES = -1
ABSENT = -2

# One script acquires and extends: a call repeated after a lost reply still succeeds.
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
    """A Cache in Redis: one MGET for each look-up, one pipeline for each store.

    In a cluster each becomes one pipeline for every node that has some of the keys. Entries are
    stored in *standby* too, so that no page is fetched again because Redis went down.
    """

    def __init__(self, redis: SharedRedis, standby: Cache) -> None:
        self._redis = redis
        self._client = redis.client
        self._standby = standby
        redis.is_tested_by(
            lambda: self._store({PROBE_KEYS[0]: ("", 1)}),
            lambda: self._mget(PROBE_KEYS),
            lambda: self._client.pttl(PROBE_KEYS[0]),
        )

    async def get_many(self, keys: Sequence[str]) -> list[str | None]:
        """The texts in the order of *keys*; None where absent or not UTF-8."""
        if not keys:
            return []
        return await self._redis.ask(lambda: self._mget(keys), lambda: self._standby.get_many(keys))

    async def put_many(self, entries: Mapping[str, tuple[str, int]]) -> None:
        """Store each (value, TTL in seconds, at least 1) in both."""
        await self._standby.put_many(entries)
        if entries:
            await self._redis.ask(lambda: self._store(entries), nothing)

    async def seconds_left(self, key: str) -> float | None:
        """The time left in seconds; infinite for a key without a TTL, None where absent."""

        async def left() -> float | None:
            left_ms = int(await self._client.pttl(key))
            return {ABSENT: None, NEVER_EXPIRES: math.inf}.get(left_ms, left_ms / 1000)

        return await self._redis.ask(left, lambda: self._standby.seconds_left(key))

    async def _mget(self, keys: Sequence[str]) -> list[str | None]:
        client = self._client
        mget = client.mget_nonatomic if isinstance(client, RedisCluster) else client.mget
        return [_text(value) for value in await mget(keys)]

    async def _store(self, entries: Mapping[str, tuple[str, int]]) -> None:
        # In a cluster, entering a pipeline looks up the nodes, which may fail as well.
        async with self._client.pipeline(transaction=False) as pipeline:
            for key, (value, ttl_s) in entries.items():
                _ = pipeline.set(key, value, ex=max(1, ttl_s))  # queued, not sent
            _ = await pipeline.execute()


class RedisLock:
    """A Lock in Redis: a key with a token and a TTL, changed only by the holder of the token."""

    def __init__(self, redis: SharedRedis, standby: Lock) -> None:
        self._redis = redis
        self._acquire = redis.client.register_script(ACQUIRE)
        self._release = redis.client.register_script(RELEASE)
        self._standby = standby
        probe = [f"{LOCK_PREFIX}{PROBE_KEYS[0]}"]
        redis.is_tested_by(
            lambda: self._acquire(probe, ["", 1000]), lambda: self._release(probe, [""])
        )

    async def acquire(self, name: str, token: str, ttl_s: float) -> bool:
        """True if *token* holds *name* from now for *ttl_s* seconds."""
        ttl_ms = max(1, round(ttl_s * 1000))
        holds = await self._redis.ask(
            lambda: self._acquire([LOCK_PREFIX + name], [token, ttl_ms]),
            lambda: self._standby.acquire(name, token, ttl_s),
        )
        return bool(holds)

    async def release(self, name: str, token: str) -> None:
        """Release *name* in both: it may have been acquired before an outage or during it."""
        await self._standby.release(name, token)
        await self._redis.ask(lambda: self._release([LOCK_PREFIX + name], [token]), nothing)


def _text(value: bytes | str | None) -> str | None:
    """*value* if it was UTF-8 in Redis, else None."""
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value
