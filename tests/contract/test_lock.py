"""What every Lock promises, and how the one in Redis fails."""

import asyncio

import pytest
from fakeredis import FakeAsyncRedis, FakeServer

from judge.adapters.redis.cache import RedisLock
from judge.errors import CacheUnavailable
from tests.contract.conftest import StoresUnderTest

PAGE = "tenancy:https://example.org/repairs"


class TestEveryLock:
    async def test_only_one_of_many_gets_it(self, stores: StoresUnderTest):
        async with asyncio.TaskGroup() as group:
            tries = [
                group.create_task(stores.lock.acquire(PAGE, f"token-{number}", 10))
                for number in range(50)
            ]
        assert [attempt.result() for attempt in tries].count(True) == 1

    async def test_locks_of_other_names_are_free(self, stores: StoresUnderTest):
        assert await stores.lock.acquire(PAGE, "mine", 10)
        assert await stores.lock.acquire(PAGE + "/2", "yours", 10)

    async def test_a_released_lock_is_free(self, stores: StoresUnderTest):
        await stores.lock.acquire(PAGE, "mine", 10)
        await stores.lock.release(PAGE, "mine")
        assert await stores.lock.acquire(PAGE, "yours", 10)

    async def test_nobody_but_the_holder_can_release_it(self, stores: StoresUnderTest):
        await stores.lock.acquire(PAGE, "mine", 10)
        await stores.lock.release(PAGE, "yours")
        assert not await stores.lock.acquire(PAGE, "yours", 10)

    async def test_releasing_what_is_not_held_does_nothing(self, stores: StoresUnderTest):
        await stores.lock.release(PAGE, "mine")
        assert await stores.lock.acquire(PAGE, "yours", 10)

    async def test_it_ends_by_itself_when_the_holder_dies(self, stores: StoresUnderTest):
        await stores.lock.acquire(PAGE, "mine", 10)
        await stores.expire_lock(PAGE)
        assert await stores.lock.acquire(PAGE, "yours", 10)

    async def test_a_late_holder_does_not_release_the_next_one(self, stores: StoresUnderTest):
        await stores.lock.acquire(PAGE, "mine", 10)
        await stores.expire_lock(PAGE)
        await stores.lock.acquire(PAGE, "yours", 10)
        await stores.lock.release(PAGE, "mine")
        assert not await stores.lock.acquire(PAGE, "third", 10)

    async def test_the_holder_may_take_it_again(self, stores: StoresUnderTest):
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

    async def test_taking_it_again_extends_the_time(self, client: FakeAsyncRedis):
        lock = RedisLock(client)
        await lock.acquire(PAGE, "mine", 1)
        await lock.acquire(PAGE, "mine", 100)
        assert await client.pttl("lock:" + PAGE) > 90_000

    async def test_an_attempt_of_another_does_not_extend_the_time(self, client: FakeAsyncRedis):
        lock = RedisLock(client)
        await lock.acquire(PAGE, "mine", 1)
        await lock.acquire(PAGE, "yours", 100)
        assert await client.pttl("lock:" + PAGE) <= 1000

    async def test_its_keys_are_not_taken_for_snippets(self, client: FakeAsyncRedis):
        await RedisLock(client).acquire("snippet:a:b", "mine", 1)
        assert await client.keys("snippet:*") == []

    async def test_a_server_that_is_gone_is_cache_unavailable(
        self, server: FakeServer, client: FakeAsyncRedis
    ):
        server.connected = False
        with pytest.raises(CacheUnavailable):
            await RedisLock(client).acquire(PAGE, "mine", 1)
        with pytest.raises(CacheUnavailable):
            await RedisLock(client).release(PAGE, "mine")
