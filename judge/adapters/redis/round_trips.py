"""Asking Redis: in bounded time, and in one round trip for all who ask at the same time.

Every failure becomes CacheUnavailable.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from redis.asyncio import RedisCluster
from redis.exceptions import (
    ClusterCrossSlotError,
    MovedError,
    RedisClusterException,
    RedisError,
)

from judge.adapters.redis.connect import RedisClient
from judge.errors import CacheUnavailable

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")

ANSWER_TIMEOUT_S = 0.25
"""For one operation with its retry; a Redis in the same building answers in about 1 ms."""


@dataclass(frozen=True, slots=True)
class Question(Generic[Asked, Answer]):
    """A kind of thing that many may ask for at once.

    `send` asks a client, or queues in a pipeline, what answers them all; `read` gives the answers
    in the order of what was asked.
    """

    send: Callable[[Any, Sequence[Asked]], Awaitable[Any]]
    read: Callable[[Any, Sequence[Asked]], Sequence[Answer]]


_Waiting = list[tuple[Any, asyncio.Future[Any]]]


class RoundTrips:
    """One is on its way at a time, and is made for all who asked anything since the last one.

    So a burst needs one connection and two round trips, and never waits for anything but Redis.
    In a cluster, where the answers lie on several servers, each Question has a round trip.
    """

    def __init__(self, client: RedisClient) -> None:
        self._client = client
        self._waiting: dict[Question[Any, Any], _Waiting] = {}
        self._running: asyncio.Task[None] | None = None

    async def ask(self, question: Question[Asked, Answer], asked: Asked) -> Answer:
        """The answer to *asked*; raises CacheUnavailable."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(question, []).append((asked, answer))
        if self._running is None:
            # In a context of its own, or its log lines would bear this request's id.
            self._running = asyncio.create_task(self._run(), context=Context())
        return await answer

    async def aclose(self) -> None:
        """Give up what is on its way, or its connection would stay open."""
        if self._running:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _run(self) -> None:
        try:
            while self._waiting:
                waiting, self._waiting = self._waiting, {}
                try:
                    await self._answer(waiting)
                except Exception as error:  # noqa: BLE001 - it is told to all who wait
                    # Who came meanwhile need not wait to be told the same.
                    late, self._waiting = self._waiting, {}
                    for askers in (*waiting.values(), *late.values()):
                        _fail(askers, error)
        finally:
            self._running = None

    async def _answer(self, waiting: dict[Question[Any, Any], _Waiting]) -> None:
        """Make the round trip and hand out what it brought; raises CacheUnavailable."""
        client = self._client
        asked = {question: [one for one, _ in askers] for question, askers in waiting.items()}
        if len(asked) == 1 or isinstance(client, RedisCluster):
            replies = [
                await answer_of(client, partial(question.send, client, all_asked))
                for question, all_asked in asked.items()
            ]
        else:
            async with client.pipeline(transaction=False) as pipeline:
                for question, all_asked in asked.items():
                    _ = question.send(pipeline, all_asked)  # queued, not sent
                # Where Redis takes no more writes what is looked up is there all the same.
                execute = partial(pipeline.execute, raise_on_error=False)
                replies = await answer_of(client, execute)
        for (question, askers), reply in zip(waiting.items(), replies, strict=True):
            if isinstance(reply, Exception):
                _fail(askers, reply)
                continue
            answers = question.read(reply, asked[question])
            for (_, answer), one in zip(askers, answers, strict=True):
                if not answer.done():  # whoever asked has left
                    answer.set_result(one)


def _fail(askers: _Waiting, error: Exception) -> None:
    is_known = isinstance(error, CacheUnavailable)
    reason = str(error) if is_known else f"Redis failed: {type(error).__name__}."
    for _, answer in askers:
        if not answer.done():
            answer.set_exception(CacheUnavailable(reason))


async def answer_of(client: RedisClient, asking: Callable[[], Awaitable[Answer]]) -> Answer:
    """The answer to *asking*; every failure of Redis, silence included, is CacheUnavailable."""
    try:
        async with asyncio.timeout(None) as limit:
            with _Patience(limit, ANSWER_TIMEOUT_S):
                if isinstance(client, RedisCluster):
                    # Commands that come before it knows its nodes are sent to any of them.
                    _ = await client.initialize()
                return await asking()
    except TimeoutError as error:
        message = f"Redis did not answer within {ANSWER_TIMEOUT_S:g} seconds."
        raise CacheUnavailable(message) from error
    except (MovedError, ClusterCrossSlotError) as error:
        message = "Redis is a cluster: begin REDIS_URL with redis+cluster://."
        raise CacheUnavailable(message) from error
    except (RedisError, RedisClusterException, OSError, AttributeError) as error:
        # A cluster's client closes connections in use when a node is lost; their users then find
        # no writer where it was, an AttributeError.
        raise CacheUnavailable(f"Redis failed: {type(error).__name__}.") from error


class _Patience:
    """Ends *limit* after *seconds* in which this process was listening.

    In a busy process the answer may lie in the socket, unread. A slice that ends late counts once,
    so the loop turns a dozen times before Redis is blamed; even a new connection needs no more.
    """

    def __init__(self, limit: asyncio.Timeout, seconds: float, slices: int = 12) -> None:
        self._limit = limit
        self._slice_s = seconds / slices
        self._left = slices

    def __enter__(self) -> None:
        self._end_slice()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def _end_slice(self) -> None:
        """Begin the next one, or end it all."""
        loop = asyncio.get_running_loop()
        if self._left:
            self._left -= 1
            self._timer = loop.call_later(self._slice_s, self._end_slice)
        else:
            self._limit.reschedule(loop.time())
