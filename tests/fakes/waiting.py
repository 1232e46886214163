"""Waits, with a deadline, for conditions that set no event, and measures durations."""

import asyncio
import time
from collections.abc import Awaitable, Callable


async def until(condition: Callable[[], bool], timeout_s: float = 20.0) -> None:
    """Return as soon as *condition* is true; raises TimeoutError."""
    async with asyncio.timeout(timeout_s):
        while not condition():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.002)


async def seconds_of(work: Callable[[], Awaitable[object]]) -> float:
    """How long *work* took by the wall clock."""
    started = time.monotonic()
    await work()
    return time.monotonic() - started


async def is_ever_within(
    limit_s: float, measured: Callable[[], Awaitable[float]], tries: int = 4
) -> bool:
    """Whether any of *tries* takes less than *limit_s*; a busy machine slows some, not all."""
    for _ in range(tries):
        if await measured() < limit_s:
            return True
    return False
