"""How many judgements a process takes on, and how quickly: past its bounds others are sent away.

The event loop itself sets the pace. It lets one in at each of its turns, so that a burst, whose
turns become long, waits in line and costs nothing, and who is inside stays quick.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from judge.errors import Overloaded

PATIENCE_SHARE = 1 / 2
"""Of the deadline: who is let in later would hardly be answered in time."""


class Admission:
    """A bound on the judgements of one process and the line in front of it.

    At most *most* are inside or in line. Nobody stands in line longer than *patience_s*.
    """

    def __init__(self, most: int, patience_s: float) -> None:
        self._most = most
        self._patience_s = patience_s
        self._count = 0
        self._line: deque[asyncio.Future[None]] = deque()
        self._is_turning = False
        """The next turn of the loop lets somebody in."""

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[None]:
        """Be inside for the length of the block; raises Overloaded when there is no room."""
        if self._count >= self._most:
            raise Overloaded
        self._count += 1
        try:
            if self._is_turning:
                await self._stand_in_line()
            else:
                self._take_turns()
            yield
        finally:
            self._count -= 1

    async def _stand_in_line(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        try:
            async with asyncio.timeout(self._patience_s):
                await turn
        except TimeoutError:
            raise Overloaded from None

    def _take_turns(self) -> None:
        self._is_turning = True
        asyncio.get_running_loop().call_soon(self._let_in)

    def _let_in(self) -> None:
        """Let in the first who still waits."""
        self._is_turning = False
        while self._line and not self._is_turning:
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(None)
                self._take_turns()
