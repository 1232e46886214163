"""One round trip to Redis for all who ask for the same kind of thing at the same time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from typing import Generic, TypeVar

from judge.errors import CacheUnavailable

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class AutoPipeline(Generic[Asked, Answer]):
    """One is on its way at a time; the next is made for all who asked since it began.

    So a burst needs one connection and two round trips, and never waits for anything but Redis.
    *ask_for_all* gives the answers in the order of what was asked, and raises CacheUnavailable.
    """

    def __init__(
        self, ask_for_all: Callable[[Sequence[Asked]], Awaitable[Sequence[Answer]]]
    ) -> None:
        self._ask_for_all = ask_for_all
        self._waiting: list[tuple[Asked, asyncio.Future[Answer]]] = []
        self._is_on_its_way = False
        self._running: asyncio.Task[None] | None = None

    async def ask(self, asked: Asked) -> Answer:
        """The answer to *asked*; raises CacheUnavailable."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, answer))
        if not self._is_on_its_way:
            # By the caller itself: a task would cost two turns of the loop.
            await self._ask_for_those_who_wait()
        return await answer

    async def aclose(self) -> None:
        """Give up what is on its way, or its connection would stay open."""
        self._waiting = []
        if self._running:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _ask_for_those_who_wait(self) -> None:
        waiting, self._waiting, self._is_on_its_way = self._waiting, [], True
        try:
            found = await self._ask_for_all([asked for asked, _ in waiting])
        except Exception as error:  # noqa: BLE001 - it is told to all who wait
            # Who came meanwhile need not wait to be told the same.
            waiting, self._waiting = waiting + self._waiting, []
            _fail(waiting, error)
        else:
            for (_, answer), one in zip(waiting, found, strict=True):
                if not answer.done():  # whoever asked has left
                    answer.set_result(one)
        finally:
            self._is_on_its_way = bool(self._waiting)
            if self._waiting:
                # In a context of its own, or its log lines would bear this request's id.
                following = self._ask_for_those_who_wait()
                self._running = asyncio.create_task(following, context=Context())


def _fail(waiting: Sequence[tuple[Asked, asyncio.Future[Answer]]], error: Exception) -> None:
    is_known = isinstance(error, CacheUnavailable)
    reason = str(error) if is_known else f"Redis failed: {type(error).__name__}."
    for _, answer in waiting:
        if not answer.done():
            answer.set_exception(CacheUnavailable(reason))
