"""How many tokens were spent today, in UTC: over all workers in Redis, or inside this process."""

import asyncio
from collections import Counter
from datetime import datetime, time, timedelta

from judge.adapters.redis.cache import MAX_AT_ONCE, answer_of
from judge.adapters.redis.connect import RedisClient
from judge.errors import CacheUnavailable
from judge.ports import Clock, Journal

PREFIX = "tokens:"

KEEP_S = 2 * 24 * 3600
"""A day's count outlives the day, for workers whose clocks run behind."""

ASK_AGAIN_S = 1.0
"""How long Redis is left alone after it failed."""

# Adding and looking are one script. Nothing is written when there is nothing to add.
SPEND = """
local tokens = tonumber(ARGV[1])
if tokens == 0 then return tonumber(redis.call('GET', KEYS[1]) or '0') or 0 end
local total = redis.call('INCRBY', KEYS[1], tokens)
redis.call('EXPIRE', KEYS[1], ARGV[2])
return total
"""


class MemoryTokenBudget:
    """A TokenBudget for one process; it forgets when the process ends."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._totals: Counter[str] = Counter()
        """By day: a clock that is set back and forth over midnight makes no day begin anew."""

    async def spend(self, tokens: int) -> int:
        """Add *tokens*; the total with them."""
        day = _day(self._clock)
        self._totals[day] += tokens
        return self._totals[day]


class RedisTokenBudget:
    """A TokenBudget over all processes, one round trip each.

    While Redis is down this process counts for itself, from the last total that it knew, and
    hands in what it counted when Redis is back. An answer that is lost on the way may count a
    reply twice, never not at all.
    """

    def __init__(
        self,
        client: RedisClient,
        clock: Clock,
        journal: Journal,
        line: asyncio.Semaphore | None = None,
    ) -> None:
        self._line = line or asyncio.Semaphore(MAX_AT_ONCE)
        self._client = client
        self._script = client.register_script(SPEND)
        self._clock = clock
        self._journal = journal
        self._day = ""
        self._shared = 0
        """The last total that Redis gave."""
        self._owed = 0
        """Tokens that Redis has not counted yet."""
        self._ask_again_at = float("-inf")

    async def spend(self, tokens: int) -> int:
        """Add *tokens*; the total with them."""
        day = _day(self._clock)
        if day != self._day:
            self._day, self._shared, self._owed = day, 0, 0
        self._owed += tokens
        if not self._is_left_alone():
            await self._hand_in(day)
        return self._shared + self._owed

    def _is_left_alone(self) -> bool:
        return self._clock.monotonic() < self._ask_again_at

    async def _hand_in(self, day: str) -> None:
        """Tell Redis what it is owed; it stays owed when that fails or is cancelled."""
        handed, self._owed = self._owed, 0
        total: int | None = None
        try:
            async with self._line:
                if self._is_left_alone():  # It failed while this one waited in line.
                    return
                keys, args = [PREFIX + day], [handed, KEEP_S]
                total = int(
                    await answer_of(self._client, lambda: self._script(keys=keys, args=args))
                )
        except CacheUnavailable as error:
            if not self._is_left_alone():
                self._ask_again_at = self._clock.monotonic() + ASK_AGAIN_S
                self._journal.note("budget.not_shared", reason=str(error))
        finally:
            if day == self._day:
                if total is None:
                    self._owed += handed
                else:
                    self._shared = max(self._shared, total)


def seconds_to_midnight(now: datetime) -> float:
    """How long the day of *now*, which is in UTC, still lasts."""
    tomorrow = datetime.combine(now.date() + timedelta(days=1), time(), now.tzinfo)
    return (tomorrow - now).total_seconds()


def _day(clock: Clock) -> str:
    return clock.now().date().isoformat()
