"""A connection to Redis that is kept by whoever asks one thing at a time.

redis-py takes one from its pool for each command and gives it back, with locks, a task and a dozen
coroutines on the way, which was two thirds of what a command costs.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import Any

import hiredis
from redis.asyncio import Redis, RedisCluster
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as ConnectionLost

from judge.adapters.redis.connect import RedisClient

Ask = Callable[..., Awaitable[Any]]
"""The answer to a command, given word by word; raises what redis-py raises."""


def asking_on_kept_connection(client: RedisClient) -> Ask:
    """Asks *client* one thing at a time, which must bear being asked twice."""
    # In a cluster each command goes to the server that has its keys.
    return client.execute_command if isinstance(client, RedisCluster) else _Kept(client).ask


class _Kept:
    """One of *client*'s connections, closed with *client*."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._connection: AbstractConnection | None = None

    async def ask(self, *command: str | int) -> Any:
        """The answer; whoever gives up waiting closes the connection, the next opens it again."""
        try:
            return await self._ask(command)
        except ConnectionLost:  # servers and proxies end those that were idle for long
            return await self._ask(command)

    async def _ask(self, command: tuple[str | int, ...]) -> Any:
        connection = self._connection
        if connection is None or not connection.is_connected:
            # In a context of its own, or what it ever logs would bear this request's id.
            connection = await asyncio.create_task(self._open(), context=Context())
        # redis-py would pack it in Python.
        packed = [hiredis.pack_command(command)]  # type: ignore[arg-type]  # it takes any length
        await connection.send_packed_command(packed, check_health=False)
        return await connection.read_response()

    async def _open(self) -> AbstractConnection:
        if self._connection is None:
            pool = self._client.connection_pool
            self._connection = await pool.get_connection()  # type: ignore[no-untyped-call]
        else:
            await self._connection.connect()  # type: ignore[no-untyped-call]
        return self._connection
