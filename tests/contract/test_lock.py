"""The contract of Lock, and its failures in Redis."""

import asyncio

import pytest
from fakeredis import FakeAsyncRedis, FakeServer

from judge.adapters.redis.cache import RedisLock
from judge.errors import CacheUnavailable
from tests.contract.conftest import StoresUnderTest

PAGE = "tenancy:https://example.org/repairs"


class TestEveryLock:
    async def test_only_one_of_many_acquires_it(self, stores: StoresUnderTest):
        async with asyncio.TaskGroup() as group:
            tries = [
                group.create_task(stores.lock.acquire(PAGE, f"token-{number}", 10))
                for number in range(50)
            ]
        assert [attempt.result() for attempt in tries].count(True) == 1

    async def test_locks_with_other_names_are_free(self, stores: StoresUnderTest):
        assert await stores.lock.acquire(PAGE, "mine", 10)
        assert await stores.lock.acquire(PAGE + "/2", "yours", 10)

    async def test_released_lock_is_free(self, stores: StoresUnderTest):
        await stores.lock.acquire(PAGE, "mine", 10)
        await stores.lock.release(PAGE, "mine")
        assert await stores.lock.acquire(PAGE, "yours", 10)

    async def test_only_the_holder_can_release_it(self, stores: StoresUnderTest):
        await stores.lock.acquire(PAGE, "mine", 10)
        await stores.lock.release(PAGE, "yours")
        assert not await stores.lock.acquire(PAGE, "yours", 10)

    async def test_releasing_a_free_lock_does_nothing(self, stores: StoresUnderTest):
        await stores.lock.release(PAGE, "mine")
        assert await stores.lock.acquire(PAGE, "yours", 10)

    async def test_lock_of_a_dead_holder_expires(self, stores: StoresUnderTest):
        await stores.lock.acquire(PAGE, "mine", 10)
        await stores.expire_lock(PAGE)
        assert await stores.lock.acquire(PAGE, "yours", 10)

    async def test_holder_of_an_expired_lock_does_not_release_the_next(
        self, stores: StoresUnderTest
    ):
        await stores.lock.acquire(PAGE, "mine", 10)
        await stores.expire_lock(PAGE)
        await stores.lock.acquire(PAGE, "yours", 10)
        await stores.lock.release(PAGE, "mine")
        assert not await stores.lock.acquire(PAGE, "third", 10)

    async def test_holder_may_acquire_it_again(self, stores: StoresUnderTest):
        await stores.lock.acquire(PAGE, "mine", 10)
        assert await stores.lock.acquire(PAGE, "mine", 10)
        assert not await stores.lock.acquire(PAGE, "yours", 10)


class TestRedisLock:
    @pytest.fixture
    def server(self) -> FakeServer:
        return FakeServer()

    @pytest.fixture
    async def client(self, server: FakeServer):
        async with FakeAsyncRedis(server=server, decode_responses=True) as client:
            yield client

    async def test_acquiring_it_again_extends_the_ttl(self, client: FakeAsyncRedis):
        lock = RedisLock(client)
        await lock.acquire(PAGE, "mine", 1)
        await lock.acquire(PAGE, "mine", 100)
        assert await client.pttl("lock:" + PAGE) > 90_000

    async def test_failed_attempt_does_not_extend_the_ttl(self, client: FakeAsyncRedis):
        lock = RedisLock(client)
        await lock.acquire(PAGE, "mine", 1)
        await lock.acquire(PAGE, "yours", 100)
        assert await client.pttl("lock:" + PAGE) <= 1000

    async def test_key_of_another_type_is_no_lock(self, client: FakeAsyncRedis):
        await client.hset("lock:" + PAGE, "field", "value")
        lock = RedisLock(client)
        await lock.release(PAGE, "mine")
        assert await lock.acquire(PAGE, "mine", 1)
        assert not await lock.acquire(PAGE, "yours", 1)

    async def test_lock_keys_are_not_snippet_keys(self, client: FakeAsyncRedis):
        await RedisLock(client).acquire("snippet:a:b", "mine", 1)
        assert await client.keys("snippet:*") == []

    async def test_lost_server_raises_cache_unavailable(
        self, server: FakeServer, client: FakeAsyncRedis
    ):
        server.connected = False
        with pytest.raises(CacheUnavailable):
            await RedisLock(client).acquire(PAGE, "mine", 1)
        with pytest.raises(CacheUnavailable):
            await RedisLock(client).release(PAGE, "mine")
