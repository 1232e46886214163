"""Redis while everything that is used of it works, and what stands in otherwise."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from fakeredis import FakeAsyncRedis, FakeServer

from judge.adapters.memory import MemoryCache, MemoryLock
from judge.adapters.redis.shared import BACKOFF_S, SharedRedis
from judge.adapters.redis.stores import RedisCache, RedisLock
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal
from tests.fakes.waiting import until


class World:
    """A fake Redis, cache and lock on it, and what stands in for them."""

    def __init__(self, client: FakeAsyncRedis, server: FakeServer) -> None:
        self.server = server
        self.clock, self.journal = FakeClock(), RecordingJournal()
        self.redis = SharedRedis(client, self.clock, self.journal)
        self.standby_lock = MemoryLock(self.clock)
        self.cache = RedisCache(self.redis, MemoryCache(self.clock))
        self.lock = RedisLock(self.redis, self.standby_lock)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    server = FakeServer()
    async with FakeAsyncRedis(server=server, decode_responses=True) as client:
        yield World(client, server)


async def test_what_was_stored_before_an_outage_is_still_there(world: World):
    await world.cache.put_many({"a": ("text", 60)})
    world.server.connected = False
    assert await world.cache.get_many(["a"]) == ["text"]
    assert await world.cache.seconds_left("a") == 60
    [fields] = world.journal.fields_of("cache.down")
    assert "ConnectionError" in fields["reason"]


async def test_redis_is_used_again_when_it_is_back_and_again_after_a_second_outage(world: World):
    for _ in range(2):
        world.server.connected = False
        assert await world.cache.get_many(["a"]) == [None]
        world.server.connected = True
        await world.redis.client.set("a", "shared")
        assert await world.cache.get_many(["a"]) == [None]
        world.clock.advance(12.5)
        assert await world.cache.get_many(["a"]) == ["shared"]
        await world.redis.client.delete("a")
    assert world.journal.events == ["cache.down", "cache.back"] * 2
    assert world.journal.fields_of("cache.back")[0]["down_s"] == 12.5


async def test_one_call_a_second_tries_redis_and_no_other_waits_for_it(world: World):
    probed, answer = 0, asyncio.Event()

    async def probe() -> None:
        nonlocal probed
        probed += 1
        await answer.wait()

    world.server.connected = False
    await world.cache.get_many(["a"])
    world.server.connected = True
    await world.redis.client.set("a", "shared")
    world.redis.is_tested_by(probe)
    world.clock.advance(BACKOFF_S)
    trying = asyncio.create_task(world.cache.get_many(["a"]))
    await until(lambda: probed == 1)
    assert await world.cache.get_many(["a"]) == [None]
    answer.set()
    assert await trying == ["shared"]
    assert probed == 1


async def test_local_lock_is_released_after_the_recovery(world: World):
    world.server.connected = False
    await world.lock.acquire("page", "mine", 10)
    world.server.connected = True
    world.clock.advance(BACKOFF_S)
    await world.lock.release("page", "mine")
    assert await world.standby_lock.acquire("page", "yours", 10)


async def test_cancelled_call_is_not_an_outage(world: World):
    calling = asyncio.create_task(
        world.redis.ask(asyncio.Event().wait, asyncio.Event().wait),
    )
    await asyncio.sleep(0)
    calling.cancel()
    await asyncio.wait([calling])
    assert calling.cancelled()
    assert not world.redis.is_degraded
