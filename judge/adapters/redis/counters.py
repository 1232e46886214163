"""The requests of each caller and the tokens of the day, counted in Redis for all processes."""

from judge.adapters.memory.counters import allowance
from judge.adapters.redis.shared import SharedRedis, nothing
from judge.ports import Clock, RateLimiter
from judge.types.setting_values import Allowance, RateLimit

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


class RedisRateLimiter:
    """A RateLimiter over all processes, and *local* while Redis is down.

    A caller's window begins with its first request and not with the clock's minute, so that a
    caller never waits for longer than one window. *local* counts every request too, so that an
    outage in the middle of a window gives nobody a new one. During an outage each process has a
    limit of its own.
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
