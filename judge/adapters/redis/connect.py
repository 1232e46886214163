"""Opens redis-py's client for what REDIS_URL names: a server, its sentinels, or a cluster."""

from typing import Any

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
from redis.exceptions import RedisClusterException, RedisError

from judge.errors import ConfigurationError
from judge.types.redis_address import RedisAddress, parse_redis_url

RedisClient = Redis | RedisCluster

CONNECT_TIMEOUT_S = 1.0
"""To connect, or to get a connection from the pool. Reads and writes have no time-out here:
`call_redis` counts only the time in which the event loop was free."""

SENTINEL_TIMEOUT_S = 0.1
"""For one sentinel, so that the next can still be asked within the time-out of a call."""

SENTINEL_PORT = 26379
REDIS_PORT = 6379


def connect(url: str, max_connections: int) -> RedisClient:
    """A client for *url*, with *max_connections* to each server; it connects when first used.

    Options in the query of *url* win over ours. Raises ConfigurationError.
    """
    # The message must not repeat the address, which may hold a password.
    try:
        address = parse_redis_url(url)
    except ValueError as error:
        raise ConfigurationError(f"REDIS_URL cannot be used: it {error}.") from None
    options = _options(max_connections)
    try:
        if address.layout == "cluster":
            return _cluster(address, options)
        if address.layout == "sentinel":
            client = _connect_through_sentinels(address, options)
        else:
            pool = BlockingConnectionPool.from_url(url, timeout=CONNECT_TIMEOUT_S, **options)
            client = Redis.from_pool(pool)
        # Options are checked when a connection is made: do it now, or each request would fail.
        connections = client.connection_pool
        connections.connection_class(**connections.connection_kwargs)
    except (ValueError, TypeError, AttributeError, RedisError, RedisClusterException) as error:
        raise ConfigurationError(
            f"REDIS_URL cannot be used: an option after its question mark is wrong ({error})."
        ) from None
    return client


def _options(max_connections: int) -> dict[str, Any]:
    return {
        "max_connections": max_connections,
        "socket_timeout": None,
        "socket_connect_timeout": CONNECT_TIMEOUT_S,
        # Writes are idempotent here, so one repeat is safe; the default of ten takes too long.
        "retry": Retry(ExponentialWithJitterBackoff(cap=0.05, base=0.01), 1),
        # redis-py speaks RESP3 by default, which servers before 6 and some proxies do not know.
        "protocol": 2,
        "decode_responses": True,
        # Bytes that are not UTF-8 become lone surrogates, which the cache recognises.
        "encoding_errors": "surrogateescape",
    }


async def disconnect(client: RedisClient) -> None:
    """Close all connections of *client*, also those to its sentinels."""
    await client.aclose()
    if isinstance(client, Redis):
        pool = client.connection_pool
        if isinstance(pool, SentinelConnectionPool):
            await pool.sentinel_manager.aclose()


def _connect_through_sentinels(address: RedisAddress, options: dict[str, Any]) -> Redis:
    hosts, shared = _hosts(address, SENTINEL_PORT)
    sentinel_options: dict[str, Any] = {
        "socket_timeout": SENTINEL_TIMEOUT_S,
        "socket_connect_timeout": SENTINEL_TIMEOUT_S,
        "retry": Retry(NoBackoff(), 0),
        "protocol": 2,
        "ssl": shared.get("ssl", False),
        "password": shared.pop("sentinel_password", None),
    }
    sentinels = _Sentinels(hosts, sentinel_options)
    master: Redis = sentinels.master_for(address.service, **{**options, **shared})
    return master


class _Sentinels(Sentinel):
    """Sentinels that keep all their addresses.

    redis-py swaps the sentinel that answered to the front of its list, and so overwrites another
    one when several connections ask at once.
    """

    def __init__(self, hosts: list[tuple[str, int]], options: dict[str, Any]) -> None:
        super().__init__(hosts, sentinel_kwargs=options)  # type: ignore[no-untyped-call]
        self._all: tuple[Redis, ...] = tuple(self.sentinels)

    async def discover_master(self, service_name: str) -> Any:
        """The address of the master, from the first sentinel that answers."""
        try:
            return await super().discover_master(service_name)
        finally:
            self.sentinels = list(dict.fromkeys([*self.sentinels, *self._all]))


def _cluster(address: RedisAddress, options: dict[str, Any]) -> RedisCluster:
    hosts, shared = _hosts(address, REDIS_PORT)
    nodes = [ClusterNode(host, port) for host, port in hosts]
    # By default every fifth MOVED reply closes all connections, those in use too, whose commands
    # are then sent again.
    return RedisCluster(startup_nodes=nodes, reinitialize_steps=0, **{**options, **shared})


def _hosts(address: RedisAddress, port: int) -> tuple[list[tuple[str, int]], dict[str, Any]]:
    """The hosts of *address*, and the options that all of them share."""
    parsed: list[dict[str, Any]] = [dict(parse_url(text)) for text in address.urls]
    hosts = [(url.pop("host"), url.pop("port", port)) for url in parsed]
    shared = parsed[0]
    if shared.pop("connection_class", None) is SSLConnection:
        shared["ssl"] = True
    return hosts, shared
