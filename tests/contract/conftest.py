"""Fixtures of the contract tests: the stores under test, and real Redis servers."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, replace

import pytest
import redis
from fakeredis import FakeAsyncRedis, FakeServer

from judge.adapters.memory.cache import MemoryCache, MemoryLock
from judge.adapters.redis.cache import LOCK_PREFIX, RedisCache, RedisLock, open_redis
from judge.adapters.redis.connect import RedisClient
from judge.adapters.redis.failover import CacheAndLock, Failover, Outage
from judge.ports import Cache, Lock
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal
from tests.fakes.redis_cluster import RunningCluster, running_cluster
from tests.fakes.redis_server import RedisServer, running_redis


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


def redis_stores(client: RedisClient) -> StoresUnderTest:
    async def expire_key(key: str) -> None:
        assert await client.ttl(key) > 0, f"{key} would never expire"
        await client.expireat(key, 1)

    async def expire_lock(name: str) -> None:
        await expire_key(LOCK_PREFIX + name)

    return StoresUnderTest(RedisCache(client), RedisLock(client), expire_key, expire_lock)


def failover_to_memory(stores: StoresUnderTest) -> Failover:
    clock = FakeClock()
    standby = CacheAndLock(MemoryCache(clock), MemoryLock(clock))
    return Failover(
        CacheAndLock(stores.cache, stores.lock), standby, Outage(clock, RecordingJournal())
    )


@pytest.fixture(
    params=[
        "memory",
        "fakeredis",
        "failover",
        pytest.param("redis", marks=pytest.mark.real_redis),
        pytest.param("redis_cluster", marks=pytest.mark.real_redis),
    ]
)
async def stores(request: pytest.FixtureRequest) -> AsyncIterator[StoresUnderTest]:
    """Every adapter of the ports Cache and Lock in turn."""
    if request.param == "memory":
        yield memory_stores()
    elif request.param.startswith("redis"):
        opened = open_redis(request.getfixturevalue(f"{request.param}_url"))
        yield redis_stores(opened.client)
        await opened.aclose()
    else:
        async with FakeAsyncRedis(
            server=FakeServer(), decode_responses=True, max_connections=1000
        ) as client:
            fake = redis_stores(client)
            if request.param == "fakeredis":
                yield fake
            else:
                failover = failover_to_memory(fake)
                yield replace(fake, cache=failover, lock=failover)
                assert not failover.is_degraded, "the standby was tested instead"
