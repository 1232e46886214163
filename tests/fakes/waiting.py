"""Waits for conditions that send no event, with a deadline, and measures how long work takes."""

import asyncio
import time
from collections.abc import Awaitable, Callable


async def until(claim: Callable[[], bool], timeout_s: float = 20.0) -> None:
    """Return as soon as *claim* is true; raises TimeoutError."""
    async with asyncio.timeout(timeout_s):
        while not claim():  # noqa: ASYNC110  There is no event; that is what this is for.
            await asyncio.sleep(0.002)


async def seconds_of(work: Callable[[], Awaitable[object]]) -> float:
    """How long *work* took by the wall clock."""
    started = time.monotonic()
    await work()
    return time.monotonic() - started


async def is_once_within(
    limit_s: float, measured: Callable[[], Awaitable[float]], tries: int = 4
) -> bool:
    """Whether one of *tries* takes less than *limit_s*; a busy machine slows some, not all."""
    for _ in range(tries):
        if await measured() < limit_s:
            return True
    return False
