"""The contract of Lock, and what is special in Redis."""

import asyncio

import pytest

from judge.adapters.memory import MemoryLock
from judge.adapters.redis.shared import SharedRedis
from judge.adapters.redis.stores import RedisLock
from tests.contract.conftest import StoresUnderTest
from tests.fakes.clock import FakeClock

PAGE = "tenancy:https://example.org/repairs"


class TestEveryLock:
    async def test_only_one_of_many_acquires_it(self, stores: StoresUnderTest):
        async with asyncio.TaskGroup() as group:
            tries = [
                group.create_task(stores.lock.acquire(PAGE, f"token-{number}", 10))
                for number in range(50)
            ]
        assert [attempt.result() for attempt in tries].count(True) == 1

    async def test_released_lock_is_free(self, stores: StoresUnderTest):
        await stores.lock.acquire(PAGE, "mine", 10)
        await stores.lock.release(PAGE, "mine")
        assert await stores.lock.acquire(PAGE, "yours", 10)

    async def test_only_the_holder_can_release_it(self, stores: StoresUnderTest):
        await stores.lock.acquire(PAGE, "mine", 10)
        await stores.lock.release(PAGE, "yours")
        assert not await stores.lock.acquire(PAGE, "yours", 10)

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
    def lock(self, fake: SharedRedis) -> RedisLock:
        return RedisLock(fake, MemoryLock(FakeClock()))

    async def test_only_the_holder_extends_the_ttl(self, fake: SharedRedis, lock: RedisLock):
        await lock.acquire(PAGE, "mine", 1)
        await lock.acquire(PAGE, "yours", 100)
        assert await fake.client.pttl("lock:" + PAGE) <= 1000
        await lock.acquire(PAGE, "mine", 100)
        assert await fake.client.pttl("lock:" + PAGE) > 90_000

    async def test_lock_keys_are_not_snippet_keys(self, fake: SharedRedis, lock: RedisLock):
        await lock.acquire("snippet:a:b", "mine", 1)
        assert await fake.client.keys("snippet:*") == []
