"""Fixtures of the contract tests: the stores under test, and real Redis servers."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import pytest
import redis
from fakeredis import FakeAsyncRedis, FakeServer

from judge.adapters.memory import MemoryCache, MemoryLock
from judge.adapters.redis.shared import SharedRedis, connect
from judge.adapters.redis.stores import LOCK_PREFIX, RedisCache, RedisLock
from judge.ports import Cache, Lock
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal
from tests.fakes.redis_cluster import RunningCluster, running_cluster
from tests.fakes.redis_server import RedisServer, running_redis


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[SharedRedis]:
    """The Redis at *url*, with a clock that the test moves."""
    redis = SharedRedis(connect(url), FakeClock(), RecordingJournal())
    yield redis
    await redis.aclose()


@asynccontextmanager
async def any_redis(request: pytest.FixtureRequest) -> AsyncIterator[SharedRedis]:
    """The Redis that a fixture's parameter names: a fake one, a real one or a real cluster.

    At its end all must have gone through it, and nothing through a stand-in.
    """
    async with AsyncExitStack() as stack:
        if request.param == "fakeredis":
            fake = FakeAsyncRedis(server=FakeServer(), decode_responses=True, max_connections=1000)
            client = await stack.enter_async_context(fake)
            redis = SharedRedis(client, FakeClock(), RecordingJournal())
        else:
            url = request.getfixturevalue(f"{request.param}_url")
            redis = await stack.enter_async_context(opened(url))
        yield redis
        assert not redis.is_degraded, "the stand-in was tested instead"


ALL = (
    "memory",
    "fakeredis",
    pytest.param("redis", marks=pytest.mark.real_redis),
    pytest.param("redis_cluster", marks=pytest.mark.real_redis),
)
"""Parameters of a fixture for every adapter of a port that memory and Redis have."""


@pytest.fixture
def server() -> FakeServer:
    """A Redis inside the process, which a test can disconnect."""
    return FakeServer()


@pytest.fixture
async def fake(server: FakeServer) -> AsyncIterator[SharedRedis]:
    """The Redis of `server`."""
    async with FakeAsyncRedis(server=server, decode_responses=True) as client:
        yield SharedRedis(client, FakeClock(), RecordingJournal())


@pytest.fixture(scope="session")
def shared_redis_server() -> Iterator[RedisServer]:
    """One server for all tests that leave it running."""
    with running_redis() as server:
        yield server


@pytest.fixture
def redis_url(shared_redis_server: RedisServer) -> str:
    """The address of the shared server, emptied."""
    with redis.Redis.from_url(shared_redis_server.url) as client:
        client.flushall()
    return shared_redis_server.url


@pytest.fixture(scope="session")
def shared_redis_cluster() -> Iterator[RunningCluster]:
    """Three masters, for all tests that leave them running."""
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def redis_cluster_url(shared_redis_cluster: RunningCluster) -> str:
    """The address of the shared cluster, emptied."""
    shared_redis_cluster.flush()
    return shared_redis_cluster.url


@pytest.fixture
def own_redis_server() -> Iterator[RedisServer]:
    """A server for one test, which may pause or kill it."""
    with running_redis() as server:
        yield server


@dataclass
class StoresUnderTest:
    """A cache and a lock, and functions that make a key or a lock expire."""

    cache: Cache
    lock: Lock
    expire_key: Callable[[str], Awaitable[None]]
    expire_lock: Callable[[str], Awaitable[None]]


def memory_stores() -> StoresUnderTest:
    clock = FakeClock()
    cache = MemoryCache(clock)

    async def expire_key(key: str) -> None:
        clock.advance(await cache.seconds_left(key) or 0)

    async def expire_lock(name: str) -> None:
        clock.advance(3600)

    return StoresUnderTest(cache, MemoryLock(clock), expire_key, expire_lock)


def redis_stores(redis: SharedRedis) -> StoresUnderTest:
    async def expire_key(key: str) -> None:
        assert await redis.client.ttl(key) > 0, f"{key} would never expire"
        await redis.client.expireat(key, 1)

    async def expire_lock(name: str) -> None:
        await expire_key(LOCK_PREFIX + name)

    clock = FakeClock()
    return StoresUnderTest(
        RedisCache(redis, MemoryCache(clock)),
        RedisLock(redis, MemoryLock(clock)),
        expire_key,
        expire_lock,
    )


@pytest.fixture(params=ALL)
async def stores(request: pytest.FixtureRequest) -> AsyncIterator[StoresUnderTest]:
    """Every adapter of the ports Cache and Lock in turn."""
    if request.param == "memory":
        yield memory_stores()
    else:
        async with any_redis(request) as redis:
            yield redis_stores(redis)
