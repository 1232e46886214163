"""The requests of each caller and the tokens of the day, counted inside this process."""

from collections import Counter, OrderedDict
from dataclasses import dataclass

from judge.ports import Clock
from judge.types.setting_values import Allowance, RateLimit

MAX_CALLERS = 50_000
"""About 10 MB in a process; past it the caller with the oldest window is forgotten."""


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
        """In the order in which they end, since all are equally long."""

    async def take(self, caller: str) -> Allowance:
        """Count one request of *caller*."""
        now = self._clock.monotonic()
        self._evict(now)
        window = self._windows.setdefault(caller, _Window(now + self._limit.window_s))
        window.count += 1
        return allowance(self._limit, window.count, window.ends - now)

    def _evict(self, now: float) -> None:
        """Drop the windows that have ended, and the oldest when there are too many."""
        while self._windows:
            oldest = next(iter(self._windows))
            if now < self._windows[oldest].ends and len(self._windows) < self._max_callers:
                return
            del self._windows[oldest]


def allowance(limit: RateLimit, count: int, reset_s: float) -> Allowance:
    """The Allowance for request number *count* of a window that ends in *reset_s* seconds."""
    return Allowance(
        is_allowed=count <= limit.requests,
        remaining=max(0, limit.requests - count),
        reset_s=reset_s,
    )


class MemoryTokenCounter:
    """A TokenCounter for one process; its counts are lost when the process ends."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._totals: Counter[str] = Counter()
        """By day: a clock that is set back and forth over midnight starts no day anew."""

    async def add(self, tokens: int) -> int:
        """Add *tokens*; returns the day's new total."""
        day = self._clock.now().date().isoformat()
        self._totals[day] += tokens
        return self._totals[day]
