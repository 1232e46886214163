"""Failover: the shared cache while it answers, the standby while it does not."""

import asyncio
from contextvars import ContextVar

import pytest

from judge.adapters.memory.cache import MemoryCache, MemoryLock
from judge.adapters.redis.failover import CacheAndLock, Failover
from judge.errors import CacheUnavailable
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal
from tests.fakes.waiting import until

request_id = ContextVar("request_id", default="")


class Breakable:
    """A cache and lock that can be down, hang until `answers` is set, or refuse some calls."""

    def __init__(self, clock: FakeClock) -> None:
        self.cache = MemoryCache(clock)
        self.lock = MemoryLock(clock)
        self.is_down = False
        self.answers = asyncio.Event()
        self.answers.set()
        self.refused: set[str] = set()
        self.calls: list[str] = []

    async def _call(self, name: str) -> None:
        self.calls.append(name)
        if name not in self.refused:
            await self.answers.wait()
        if self.is_down or name in self.refused:
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
        await self._call(f"acquire {name}")
        return await self.lock.acquire(name, token, ttl_s)

    async def release(self, name, token):
        await self._call("release")
        await self.lock.release(name, token)


class NotingJournal(RecordingJournal):
    """Also records the request id of each event."""

    def note(self, event, **fields):
        super().note(event, request_id=request_id.get(), **fields)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def journal() -> NotingJournal:
    return NotingJournal()


@pytest.fixture
def shared(clock: FakeClock) -> Breakable:
    return Breakable(clock)


@pytest.fixture
def standby(clock: FakeClock) -> CacheAndLock:
    return CacheAndLock(MemoryCache(clock), MemoryLock(clock))


@pytest.fixture
async def failover(shared, standby, clock, journal):
    failover = Failover(CacheAndLock(shared, shared), standby, clock, journal, probe_every_s=0.005)
    yield failover
    await failover.aclose()


class TestWhileTheSharedCacheAnswers:
    async def test_reading_uses_only_the_shared_cache(self, failover, shared, standby):
        await shared.cache.put_many({"a": ("shared", 60)})
        await standby.cache.put_many({"a": ("standby", 600)})
        assert await failover.get_many(["a"]) == ["shared"]
        assert await failover.seconds_left("a") == 60

    async def test_writes_go_to_both(self, failover, shared, standby):
        await failover.put_many({"a": ("text", 60)})
        assert await shared.cache.get_many(["a"]) == ["text"]
        assert await standby.cache.get_many(["a"]) == ["text"]

    async def test_locks_are_acquired_in_the_shared_store(self, failover, shared, standby):
        await failover.acquire("page", "mine", 10)
        assert not await shared.lock.acquire("page", "yours", 10)
        assert await standby.lock.acquire("page", "yours", 10)

    async def test_nothing_is_noted(self, failover, journal):
        await failover.put_many({"a": ("text", 60)})
        assert not failover.is_degraded
        assert journal.events == []

    async def test_probe_reports_that_it_is_shared(self, failover):
        assert await failover.probe()


class TestWhileItIsDown:
    @pytest.fixture(autouse=True)
    def _down(self, shared):
        shared.is_down = True

    async def test_what_was_stored_before_is_still_there(self, failover, shared):
        shared.is_down = False
        await failover.put_many({"a": ("text", 60)})
        shared.is_down = True
        assert await failover.get_many(["a"]) == ["text"]
        assert await failover.seconds_left("a") == 60

    async def test_storing_and_locking_go_on_in_the_process(self, failover):
        await failover.put_many({"a": ("text", 60)})
        assert await failover.get_many(["a"]) == ["text"]
        assert await failover.acquire("page", "mine", 10)
        assert not await failover.acquire("page", "yours", 10)
        await failover.release("page", "mine")
        assert await failover.acquire("page", "yours", 10)

    async def test_outage_is_noted_once(self, failover, journal):
        for _ in range(3):
            await failover.get_many(["a"])
        assert failover.is_degraded
        assert journal.fields_of("cache.down") == [{"reason": "It is down.", "request_id": ""}]

    async def test_lock_acquired_before_the_outage_can_be_released(self, failover, shared, standby):
        shared.is_down = False
        await failover.acquire("page", "mine", 10)
        shared.is_down = True
        await failover.release("page", "mine")
        assert await failover.acquire("page", "yours", 10)

    async def test_local_lock_is_released_after_the_recovery(self, failover, shared, standby):
        await failover.acquire("page", "mine", 10)
        shared.is_down = False
        await until(lambda: not failover.is_degraded)
        await failover.release("page", "mine")
        assert await standby.lock.acquire("page", "yours", 10)

    async def test_probe_at_startup_detects_the_outage(self, failover):
        assert not await failover.probe()
        assert failover.is_degraded


