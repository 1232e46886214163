"""The real time, for everything outside tests."""

import time
from datetime import UTC, datetime


class SystemClock:
    """A Clock that reads this machine's."""

    def now(self) -> datetime:
        """The present moment in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since some moment in the past; never runs backwards."""
        return time.monotonic()
