"""The contract of RateLimiter, and its failures in Redis."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import pytest
from fakeredis import FakeAsyncRedis, FakeServer

from judge.adapters.memory.rate_limit import MemoryRateLimiter
from judge.adapters.redis.cache import open_redis
from judge.adapters.redis.connect import RedisClient
from judge.adapters.redis.failover import BACKOFF_S, Outage
from judge.adapters.redis.rate_limit import (
    PREFIX,
    FallbackRateLimiter,
    RedisRateLimiter,
)
from judge.errors import CacheUnavailable
from judge.ports import RateLimiter
from judge.types.limits import Allowance, RateLimit
from tests.fakes.clock import FakeClock
from tests.fakes.journal import RecordingJournal
from tests.fakes.redis_server import RedisServer

LIMIT = RateLimit(requests=3, window_s=60)
KEY = f"{PREFIX}{{60}}:caller"


@dataclass
class LimiterUnderTest:
    """A limiter of LIMIT, and a function that ends a caller's window."""

    limiter: RateLimiter
    end_window: Callable[[], Awaitable[None]]


def memory_bench() -> LimiterUnderTest:
    clock = FakeClock()

    async def end_window() -> None:
        clock.advance(LIMIT.window_s)

    return LimiterUnderTest(MemoryRateLimiter(LIMIT, clock), end_window)


def redis_bench(client: RedisClient) -> LimiterUnderTest:
    async def end_window() -> None:
        assert await client.ttl(KEY) > 0, "the window would never end by itself"
        await client.expireat(KEY, 1)

    return LimiterUnderTest(RedisRateLimiter(client, LIMIT), end_window)


@pytest.fixture(
    params=[
        "memory",
        "fakeredis",
        pytest.param("redis", marks=pytest.mark.real_redis),
        pytest.param("redis_cluster", marks=pytest.mark.real_redis),
    ]
)
async def bench(request: pytest.FixtureRequest) -> AsyncIterator[LimiterUnderTest]:
    """Every adapter of the port in turn."""
    if request.param == "memory":
        yield memory_bench()
    elif request.param.startswith("redis"):
        opened = open_redis(request.getfixturevalue(f"{request.param}_url"))
        yield redis_bench(opened.client)
        await opened.aclose()
    else:
        async with FakeAsyncRedis(server=FakeServer(), max_connections=1000) as client:
            yield redis_bench(client)


async def take(limiter: RateLimiter, count: int, caller: str = "caller") -> list[Allowance]:
    return [await limiter.take(caller) for _ in range(count)]


class TestEveryRateLimiter:
    async def test_requests_up_to_the_limit_are_allowed_and_the_next_is_refused(
        self, bench: LimiterUnderTest
    ):
        taken = await take(bench.limiter, 5)
        assert [one.is_allowed for one in taken] == [True, True, True, False, False]
        assert [one.remaining for one in taken] == [2, 1, 0, 0, 0]

    async def test_decision_says_when_the_window_ends(self, bench: LimiterUnderTest):
        for one in await take(bench.limiter, 4):
            assert 55 < one.reset_s <= 60

    async def test_new_window_begins_when_the_old_one_ends(self, bench: LimiterUnderTest):
        await take(bench.limiter, 4)
        await bench.end_window()
        assert (await bench.limiter.take("caller")).remaining == 2

    async def test_each_caller_has_its_own_window(self, bench: LimiterUnderTest):
        await take(bench.limiter, 4)
        assert (await bench.limiter.take("another")).is_allowed

    async def test_concurrent_requests_do_not_exceed_the_limit(self, bench: LimiterUnderTest):
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(bench.limiter.take("caller")) for _ in range(15)]
        assert [task.result().is_allowed for task in tasks].count(True) == LIMIT.requests


class TestMemoryRateLimiter:
    async def test_ended_windows_are_dropped(self):
        clock = FakeClock()
        limiter = MemoryRateLimiter(LIMIT, clock)
        for number in range(10):
            await limiter.take(f"caller {number}")
        clock.advance(60)
        await limiter.take("another")
        assert len(limiter._windows) == 1

    @pytest.mark.parametrize("seconds", [-86_400, 86_400])
    async def test_setting_the_wall_clock_opens_no_new_window(self, seconds: int):
        clock = FakeClock()
        limiter = MemoryRateLimiter(LIMIT, clock)
        await take(limiter, LIMIT.requests)
        clock.set_by(seconds)
        [refused] = await take(limiter, 1)
        assert (refused.is_allowed, refused.reset_s) == (False, LIMIT.window_s)

    async def test_number_of_callers_is_bounded_and_the_oldest_is_evicted(self):
        clock = FakeClock()
        limiter = MemoryRateLimiter(LIMIT, clock, max_callers=5)
        for number in range(20):
            await limiter.take(f"caller {number}")
            clock.advance(1)
        assert len(limiter._windows) == 5
        assert (await limiter.take("caller 19")).remaining == 1


