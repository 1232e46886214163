"""Waiting for something that sends no event, with a deadline."""

import asyncio
from collections.abc import Callable


async def until(claim: Callable[[], bool], timeout_s: float = 5.0) -> None:
    """Return as soon as *claim* is true; raises TimeoutError."""
    async with asyncio.timeout(timeout_s):
        while not claim():  # noqa: ASYNC110  There is no event; that is what this is for.
            await asyncio.sleep(0.002)
