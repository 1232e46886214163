"""Batches the concurrent requests of one kind into one round trip to Redis."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from typing import Generic, TypeVar

from judge.errors import CacheUnavailable

Request = TypeVar("Request")
Reply = TypeVar("Reply")


class AutoPipeline(Generic[Request, Reply]):
    """Sends one batch at a time; requests that come meanwhile form the next batch.

    So a burst needs one connection and two round trips, and never waits for anything but Redis.
    *send_batch* returns a reply for each request, in order, or raises CacheUnavailable.
    """

    def __init__(
        self, send_batch: Callable[[Sequence[Request]], Awaitable[Sequence[Reply]]]
    ) -> None:
        self._send_batch = send_batch
        self._queue: list[tuple[Request, asyncio.Future[Reply]]] = []
        self._is_sending = False
        self._task: asyncio.Task[None] | None = None

    async def send(self, request: Request) -> Reply:
        """The reply to *request*; raises CacheUnavailable."""
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._queue.append((request, future))
        if not self._is_sending:
            # By the caller itself: a task would cost two turns of the loop.
            await self._send_queue()
        return await future

    async def aclose(self) -> None:
        """Cancel the batch that is being sent, or its connection would stay open."""
        self._queue = []
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _send_queue(self) -> None:
        batch, self._queue, self._is_sending = self._queue, [], True
        try:
            replies = await self._send_batch([request for request, _ in batch])
        except Exception as error:  # noqa: BLE001 - every waiting caller gets it
            # Requests that came meanwhile would most likely fail as well.
            batch, self._queue = batch + self._queue, []
            _fail(batch, error)
        else:
            for (_, future), reply in zip(batch, replies, strict=True):
                if not future.done():  # the caller was cancelled
                    future.set_result(reply)
        finally:
            self._is_sending = bool(self._queue)
            if self._queue:
                # In a context of its own, or its log lines would bear this request's id.
                self._task = asyncio.create_task(self._send_queue(), context=Context())


def _fail(batch: Sequence[tuple[Request, asyncio.Future[Reply]]], error: Exception) -> None:
    is_known = isinstance(error, CacheUnavailable)
    reason = str(error) if is_known else f"Redis failed: {type(error).__name__}."
    for _, future in batch:
        if not future.done():
            future.set_exception(CacheUnavailable(reason))
