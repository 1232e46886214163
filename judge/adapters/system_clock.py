"""The system time, for everything outside tests."""

import time
from datetime import UTC, datetime


class SystemClock:
    """A Clock that reads this machine's clocks."""

    def now(self) -> datetime:
        """The current time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since some moment in the past; never runs backwards."""
        return time.monotonic()
