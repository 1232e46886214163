"""The CPU time of a call, whatever else the machine does, and without the cost of coverage."""

import sys
import time
from collections.abc import Callable

TRACED = 4.0
"""How many times as long our code takes, at most, while its lines are counted for coverage."""


def cpu_seconds(call: Callable[[], object], rounds: int = 2) -> float:
    """CPU seconds that *call* takes this thread when nothing counts its lines.

    The quickest of some *rounds* counts: beside other processes all takes up to twice as long.
    """
    times = []
    for _ in range(rounds):
        started = time.thread_time()
        call()
        times.append(time.thread_time() - started)
    return min(times) / (TRACED if sys.gettrace() else 1.0)
