"""Rate limits counted in Redis for all workers, with a fallback inside this process.

A caller's window begins with its first request and not with the clock's minute, so that a caller
never waits for longer than one window.
"""

from judge.adapters.memory.rate_limit import allowance
from judge.adapters.redis.cache import call_redis
from judge.adapters.redis.connect import RedisClient
from judge.adapters.redis.failover import Outage
from judge.ports import RateLimiter
from judge.types.limits import Allowance, RateLimit

PREFIX = "rate:"

# One script, so that no two workers can take the same last request. A window without a TTL
# (somebody ran PERSIST), or with one that is too long (a clock was set back), gets a new TTL. A key
# that holds no count is overwritten: its error would end the shared limit of all callers.
TAKE = """
local window = tonumber(ARGV[1])
local count = redis.pcall('INCR', KEYS[1])
if type(count) ~= 'number' then
  redis.call('SET', KEYS[1], 1)
  count = 1
end
local left = redis.call('PTTL', KEYS[1])
if left < 0 or left > window then
  left = window
  redis.call('PEXPIRE', KEYS[1], left)
end
return {count, left}
"""


class RedisRateLimiter:
    """A RateLimiter over all processes."""

    def __init__(self, client: RedisClient, limit: RateLimit) -> None:
        self._client = client
        self._take = client.register_script(TAKE)
        self._limit = limit

    async def take(self, caller: str) -> Allowance:
        """Count one request of *caller*; raises CacheUnavailable."""
        window_s = self._limit.window_s
        keys = [f"{PREFIX}{{{window_s}}}:{caller}"]
        count, left_ms = await call_redis(self._client, lambda: self._take(keys, [window_s * 1000]))
        return allowance(self._limit, int(count), int(left_ms) / 1000)


class FallbackRateLimiter:
    """A RateLimiter that asks *shared*, and *local* while Redis is down.

    *local* counts every request too, so that an outage in the middle of a window gives nobody a
    new window. During an outage each process has a limit of its own.
    """

    def __init__(self, shared: RateLimiter, local: RateLimiter, outage: Outage) -> None:
        self._shared = shared
        self._local = local
        self._outage = outage

    async def take(self, caller: str) -> Allowance:
        """Count one request of *caller*."""
        local = await self._local.take(caller)

        async def taken() -> Allowance:
            return local

        return await self._outage.ask(lambda: self._shared.take(caller), taken)
