"""Measures the CPU time of a call, corrected for the cost of coverage."""

import sys
import time
from collections.abc import Callable

COVERAGE_SLOWDOWN = 4.0
"""By how much coverage slows our code down, at most."""


def cpu_seconds(call: Callable[[], object], rounds: int = 2) -> float:
    """CPU seconds that *call* takes on this thread, without coverage.

    The fastest of some *rounds* counts: beside other processes a call takes up to twice as long.
    """
    times = []
    for _ in range(rounds):
        started = time.thread_time()
        call()
        times.append(time.thread_time() - started)
    return min(times) / (COVERAGE_SLOWDOWN if sys.gettrace() else 1.0)
