"""Admission control: how many judgements a process takes on, and how quickly it starts them.

The event loop sets the pace: one judgement starts at each turn of the loop. In a burst turns become
long, so new judgements wait in the queue, which costs nothing, and running ones stay quick.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from judge.errors import Overloaded

MAX_WAIT_SHARE = 1 / 2
"""Of the deadline: a judgement that starts later would hardly be answered in time."""


class Admission:
    """Bounds the judgements of one process; used as `async with admission():`.

    At most *capacity* are running or queued. None is queued for longer than *max_wait_s*.
    """

    def __init__(self, capacity: int, max_wait_s: float) -> None:
        self._capacity = capacity
        self._max_wait_s = max_wait_s
        self._count = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self._is_scheduled = False
        """Whether the next turn of the loop admits a judgement."""

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[None]:
        """Hold a place for the length of the block; raises Overloaded when there is none."""
        if self._count >= self._capacity:
            raise Overloaded
        self._count += 1
        try:
            if self._is_scheduled:
                await self._wait_in_queue()
            else:
                self._schedule()
            yield
        finally:
            self._count -= 1

    async def _wait_in_queue(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            async with asyncio.timeout(self._max_wait_s):
                await turn
        except TimeoutError:
            raise Overloaded from None

    def _schedule(self) -> None:
        self._is_scheduled = True
        asyncio.get_running_loop().call_soon(self._admit_next)

    def _admit_next(self) -> None:
        """Admit the first in the queue who has not been cancelled."""
        self._is_scheduled = False
        while self._queue and not self._is_scheduled:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                self._schedule()
