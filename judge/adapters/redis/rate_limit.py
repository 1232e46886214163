"""Rate limits counted in Redis for all workers, with a fallback inside this process.

A caller's window begins with its first request and not with the clock's minute, so that a caller
never waits for longer than one window.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import Any

from redis.exceptions import NoScriptError

from judge.adapters.memory.rate_limit import allowance
from judge.adapters.redis.auto_pipeline import AutoPipeline
from judge.adapters.redis.cache import call_redis
from judge.adapters.redis.connect import RedisClient
from judge.adapters.redis.dedicated_connection import dedicated_execute
from judge.errors import CacheUnavailable
from judge.ports import Clock, Journal, RateLimiter
from judge.types.limits import Allowance, RateLimit

PREFIX = "rate:"

BACKOFF_S = 1.0
"""How long Redis is not asked after it failed, so that few requests wait for it."""

# One script, so that no two workers can take the same last request. A window without a TTL
# (somebody ran PERSIST), or with one that is too long (a clock was set back), gets a new TTL. A key
# that holds no count is overwritten: its error would end the shared limit of all callers.
TAKE = """
local window = tonumber(ARGV[1])
local taken = {}
for i, key in ipairs(KEYS) do
  local count = redis.pcall('INCRBY', key, ARGV[i + 1])
  if type(count) ~= 'number' then
    redis.call('SET', key, ARGV[i + 1])
    count = tonumber(ARGV[i + 1])
  end
  local left = redis.call('PTTL', key)
  if left < 0 or left > window then
    left = window
    redis.call('PEXPIRE', key, left)
  end
  taken[i] = {count, left}
end
return taken
"""


class RedisRateLimiter:
    """A RateLimiter over all processes; one script counts all concurrent requests."""

    def __init__(self, client: RedisClient, limit: RateLimit) -> None:
        self._client = client
        self._script = client.register_script(TAKE)
        self._execute = dedicated_execute(client)
        self._limit = limit
        self._pipeline = AutoPipeline(self._take_all)

    async def take(self, caller: str) -> Allowance:
        """Count one request of *caller*; raises CacheUnavailable."""
        return await self._pipeline.send(caller)

    async def _take_all(self, callers: Sequence[str]) -> list[Allowance]:
        """Count one request for each item of *callers*; a caller may occur several times."""
        window_s, requests = self._limit.window_s, Counter(callers)
        # A hash tag, since in a cluster all keys of a script must be in one slot.
        keys = [f"{PREFIX}{{{window_s}}}:{caller}" for caller in requests]
        args = [window_s * 1000, *requests.values()]
        windows = await call_redis(self._client, lambda: self._run_script(keys, args))
        numbers = {
            caller: (count(int(total) - requests[caller] + 1), int(left_ms) / 1000)
            for caller, (total, left_ms) in zip(requests, windows)
        }
        numbered = (numbers[caller] for caller in callers)
        return [allowance(self._limit, next(number), left_s) for number, left_s in numbered]

    async def _run_script(self, keys: Sequence[str], args: Sequence[int]) -> Any:
        try:
            return await self._execute("EVALSHA", self._script.sha, len(keys), *keys, *args)
        except NoScriptError:  # this call loads it
            return await self._script(keys, args)


class FallbackRateLimiter:
    """A RateLimiter that asks *shared*, and *local* while *shared* is down.

    *local* counts every request too, so that an outage in the middle of a window gives nobody a
    new window. During an outage each process has a limit of its own.
    """

    def __init__(
        self, shared: RateLimiter, local: RateLimiter, clock: Clock, journal: Journal
    ) -> None:
        self._shared = shared
        self._local = local
        self._clock = clock
        self._journal = journal
        self._retry_at = float("-inf")

    async def take(self, caller: str) -> Allowance:
        """Count one request of *caller*."""
        allowance = await self._local.take(caller)
        if self._clock.monotonic() < self._retry_at:
            return allowance
        try:
            return await self._shared.take(caller)
        except CacheUnavailable as error:
            now = self._clock.monotonic()
            if now >= self._retry_at:
                self._retry_at = now + BACKOFF_S
                self._journal.note("rate_limit.not_shared", reason=str(error))
            return allowance
