"""Failover: the shared cache while it answers, the standby while it does not."""

import asyncio

import pytest

from judge.adapters.memory.cache import MemoryCache, MemoryLock
from judge.adapters.redis.failover import BACKOFF_S, CacheAndLock, Failover, Outage
from judge.errors import CacheUnavailable
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal
from tests.fakes.waiting import until


class Breakable:
    """A cache and lock that can be down, or hang until `answers` is set."""

    def __init__(self, clock: FakeClock) -> None:
        self.cache = MemoryCache(clock)
        self.lock = MemoryLock(clock)
        self.is_down = False
        self.answers = asyncio.Event()
        self.answers.set()
        self.calls: list[str] = []

    async def _call(self, name: str) -> None:
        self.calls.append(name)
        await self.answers.wait()
        if self.is_down:
            raise CacheUnavailable("It is down.")

    async def get_many(self, keys):
        await self._call("get_many")
        return await self.cache.get_many(keys)

    async def put_many(self, entries):
        await self._call("put_many")
        await self.cache.put_many(entries)

    async def seconds_left(self, key):
        await self._call("seconds_left")
        return await self.cache.seconds_left(key)

    async def acquire(self, name, token, ttl_s):
        await self._call("acquire")
        return await self.lock.acquire(name, token, ttl_s)

    async def release(self, name, token):
        await self._call("release")
        await self.lock.release(name, token)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def journal() -> RecordingJournal:
    return RecordingJournal()


@pytest.fixture
def shared(clock: FakeClock) -> Breakable:
    return Breakable(clock)


@pytest.fixture
def standby(clock: FakeClock) -> CacheAndLock:
    return CacheAndLock(MemoryCache(clock), MemoryLock(clock))


@pytest.fixture
def failover(shared, standby, clock, journal) -> Failover:
    return Failover(CacheAndLock(shared, shared), standby, Outage(clock, journal))


async def test_reading_and_locking_use_only_the_shared_stores(failover, shared, standby, journal):
    await shared.cache.put_many({"a": ("shared", 60)})
    await standby.cache.put_many({"a": ("standby", 600)})
    assert await failover.get_many(["a"]) == ["shared"]
    assert await failover.seconds_left("a") == 60
    await failover.acquire("page", "mine", 10)
    assert not await shared.lock.acquire("page", "yours", 10)
    assert await standby.lock.acquire("page", "yours", 10)
    assert journal.events == []


async def test_what_was_stored_before_an_outage_is_still_there(failover, shared):
    await failover.put_many({"a": ("text", 60)})
    assert await shared.cache.get_many(["a"]) == ["text"]
    shared.is_down = True
    assert await failover.get_many(["a"]) == ["text"]
    assert await failover.seconds_left("a") == 60


async def test_storing_and_locking_go_on_in_the_process(failover, shared):
    shared.is_down = True
    await failover.put_many({"a": ("text", 60)})
    assert await failover.get_many(["a"]) == ["text"]
    assert await failover.acquire("page", "mine", 10)
    assert not await failover.acquire("page", "yours", 10)
    await failover.release("page", "mine")
    assert await failover.acquire("page", "yours", 10)


async def test_during_an_outage_one_call_a_second_tries_redis(failover, shared, clock, journal):
    shared.is_down = True
    for _ in range(3):
        await failover.get_many(["a"])
        clock.advance(BACKOFF_S / 4)
    assert shared.calls == ["get_many"]
    clock.advance(BACKOFF_S)
    shared.answers.clear()  # the call that tries hangs, and the others do not wait for it
    trying = asyncio.create_task(failover.get_many(["a"]))
    await until(lambda: len(shared.calls) == 2)
    assert await failover.get_many(["a"]) == [None]
    shared.answers.set()
    assert await trying == [None]
    assert failover.is_degraded
    assert journal.fields_of("cache.down") == [{"reason": "It is down."}]


async def test_redis_is_used_again_when_it_is_back_and_again_after_a_second_outage(
    failover, shared, standby, clock, journal
):
    await shared.cache.put_many({"a": ("shared", 60)})
    for _ in range(2):
        shared.is_down = True
        assert await failover.get_many(["a"]) == [None]
        shared.is_down = False
        clock.advance(12.5)
        assert await failover.get_many(["a"]) == ["shared"]
        assert not failover.is_degraded
    assert journal.events == ["cache.down", "cache.back"] * 2
    assert journal.fields_of("cache.back")[0]["down_s"] == 12.5


async def test_local_lock_is_released_after_the_recovery(failover, shared, standby, clock):
    shared.is_down = True
    await failover.acquire("page", "mine", 10)
    shared.is_down = False
    clock.advance(BACKOFF_S)
    await failover.release("page", "mine")
    assert await standby.lock.acquire("page", "yours", 10)


async def test_cancelled_call_is_not_an_outage(failover, shared):
    shared.answers.clear()
    call = asyncio.create_task(failover.get_many(["a"]))
    await until(lambda: shared.calls == ["get_many"])
    call.cancel()
    await asyncio.wait([call])
    assert call.cancelled()
    assert not failover.is_degraded
