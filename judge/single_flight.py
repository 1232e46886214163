"""Runs work once for all concurrent callers of the same key, within this process."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class SingleFlight:
    """Running tasks by key; a caller whose key is already running awaits the same task."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[Any]] = {}

    async def share(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of *work*, which starts only if *key* is not running; raises what it raises.

        Cancelling one caller leaves the task running for the others.
        """
        task = self._tasks.get(key)
        if task is None:
            task = asyncio.create_task(work())
            self._tasks[key] = task
            task.add_done_callback(lambda _: self._tasks.pop(key))
        result: T = await asyncio.shield(task)
        return result

    async def aclose(self) -> None:
        """Cancel the running tasks and wait until they have ended."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
