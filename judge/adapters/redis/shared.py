"""The Redis that all processes share, and whether it answers now.

Cache, lock, rate limit and token count ask it together: the first call that fails makes all of them
turn to this process, until everything that they use works again.
"""

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
from judge.ports import Clock, Journal
from judge.types.setting_values import RedisAddress, parse_redis_url

RedisClient = Redis | RedisCluster
T = TypeVar("T")
Call = Callable[[], Awaitable[T]]

REPLY_TIMEOUT_S = 0.25
"""For one call with its retry; a Redis in the same building replies in about 1 ms."""

SLICES = 12
"""Turns of the event loop before Redis is blamed: in a busy process its reply may have arrived and
not been read. Even a new connection needs no more."""

CONNECT_TIMEOUT_S = 1.0
"""To connect, to learn the nodes of a cluster, or to get a connection from the pool."""

SENTINEL_TIMEOUT_S = 0.1
"""For one sentinel, so that the next can still be asked within the time-out of a call."""

BACKOFF_S = 1.0
"""How long Redis is not asked after it failed, so that few requests wait for it."""

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
        "max_connections": 64,  # to one server; SharedRedis lets fewer calls run at once
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
        hosts, shared = _hosts(address, 6379)
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
    hosts, shared = _hosts(address, 26379)
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


async def call_redis(client: RedisClient, call: Call[T]) -> T:
    """The reply to *call*; every failure of Redis, silence included, is CacheUnavailable."""
    try:
        if isinstance(client, RedisCluster):
            # Until it knows its nodes, the client would send commands to any of them.
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                _ = await client.initialize()
        return await _within(REPLY_TIMEOUT_S, call)
    except TimeoutError as error:
        raise CacheUnavailable("Redis did not answer in time.") from error
    except (MovedError, ClusterCrossSlotError) as error:
        told = "Redis is a cluster: begin REDIS_URL with redis+cluster://."
        raise CacheUnavailable(told) from error
    except (RedisError, RedisClusterException, OSError, AttributeError, ValueError) as error:
        # When a node is lost, the cluster client closes connections in use: calls that use them
        # then fail with AttributeError, since the writer is gone. A ValueError is a reply that
        # has no length where one belongs.
        reason = f"{type(error).__name__}{_message(error)}"
        raise CacheUnavailable(f"Redis failed: {reason}.") from error


async def _within(seconds: float, call: Call[T]) -> T:
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


class SharedRedis:
    """Asks Redis while it works, notes when that changes, and bounds the concurrent calls."""

    def __init__(self, client: RedisClient, clock: Clock, journal: Journal) -> None:
        self.client = client
        self._clock = clock
        self._journal = journal
        self._probes: list[Call[object]] = []
        self._down_since: float | None = None
        self._retry_at = 0.0
        self._turns = asyncio.Semaphore(16)  # no time-out runs while others wait for their turn

    @property
    def is_degraded(self) -> bool:
        """True from the first call that failed until all that is used works again."""
        return self._down_since is not None

    def is_tested_by(self, *probes: Call[object]) -> None:
        """Count Redis as working only if the *probes* do: a user may lack the right to one."""
        self._probes += probes

    async def ask(self, shared: Call[T], local: Call[T]) -> T:
        """The reply of *shared*, a call of the client, or of *local* while Redis is down."""
        async with self._turns:
            if await self._is_up():
                try:
                    return await call_redis(self.client, shared)
                except CacheUnavailable as error:
                    now = self._clock.monotonic()
                    self._retry_at = now + BACKOFF_S
                    if self._down_since is None:
                        self._down_since = now
                        self._journal.note("cache.down", reason=str(error))
        return await local()

    async def ping(self) -> None:
        """Raise CacheUnavailable unless all that is used works."""
        for probe in self._probes:
            await call_redis(self.client, probe)

    async def aclose(self) -> None:
        """Close all connections, also those to sentinels."""
        await self.client.aclose()
        if isinstance(self.client, Redis):
            pool = self.client.connection_pool
            if isinstance(pool, SentinelConnectionPool):
                await pool.sentinel_manager.aclose()

    async def _is_up(self) -> bool:
        """Whether Redis works; after an outage, one call a second finds out."""
        now = self._clock.monotonic()
        if self._down_since is None:
            return True
        if now < self._retry_at:
            return False
        self._retry_at = now + BACKOFF_S  # no other call waits for this one
        try:
            await self.ping()
        except CacheUnavailable:
            return False
        if self._down_since is not None:
            down_s = self._clock.monotonic() - self._down_since
            self._down_since = None
            self._journal.note("cache.back", down_s=round(down_s, 3))
        return True


async def nothing() -> None:
    """The local call where this process has done its part already."""