class TestWhileItHangs:
    async def test_no_call_waits_during_a_known_outage(self, failover, shared):
        await self.fall_silent(failover, shared)
        async with asyncio.timeout(15):
            assert await failover.get_many(["a"]) == [None]

    async def test_only_one_probe_at_a_time_calls_redis(self, failover, shared):
        await self.fall_silent(failover, shared)
        for _ in range(100):
            await failover.get_many(["a"])
        await until(lambda: "acquire probe" in shared.calls)
        await failover.get_many(["a"])
        assert shared.calls == ["get_many", "acquire probe"]

    async def test_waiting_calls_switch_to_the_standby_when_one_fails(self, failover, shared):
        shared.answers.clear()
        waiting = [asyncio.create_task(failover.get_many(["a"])) for _ in range(10)]
        await until(lambda: len(shared.calls) == 10)
        shared.refused = {"seconds_left"}
        await failover.seconds_left("a")
        async with asyncio.timeout(15):
            for call in waiting:
                assert await call == [None]

    async def test_cancelled_call_is_not_an_outage(self, failover, shared):
        shared.answers.clear()
        call = asyncio.create_task(failover.get_many(["a"]))
        await until(lambda: shared.calls == ["get_many"])
        call.cancel()
        await asyncio.wait([call])
        assert call.cancelled()
        assert not failover.is_degraded

    @staticmethod
    async def fall_silent(failover: Failover, shared: Breakable) -> None:
        """Fail once, as after a timeout, and hang from then on."""
        shared.is_down = True
        await failover.get_many(["a"])
        shared.answers.clear()


class TestAfterItsReturn:
    async def test_recovery_is_detected_without_a_request(self, failover, shared, journal, clock):
        shared.is_down = True
        await failover.get_many(["a"])
        await shared.cache.put_many({"a": ("shared", 60)})
        clock.advance(12.5)
        shared.is_down = False
        await until(lambda: not failover.is_degraded)
        assert await failover.get_many(["a"]) == ["shared"]
        assert journal.events == ["cache.down", "cache.back"]
        assert journal.fields_of("cache.back")[0]["down_s"] == 12.5

    async def test_recovery_is_noted_without_the_request_id_of_the_outage(
        self, failover, shared, journal
    ):
        request_id.set("request-1")
        shared.is_down = True
        await failover.get_many(["a"])
        shared.is_down = False
        await until(lambda: not failover.is_degraded)
        assert [fields["request_id"] for _, fields in journal.entries] == ["request-1", ""]

    async def test_a_second_outage_is_handled_like_the_first(self, failover, shared, journal):
        for _ in range(2):
            shared.is_down = True
            await failover.get_many(["a"])
            shared.is_down = False
            await until(lambda: not failover.is_degraded)
        assert journal.events == ["cache.down", "cache.back"] * 2

    async def test_two_quick_outages_leave_a_single_probe(self, failover, shared):
        shared.is_down = True
        await failover.get_many(["a"])
        shared.is_down = False
        await failover.probe()
        shared.is_down = True
        await failover.get_many(["a"])
        assert len(asyncio.all_tasks()) == 2, "this test and the probe"

    async def test_explicit_probe_detects_the_recovery(self, failover, shared):
        shared.is_down = True
        await failover.get_many(["a"])
        shared.is_down = False
        assert await failover.probe()
        assert not failover.is_degraded


async def test_closing_ends_the_probe(shared, standby, clock, journal):
    failover = Failover(CacheAndLock(shared, shared), standby, clock, journal, probe_every_s=0.005)
    shared.is_down = True
    await failover.get_many(["a"])
    await failover.aclose()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_closing_without_an_outage_returns_at_once(failover):
    closing = failover.aclose()

    with pytest.raises(StopIteration):
        closing.send(None)
