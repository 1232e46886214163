"""What all processes share in Redis: cache, lock, rate limit and the tokens of the day."""

import math
from collections.abc import Mapping, Sequence

from redis.asyncio import RedisCluster

from judge.adapters.memory import allowance
from judge.adapters.redis.shared import SharedRedis, nothing
from judge.ports import Cache, Clock, Lock, RateLimiter
from judge.types.setting_values import Allowance, RateLimit

LOCK_PREFIX = "lock:"

PROBE_KEYS = ("probe:1", "probe:2")
"""Keys of two hash slots: a node of a cluster, used as a single server, refuses this MGET."""

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

RATE_PREFIX = "rate:"
TOKENS_PREFIX = "tokens:"

KEY_TTL_S = 2 * 24 * 3600
"""A day's count outlives the day, for workers whose clocks run behind."""

# One script, so that no two workers can take the same last request. A window without a TTL
# (somebody ran PERSIST), or with one that is too long (a clock was set back), gets a new TTL.
TAKE = """
local window = tonumber(ARGV[1])
local count = redis.call('INCRBY', KEYS[1], 1)
local left = redis.call('PTTL', KEYS[1])
if left < 0 or left > window then
  left = window
  redis.call('PEXPIRE', KEYS[1], left)
end
return {count, left}
"""

# Adding and reading are one script. Nothing is written when there is nothing to add. What Redis
# lost of the total that this process knows is added too, or as much could be spent again.
SPEND = """
local counted = tonumber(redis.call('GET', KEYS[1]) or '0') or 0
local added = tonumber(ARGV[1]) + math.max(0, tonumber(ARGV[3]) - counted)
if added == 0 then return counted end
local total = redis.call('INCRBY', KEYS[1], added)
redis.call('EXPIRE', KEYS[1], ARGV[2])
return total
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
            return {-2: None, -1: math.inf}.get(left_ms, left_ms / 1000)

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


class RedisRateLimiter:
    """A RateLimiter over all processes, and *local* while Redis is down.

    A window begins with a caller's first request and not with the clock's minute. *local* counts
    every request too, so that an outage in the middle of a window gives nobody a new one.
    """

    def __init__(self, redis: SharedRedis, limit: RateLimit, local: RateLimiter) -> None:
        self._redis = redis
        self._take = redis.client.register_script(TAKE)
        self._limit = limit
        self._local = local
        redis.is_tested_by(lambda: self._take([f"{RATE_PREFIX}probe"], [1000]))

    async def take(self, caller: str) -> Allowance:
        """Count one request of *caller*."""
        local = await self._local.take(caller)
        window_s = self._limit.window_s
        keys = [f"{RATE_PREFIX}{{{window_s}}}:{caller}"]

        async def shared() -> Allowance:
            count, left_ms = await self._take(keys, [window_s * 1000])
            return allowance(self._limit, int(count), int(left_ms) / 1000)

        async def taken() -> Allowance:
            return local

        return await self._redis.ask(shared, taken)


class RedisTokenCounter:
    """A TokenCounter over all processes, one round trip each.

    While Redis is down this process adds to the last total that Redis gave, and sends Redis what
    it counted once Redis is back. A lost reply may count tokens twice, but loses none.
    """

    def __init__(self, redis: SharedRedis, clock: Clock) -> None:
        self._redis = redis
        self._spend = redis.client.register_script(SPEND)
        self._clock = clock
        self._day = ""
        self._shared_total = 0
        """The last total that Redis gave."""
        self._unsent = 0
        """Tokens that Redis has not counted yet."""
        redis.is_tested_by(lambda: self._spend([f"{TOKENS_PREFIX}probe"], [1, 1, 0]))

    async def add(self, tokens: int) -> int:
        """Add *tokens*; returns the day's new total."""
        day = self._clock.now().date().isoformat()
        if day != self._day:
            self._day, self._shared_total, self._unsent = day, 0, 0
        self._unsent += tokens
        await self._redis.ask(lambda: self._send(day), nothing)
        return self._shared_total + self._unsent

    async def _send(self, day: str) -> None:
        """Add the unsent tokens in Redis; they stay unsent when that fails or is cancelled."""
        tokens, self._unsent = self._unsent, 0
        total: int | None = None
        try:
            args = [tokens, KEY_TTL_S, self._shared_total]
            total = int(await self._spend([TOKENS_PREFIX + day], args))
        finally:
            if day == self._day:
                if total is None:
                    self._unsent += tokens
                else:
                    self._shared_total = max(self._shared_total, total)
