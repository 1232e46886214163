"""How often each caller may ask: counted in Redis over all workers, or inside this process.

The window of a caller begins with its first request, so that no caller's limit ends with the
clock's minute and a wait is never longer than one window.
"""

from collections import OrderedDict
from dataclasses import dataclass

from redis.asyncio import Redis

from judge.adapters.redis.cache import answering
from judge.errors import CacheUnavailable
from judge.ports import Clock, Journal, RateLimiter
from judge.types.limits import Allowance, RateLimit

PREFIX = "rate:"

MAX_CALLERS = 50_000
"""About 10 MB in a process without Redis; then who has the oldest window is forgotten."""

ASK_AGAIN_S = 1.0
"""How long Redis is left alone after it failed, so that few requests wait for it."""

# One script, so that no two workers can take the same last request. A window that has lost its
# end (somebody ran PERSIST) gets a new one.
TAKE = """
local count = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = tonumber(ARGV[1])
  redis.call('PEXPIRE', KEYS[1], left)
end
return {count, left}
"""


@dataclass(slots=True)
class _Window:
    ends: float
    count: int = 0


class MemoryRateLimiter:
    """A RateLimiter for one process."""

    def __init__(self, limit: RateLimit, clock: Clock, *, max_callers: int = MAX_CALLERS) -> None:
        self._limit = limit
        self._clock = clock
        self._max_callers = max_callers
        self._windows: OrderedDict[str, _Window] = OrderedDict()
        """By the time at which they end, since all are equally long."""

    async def take(self, caller: str) -> Allowance:
        """Count one request of *caller*."""
        now = self._clock.monotonic()
        self._forget(now)
        window = self._windows.setdefault(caller, _Window(now + self._limit.window_s))
        window.count += 1
        return _allowance(self._limit, window.count, window.ends - now)

    def _forget(self, now: float) -> None:
        """Drop the windows that are over, and the oldest when there are too many."""
        while self._windows:
            oldest = next(iter(self._windows))
            if now < self._windows[oldest].ends and len(self._windows) < self._max_callers:
                return
            del self._windows[oldest]


class RedisRateLimiter:
    """A RateLimiter over all processes: one script and one round trip a request."""

    def __init__(self, client: Redis, limit: RateLimit) -> None:
        self._take = client.register_script(TAKE)
        self._limit = limit

    async def take(self, caller: str) -> Allowance:
        """Count one request of *caller*; raises CacheUnavailable."""
        window_s = self._limit.window_s
        key = f"{PREFIX}{window_s}:{caller}"
        async with answering():
            count, left_ms = await self._take(keys=[key], args=[window_s * 1000])
        return _allowance(self._limit, int(count), int(left_ms) / 1000)


class FallbackRateLimiter:
    """A RateLimiter that lets everybody through while the *shared* one is down, and notes it."""

    def __init__(
        self,
        shared: RateLimiter,
        limit: RateLimit,
        clock: Clock,
        journal: Journal,
    ) -> None:
        self._shared = shared
        self._free = Allowance(is_allowed=True, remaining=limit.requests, reset_s=limit.window_s)
        self._clock = clock
        self._journal = journal
        self._ask_again_at = float("-inf")

    async def take(self, caller: str) -> Allowance:
        """Count one request of *caller*; while nobody counts it is allowed."""
        reason = "redis-down"
        if self._clock.monotonic() >= self._ask_again_at:
            try:
                return await self._shared.take(caller)
            except CacheUnavailable:
                self._ask_again_at = self._clock.monotonic() + ASK_AGAIN_S
                reason = "redis-failed"
        self._journal.note("rate_limit.failed_open", reason=reason)
        return self._free


def _allowance(limit: RateLimit, count: int, reset_s: float) -> Allowance:
    return Allowance(
        is_allowed=count <= limit.requests,
        remaining=max(0, limit.requests - count),
        reset_s=reset_s,
    )
