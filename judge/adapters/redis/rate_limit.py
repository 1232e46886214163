"""How often each caller may ask: counted in Redis over all workers, and inside this process.

The count in the process stands in while Redis is away. The window of a caller begins with its first
request, so that no caller's limit ends with the clock's minute and a wait is never longer than one
window.
"""

from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from redis.exceptions import NoScriptError

from judge.adapters.redis.auto_pipeline import AutoPipeline
from judge.adapters.redis.cache import answer_of
from judge.adapters.redis.connect import RedisClient
from judge.adapters.redis.kept_connection import asking_on_kept_connection
from judge.errors import CacheUnavailable
from judge.ports import Clock, Journal, RateLimiter
from judge.types.limits import Allowance, RateLimit

PREFIX = "rate:"

MAX_CALLERS = 50_000
"""About 10 MB in a process; then who has the oldest window is forgotten."""

ASK_AGAIN_S = 1.0
"""How long Redis is left alone after it failed, so that few requests wait for it."""

# One script, so that no two workers can take the same last request. A window that has lost its end
# (somebody ran PERSIST), or ends later than it can (a clock was set back), gets a new one.
TAKE = """
local window = tonumber(ARGV[1])
local taken = {}
for i, key in ipairs(KEYS) do
  local count = redis.call('INCRBY', key, ARGV[i + 1])
  local left = redis.call('PTTL', key)
  if left < 0 or left > window then
    left = window
    redis.call('PEXPIRE', key, left)
  end
  taken[i] = {count, left}
end
return taken
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
    """A RateLimiter over all processes; one script takes for all who ask at once."""

    def __init__(self, client: RedisClient, limit: RateLimit) -> None:
        self._client = client
        self._script = client.register_script(TAKE)
        self._ask = asking_on_kept_connection(client)
        self._limit = limit
        self._round_trips = AutoPipeline(self._take_for)

    async def take(self, caller: str) -> Allowance:
        """Count one request of *caller*; raises CacheUnavailable."""
        return await self._round_trips.ask(caller)

    async def _take_for(self, callers: Sequence[str]) -> list[Allowance]:
        """One request more of each of *callers*, of whom several may be the same."""
        window_s, asked = self._limit.window_s, Counter(callers)
        # Braces, since in a cluster the keys of one script must lie together.
        keys = [f"{PREFIX}{{{window_s}}}:{caller}" for caller in asked]
        args = [window_s * 1000, *asked.values()]
        taken = await answer_of(self._client, lambda: self._run_script(keys, args))
        numbers = {
            caller: (count(int(total) - asked[caller] + 1), int(left_ms) / 1000)
            for caller, (total, left_ms) in zip(asked, taken)
        }
        found = (numbers[caller] for caller in callers)
        return [_allowance(self._limit, next(number), left_s) for number, left_s in found]

    async def _run_script(self, keys: Sequence[str], args: Sequence[int]) -> Any:
        try:
            return await self._ask("EVALSHA", self._script.sha, len(keys), *keys, *args)
        except NoScriptError:  # that has to load it
            return await self._script(keys, args)


class FallbackRateLimiter:
    """A RateLimiter that asks the *shared* one, and the *local* one while that is down.

    Every request is counted here too, so that an outage in the middle of a window gives nobody a
    new one. While it lasts each process has a limit of its own.
    """

    def __init__(
        self, shared: RateLimiter, local: RateLimiter, clock: Clock, journal: Journal
    ) -> None:
        self._shared = shared
        self._local = local
        self._clock = clock
        self._journal = journal
        self._ask_again_at = float("-inf")

    async def take(self, caller: str) -> Allowance:
        """Count one request of *caller*."""
        allowance = await self._local.take(caller)
        if self._clock.monotonic() < self._ask_again_at:
            return allowance
        try:
            return await self._shared.take(caller)
        except CacheUnavailable as error:
            now = self._clock.monotonic()
            if now >= self._ask_again_at:
                self._ask_again_at = now + ASK_AGAIN_S
                self._journal.note("rate_limit.not_shared", reason=str(error))
            return allowance


def _allowance(limit: RateLimit, count: int, reset_s: float) -> Allowance:
    return Allowance(
        is_allowed=count <= limit.requests,
        remaining=max(0, limit.requests - count),
        reset_s=reset_s,
    )
