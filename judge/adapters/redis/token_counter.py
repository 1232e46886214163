"""How many tokens all workers have spent today (UTC), counted in Redis."""

import asyncio

from judge.adapters.redis.cache import MAX_CONCURRENT_CALLS, call_redis
from judge.adapters.redis.connect import RedisClient
from judge.errors import CacheUnavailable
from judge.ports import Clock, Journal

PREFIX = "tokens:"

KEY_TTL_S = 2 * 24 * 3600
"""A day's count outlives the day, for workers whose clocks run behind."""

BACKOFF_S = 1.0
"""How long Redis is not asked after it failed."""

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


class RedisTokenCounter:
    """A TokenCounter over all processes, one round trip each.

    While Redis is down this process adds to the last total that Redis gave, and sends Redis what
    it counted once Redis is back. A lost reply may count tokens twice, but loses none.
    """

    def __init__(
        self,
        client: RedisClient,
        clock: Clock,
        journal: Journal,
        semaphore: asyncio.Semaphore | None = None,
    ) -> None:
        self._semaphore = semaphore or asyncio.Semaphore(MAX_CONCURRENT_CALLS)
        self._client = client
        self._script = client.register_script(SPEND)
        self._clock = clock
        self._journal = journal
        self._day = ""
        self._shared_total = 0
        """The last total that Redis gave."""
        self._unsent = 0
        """Tokens that Redis has not counted yet."""
        self._retry_at = float("-inf")

    async def add(self, tokens: int) -> int:
        """Add *tokens*; returns the day's new total."""
        day = self._clock.now().date().isoformat()
        if day != self._day:
            self._day, self._shared_total, self._unsent = day, 0, 0
        self._unsent += tokens
        if not self._is_backing_off():
            await self._send(day)
        return self._shared_total + self._unsent

    def _is_backing_off(self) -> bool:
        return self._clock.monotonic() < self._retry_at

    async def _send(self, day: str) -> None:
        """Add the unsent tokens in Redis; they stay unsent when that fails or is cancelled."""
        tokens, self._unsent = self._unsent, 0
        total: int | None = None
        try:
            async with self._semaphore:
                if self._is_backing_off():  # Redis failed while this call waited.
                    return
                keys, args = [PREFIX + day], [tokens, KEY_TTL_S, self._shared_total]
                total = int(
                    await call_redis(self._client, lambda: self._script(keys=keys, args=args))
                )
        except CacheUnavailable as error:
            if not self._is_backing_off():
                self._retry_at = self._clock.monotonic() + BACKOFF_S
                self._journal.note("budget.not_shared", reason=str(error))
        finally:
            if day == self._day:
                if total is None:
                    self._unsent += tokens
                else:
                    self._shared_total = max(self._shared_total, total)
