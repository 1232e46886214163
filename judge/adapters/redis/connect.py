"""Redis-py's client for what REDIS_URL names, and calls whose every failure is CacheUnavailable."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from redis.asyncio import (
    BlockingConnectionPool,
    Redis,
    RedisCluster,
    Sentinel,
    SentinelConnectionPool,
    SSLConnection,
)
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff
from redis.exceptions import (
    ClusterCrossSlotError,
    MovedError,
    RedisClusterException,
    RedisError,
    ResponseError,
)

from judge.errors import CacheUnavailable, ConfigurationError
from judge.types.setting_values import RedisAddress, parse_redis_url

RedisClient = Redis | RedisCluster
Reply = TypeVar("Reply")

MAX_CONNECTIONS = 64
"""To one server; `Outage` lets fewer calls run at once."""

REPLY_TIMEOUT_S = 0.25
"""For one call with its retry; a Redis in the same building replies in about 1 ms."""

SLICES = 12
"""Turns of the event loop before Redis is blamed: in a busy process its reply may have arrived and
not been read. Even a new connection needs no more."""

CONNECT_TIMEOUT_S = 1.0
"""To connect, to learn the nodes of a cluster, or to get a connection from the pool."""

SENTINEL_TIMEOUT_S = 0.1
"""For one sentinel, so that the next can still be asked within the time-out of a call."""

SENTINEL_PORT = 26379
REDIS_PORT = 6379

_BEFORE_ARGUMENTS = re.compile(r", with args|Command # | script: | : <|\. ")
"""What follows in an error message repeats what was sent, even a password, or does not help."""


def connect(url: str) -> RedisClient:
    """A client for *url*, which connects when first used.

    Options in the query of *url* win over ours. Raises ConfigurationError, whose text does not
    repeat the address, which may hold a password.
    """
    try:
        address = parse_redis_url(url)
    except ValueError as error:
        raise ConfigurationError(f"REDIS_URL cannot be used: it {error}.") from None
    options: dict[str, Any] = {
        "max_connections": MAX_CONNECTIONS,
        "socket_timeout": None,  # call_redis has one for the whole call
        "socket_connect_timeout": CONNECT_TIMEOUT_S,
        # Writes are idempotent here, so one repeat is safe; the default of ten takes too long.
        "retry": Retry(ExponentialWithJitterBackoff(cap=0.05, base=0.01), 1),
        # redis-py speaks RESP3 by default, which servers before 6 and some proxies do not know.
        "protocol": 2,
        "decode_responses": True,
        # Bytes that are not UTF-8 become lone surrogates, which the cache recognises.
        "encoding_errors": "surrogateescape",
    }
    try:
        return _client(address, options)
    except (ValueError, TypeError, AttributeError, RedisError, RedisClusterException) as error:
        raise ConfigurationError(
            f"REDIS_URL cannot be used: an option after its question mark is wrong ({error})."
        ) from None


def _client(address: RedisAddress, options: dict[str, Any]) -> RedisClient:
    if address.layout == "cluster":
        hosts, shared = _hosts(address, REDIS_PORT)
        nodes = [ClusterNode(host, port) for host, port in hosts]
        # By default every fifth MOVED reply closes all connections, those in use too, whose
        # commands are then sent again.
        return RedisCluster(startup_nodes=nodes, reinitialize_steps=0, **{**options, **shared})
    if address.layout == "sentinel":
        client = _master(address, options)
    else:
        [url] = address.urls
        client = Redis.from_pool(
            BlockingConnectionPool.from_url(url, timeout=CONNECT_TIMEOUT_S, **options)
        )
    # Options are checked when a connection is made: do it now, or each request would fail.
    connections = client.connection_pool
    connections.connection_class(**connections.connection_kwargs)
    return client


def _master(address: RedisAddress, options: dict[str, Any]) -> Redis:
    hosts, shared = _hosts(address, SENTINEL_PORT)
    sentinels = _Sentinels(
        hosts,
        sentinel_kwargs={
            "socket_timeout": SENTINEL_TIMEOUT_S,
            "socket_connect_timeout": SENTINEL_TIMEOUT_S,
            "retry": Retry(NoBackoff(), 0),
            "protocol": 2,
            "ssl": shared.get("ssl", False),
            "password": shared.pop("sentinel_password", None),
        },
    )
    master: Redis = sentinels.master_for(address.service, **{**options, **shared})
    return master


class _Sentinels(Sentinel):
    """Sentinels that are asked one caller at a time.

    redis-py swaps the sentinel that answered to the front of its list, and so overwrites another
    one when several connections ask at once.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)  # type: ignore[no-untyped-call]
        self._turn = asyncio.Lock()

    async def discover_master(self, service_name: str) -> Any:
        """The address of the master, from the first sentinel that answers."""
        async with self._turn:
            return await super().discover_master(service_name)


def _hosts(address: RedisAddress, port: int) -> tuple[list[tuple[str, int]], dict[str, Any]]:
    """The hosts of *address*, and the options that all of them share."""
    parsed: list[dict[str, Any]] = [dict(parse_url(text)) for text in address.urls]
    hosts = [(url.pop("host"), url.pop("port", port)) for url in parsed]
    shared = parsed[0]
    if shared.pop("connection_class", None) is SSLConnection:
        shared["ssl"] = True
    return hosts, shared


async def disconnect(client: RedisClient) -> None:
    """Close all connections of *client*, also those to its sentinels."""
    await client.aclose()
    if isinstance(client, Redis):
        pool = client.connection_pool
        if isinstance(pool, SentinelConnectionPool):
            await pool.sentinel_manager.aclose()


async def call_redis(client: RedisClient, call: Callable[[], Awaitable[Reply]]) -> Reply:
    """The reply to *call*; every failure of Redis, silence included, is CacheUnavailable."""
    try:
        if isinstance(client, RedisCluster):
            # Until it knows its nodes, the client would send commands to any of them.
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                _ = await client.initialize()
        return await _within(REPLY_TIMEOUT_S, call)
    except TimeoutError as error:
        message = "Redis did not answer in time."
        raise CacheUnavailable(message) from error
    except (MovedError, ClusterCrossSlotError) as error:
        message = "Redis is a cluster: begin REDIS_URL with redis+cluster://."
        raise CacheUnavailable(message) from error
    except (RedisError, RedisClusterException, OSError, AttributeError, ValueError) as error:
        # When a node is lost, the cluster client closes connections in use: calls that use them
        # then fail with AttributeError, since the writer is gone. A ValueError is a reply that
        # has no length where one belongs.
        reason = f"{type(error).__name__}{_message(error)}"
        raise CacheUnavailable(f"Redis failed: {reason}.") from error


async def _within(seconds: float, call: Callable[[], Awaitable[Reply]]) -> Reply:
    """The reply to *call*; raises TimeoutError after *seconds* in which the loop was free."""
    calling = asyncio.ensure_future(call())
    try:
        for _ in range(SLICES):
            await asyncio.wait([calling], timeout=seconds / SLICES)
            if calling.done():
                return calling.result()
        raise TimeoutError
    finally:
        calling.cancel()


def _message(error: BaseException) -> str:
    """The message of the system or of Redis, in brackets, without what was sent."""
    while not isinstance(error, ResponseError) and (cause := error.__cause__ or error.__context__):
        error = cause
    message = _BEFORE_ARGUMENTS.split(str(error))[0].rstrip(".")
    return f" ({message})" if message else ""
