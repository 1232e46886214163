"""Admission control: how many judgements one process takes on."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from judge.errors import Overloaded


class Admission:
    """At most *capacity* judgements at once; used as `async with admission():`."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._count = 0

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[None]:
        """Hold a place for the length of the block; raises Overloaded when there is none."""
        if self._count >= self._capacity:
            raise Overloaded
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1
