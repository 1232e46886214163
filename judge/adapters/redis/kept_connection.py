"""A connection to Redis that is kept by whoever asks one thing at a time.

redis-py takes one from its pool for each command and gives it back, with locks, a task and a dozen
coroutines on the way, which was two thirds of what a command costs.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import hiredis
from redis.asyncio import Redis, RedisCluster
from redis.exceptions import ConnectionError as ConnectionLost

from judge.adapters.redis.connect import RedisClient

if TYPE_CHECKING:
    from redis.asyncio.connection import AbstractConnection

Ask = Callable[..., Awaitable[Any]]
"""The answer to a command, given word by word; raises what redis-py raises."""


def asking_on_kept_connection(client: RedisClient) -> Ask:
    """Asks *client* one thing at a time, which must bear being asked twice."""
    # In a cluster each command goes to the server that has its keys.
    return client.execute_command if isinstance(client, RedisCluster) else _Kept(client).ask


class _Kept:
    """One of *client*'s connections, closed with *client*."""

    def __init__(self, client: Redis) -> None:
        self._pool = client.connection_pool
        self._connection: AbstractConnection | None = None

    async def ask(self, *command: str | int) -> Any:
        """The answer; whoever gives up waiting closes the connection, the next opens it again."""
        packed = [hiredis.pack_command(command)]  # type: ignore[arg-type]  # it takes any length
        try:
            return await self._ask(packed)
        except ConnectionLost:  # servers and proxies end those that were idle for long
            return await self._ask(packed)

    async def _ask(self, packed: list[bytes]) -> Any:
        if self._connection is None:
            self._connection = await self._pool.get_connection()  # type: ignore[no-untyped-call]
        elif not self._connection.is_connected:  # it would forget to ask sentinels for the master
            await self._connection.connect()  # type: ignore[no-untyped-call]
        await self._connection.send_packed_command(packed, check_health=False)
        return await self._connection.read_response()