class TestRedisRateLimiter:
    @pytest.fixture
    def server(self) -> FakeServer:
        return FakeServer()

    @pytest.fixture
    async def client(self, server: FakeServer):
        async with FakeAsyncRedis(server=server) as client:
            yield client

    async def test_keys_expire_and_are_not_snippet_keys(self, client: FakeAsyncRedis):
        await RedisRateLimiter(client, LIMIT).take("caller")
        assert await client.keys("*") == [KEY.encode()]
        assert 0 < await client.ttl(KEY) <= 60

    async def test_more_requests_do_not_extend_the_window(self, client: FakeAsyncRedis):
        limiter = RedisRateLimiter(client, LIMIT)
        await limiter.take("caller")
        await client.expire(KEY, 10)
        assert (await take(limiter, 5))[-1].reset_s <= 10

    async def test_key_that_holds_no_count_is_counted_anew(self, client: FakeAsyncRedis):
        await client.hset(KEY, "field", "value")
        await client.set(KEY.replace("caller", "other"), "words")
        limiter = RedisRateLimiter(client, LIMIT)
        for caller in ("caller", "other"):
            assert [each.remaining for each in await take(limiter, 4, caller)] == [2, 1, 0, 0]
        assert 0 < await client.pttl(KEY) <= LIMIT.window_s * 1000

    async def test_window_without_expiry_gets_one(self, client: FakeAsyncRedis):
        limiter = RedisRateLimiter(client, LIMIT)
        await limiter.take("caller")
        await client.persist(KEY)
        assert (await limiter.take("caller")).reset_s == 60
        assert await client.ttl(KEY) > 0

    async def test_window_that_expires_too_late_gets_a_new_expiry(self, client: FakeAsyncRedis):
        limiter = RedisRateLimiter(client, LIMIT)
        await limiter.take("caller")
        await client.expire(KEY, 10 * LIMIT.window_s)  # as after a clock was set back
        assert (await limiter.take("caller")).reset_s == 60
        assert await client.ttl(KEY) <= 60

    async def test_lost_server_raises_cache_unavailable(
        self, server: FakeServer, client: FakeAsyncRedis
    ):
        server.connected = False
        with pytest.raises(CacheUnavailable):
            await RedisRateLimiter(client, LIMIT).take("caller")

    @pytest.mark.real_redis
    async def test_two_clients_share_one_count(self, redis_url: str):
        first, second = open_redis(redis_url), open_redis(redis_url)
        one, other = RedisRateLimiter(first.client, LIMIT), RedisRateLimiter(second.client, LIMIT)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(limiter.take("caller"))
                for limiter in (one, other)
                for _ in range(20)
            ]
        assert [task.result().is_allowed for task in tasks].count(True) == LIMIT.requests
        await first.aclose()
        await second.aclose()


class BrokenLimiter:
    """A limiter whose Redis is down until a test repairs it."""

    def __init__(self) -> None:
        self.calls = 0
        self.is_down = True
        self.last_caller = ""

    async def take(self, caller: str) -> Allowance:
        self.calls += 1
        self.last_caller = caller
        if self.is_down:
            raise CacheUnavailable("down")
        return Allowance(is_allowed=False, remaining=0, reset_s=7)


class TestFallbackRateLimiter:
    def broken(self) -> tuple[FallbackRateLimiter, BrokenLimiter, FakeClock, RecordingJournal]:
        shared, clock, journal = BrokenLimiter(), FakeClock(), RecordingJournal()
        local = MemoryRateLimiter(LIMIT, clock)
        return FallbackRateLimiter(shared, local, Outage(clock, journal)), shared, clock, journal

    async def test_local_limit_applies_while_redis_is_down_and_is_noted_once(self):
        limiter, _, _, journal = self.broken()
        taken = await take(limiter, 10)
        assert [one.is_allowed for one in taken].count(True) == LIMIT.requests
        assert journal.events == ["cache.down"]

    async def test_redis_is_not_called_during_the_backoff(self):
        limiter, shared, clock, _ = self.broken()
        await take(limiter, 10)
        assert shared.calls == 1
        clock.advance(BACKOFF_S)
        await take(limiter, 2)
        assert shared.calls == 2

    async def test_shared_limit_applies_again_when_redis_is_back(self):
        limiter, shared, clock, journal = self.broken()
        await limiter.take("caller")
        shared.is_down = False
        clock.advance(BACKOFF_S)
        assert await limiter.take("caller") == Allowance(is_allowed=False, remaining=0, reset_s=7)
        assert journal.events == ["cache.down", "cache.back"]
        assert shared.last_caller == "caller"

    async def test_requests_allowed_before_an_outage_count_during_it(self):
        server, clock = FakeServer(), FakeClock()
        async with FakeAsyncRedis(server=server) as client:
            local = MemoryRateLimiter(LIMIT, clock)
            shared = RedisRateLimiter(client, LIMIT)
            limiter = FallbackRateLimiter(shared, local, Outage(clock, RecordingJournal()))
            assert all(one.is_allowed for one in await take(limiter, LIMIT.requests))
            server.connected = False
            assert not (await limiter.take("caller")).is_allowed

    @pytest.mark.real_redis
    async def test_hanging_redis_costs_one_short_wait(self, own_redis_server: RedisServer):
        opened, clock, journal = open_redis(own_redis_server.url), FakeClock(), RecordingJournal()
        local = MemoryRateLimiter(LIMIT, clock)
        limiter = FallbackRateLimiter(
            RedisRateLimiter(opened.client, LIMIT), local, Outage(clock, journal)
        )
        await limiter.take("caller")
        own_redis_server.pause()
        try:
            async with asyncio.timeout(8):  # twenty waits take ten
                taken = await take(limiter, 20)
        finally:
            own_redis_server.resume()
        assert [one.is_allowed for one in taken].count(True) == LIMIT.requests - 1
        assert len(journal.events) == 1
        await opened.aclose()
