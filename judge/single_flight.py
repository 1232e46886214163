"""Work that many ask for at once and that is done once, within this process."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class SingleFlight:
    """Running work by key; whoever asks for a key that is under way shares its result."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[Any]] = {}

    async def share(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of *work*, started only if *key* is not under way; raises what it raises.

        A caller who is cancelled leaves the work running for the others.
        """
        task = self._tasks.get(key)
        if task is None:
            task = asyncio.create_task(work())
            self._tasks[key] = task
            task.add_done_callback(lambda _: self._tasks.pop(key))
        result: T = await asyncio.shield(task)
        return result

    async def aclose(self) -> None:
        """Cancel what is under way and wait until it has ended."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
