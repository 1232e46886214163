"""How often each caller may ask: counted in Redis over all workers, and inside this process.

The count in the process stands in while Redis is away. The window of a caller begins with its first
request, so that no caller's limit ends with the clock's minute and a wait is never longer than one
window.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass

from judge.adapters.redis.cache import answering
from judge.adapters.redis.connect import RedisClient
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
    """A RateLimiter over all processes.

    One script is on its way at a time and takes for all who asked since the last one. So a burst
    needs one connection and two round trips, and never waits for anything but Redis.
    """

    def __init__(self, client: RedisClient, limit: RateLimit) -> None:
        self._client = client
        self._take = client.register_script(TAKE)
        self._limit = limit
        self._asked: dict[str, list[asyncio.Future[Allowance]]] = {}
        """By caller, those that the next script takes for."""
        self._sending: asyncio.Task[None] | None = None

    async def take(self, caller: str) -> Allowance:
        """Count one request of *caller*; raises CacheUnavailable."""
        answer: asyncio.Future[Allowance] = asyncio.get_running_loop().create_future()
        self._asked.setdefault(caller, []).append(answer)
        if self._sending is None:
            # In a context of its own, or its log lines would bear this request's id.
            self._sending = asyncio.create_task(self._send(), context=Context())
        return await answer

    async def _send(self) -> None:
        try:
            while self._asked:
                asked, self._asked = self._asked, {}
                try:
                    await self._take_for(asked)
                except CacheUnavailable as error:
                    # Who came meanwhile need not wait to be told the same.
                    for answers in (*asked.values(), *self._asked.values()):
                        _fail(answers, error)
                    self._asked = {}
        finally:
            self._sending = None

    async def _take_for(self, asked: Mapping[str, Sequence[asyncio.Future[Allowance]]]) -> None:
        window_s = self._limit.window_s
        # Braces, since in a cluster the keys of one script must lie together.
        keys = [f"{PREFIX}{{{window_s}}}:{caller}" for caller in asked]
        counts = [len(answers) for answers in asked.values()]
        async with answering(self._client):
            taken = await self._take(keys=keys, args=[window_s * 1000, *counts])
        for answers, (count, left_ms) in zip(asked.values(), taken, strict=True):
            first = int(count) - len(answers) + 1
            for number, answer in enumerate(answers, first):
                if not answer.done():  # whoever asked has left
                    answer.set_result(_allowance(self._limit, number, int(left_ms) / 1000))


def _fail(answers: Sequence[asyncio.Future[Allowance]], error: CacheUnavailable) -> None:
    for answer in answers:
        if not answer.done():
            answer.set_exception(CacheUnavailable(str(error)))


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
