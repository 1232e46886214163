"""Today's tokens, counted inside this process."""

from collections import Counter

from judge.ports import Clock


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
