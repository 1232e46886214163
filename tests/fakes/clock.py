"""A clock that stands still until a test moves it, or sets it."""

from datetime import UTC, datetime, timedelta


class FakeClock:
    """A Clock whose wall time and monotonic time move together, unless the wall time is set."""

    def __init__(self, start: datetime = datetime(2026, 1, 15, 9, 30, tzinfo=UTC)) -> None:
        self._start = start
        self._passed_s = 0.0

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._passed_s)

    def monotonic(self) -> float:
        return 1000.0 + self._passed_s

    def advance(self, seconds: float) -> None:
        """Let *seconds* pass at once."""
        self._passed_s += seconds

    def set_by(self, seconds: float) -> None:
        """Set the wall clock forwards or back; monotonic time does not move."""
        self._start += timedelta(seconds=seconds)
