"""A connection to Redis that one caller keeps, for callers that send one command at a time.

For each command redis-py takes a connection from its pool and gives it back, with locks, a task
and a dozen coroutines on the way: two thirds of what a command costs.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import hiredis
from redis.asyncio import Redis, RedisCluster
from redis.exceptions import ConnectionError as ConnectionLost

from judge.adapters.redis.connect import RedisClient

if TYPE_CHECKING:
    from redis.asyncio.connection import AbstractConnection

ExecuteCommand = Callable[..., Awaitable[Any]]
"""Sends a command, given word by word, and returns the reply; raises what redis-py raises."""


def dedicated_execute(client: RedisClient) -> ExecuteCommand:
    """Executes commands over one connection of *client*; they must be safe to repeat."""
    # In a cluster each command goes to the server that has its keys.
    if isinstance(client, RedisCluster):
        return client.execute_command
    return _DedicatedConnection(client).execute


class _DedicatedConnection:
    """One of *client*'s connections, closed with *client*."""

    def __init__(self, client: Redis) -> None:
        self._pool = client.connection_pool
        self._connection: AbstractConnection | None = None

    async def execute(self, *command: str | int) -> Any:
        """The reply; a cancelled call closes the connection, and the next call reconnects."""
        packed = [hiredis.pack_command(command)]  # type: ignore[arg-type]  # it takes any length
        try:
            return await self._send(packed)
        except ConnectionLost:  # servers and proxies close connections that were idle for long
            return await self._send(packed)

    async def _send(self, packed: list[bytes]) -> Any:
        if self._connection is None:
            self._connection = await self._pool.get_connection()  # type: ignore[no-untyped-call]
        elif not self._connection.is_connected:  # sending alone would not ask the sentinels again
            await self._connection.connect()  # type: ignore[no-untyped-call]
        await self._connection.send_packed_command(packed, check_health=False)
        return await self._connection.read_response()
