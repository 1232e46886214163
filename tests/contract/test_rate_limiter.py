"""The contract of RateLimiter, and what is special in Redis."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import pytest
from fakeredis import FakeServer

from judge.adapters.memory import MemoryRateLimiter
from judge.adapters.redis.shared import SharedRedis
from judge.adapters.redis.stores import RATE_PREFIX, RedisRateLimiter
from judge.ports import RateLimiter
from judge.types.setting_values import Allowance, RateLimit
from tests.contract.conftest import ALL, any_redis, opened
from tests.fakes.clock import FakeClock

LIMIT = RateLimit(requests=3, window_s=60)
KEY = f"{RATE_PREFIX}{{60}}:caller"


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


@pytest.fixture(params=ALL)
async def bench(request: pytest.FixtureRequest) -> AsyncIterator[LimiterUnderTest]:
    """Every adapter of the port in turn."""
    if request.param == "memory":
        yield memory_bench()
        return
    async with any_redis(request) as redis:

        async def end_window() -> None:
            assert await redis.client.ttl(KEY) > 0, "the window would never end by itself"
            await redis.client.expireat(KEY, 1)

        yield LimiterUnderTest(limiter_in(redis), end_window)


def limiter_in(redis: SharedRedis) -> RedisRateLimiter:
    return RedisRateLimiter(redis, LIMIT, MemoryRateLimiter(LIMIT, FakeClock()))


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
    async def test_keys_expire_and_are_not_snippet_keys(self, fake: SharedRedis):
        await limiter_in(fake).take("caller")
        assert await fake.client.keys("*") == [KEY]
        assert 0 < await fake.client.ttl(KEY) <= 60

    async def test_window_without_an_expiry_or_with_a_late_one_gets_one(self, fake: SharedRedis):
        limiter = limiter_in(fake)
        await limiter.take("caller")
        await fake.client.persist(KEY)
        assert (await limiter.take("caller")).reset_s == 60
        await fake.client.expire(KEY, 10 * LIMIT.window_s)  # as after a clock was set back
        assert (await limiter.take("caller")).reset_s == 60
        assert 0 < await fake.client.ttl(KEY) <= 60

    @pytest.mark.real_redis
    async def test_two_clients_share_one_count(self, redis_url: str):
        async with opened(redis_url) as first, opened(redis_url) as second:
            limiters = [limiter_in(first), limiter_in(second)]
            taken = await asyncio.gather(
                *(limiter.take("caller") for limiter in limiters for _ in range(20))
            )
        assert [one.is_allowed for one in taken].count(True) == LIMIT.requests

    async def test_requests_allowed_before_an_outage_count_during_it(
        self, server: FakeServer, fake: SharedRedis
    ):
        limiter = limiter_in(fake)
        assert all(one.is_allowed for one in await take(limiter, LIMIT.requests))
        server.connected = False
        assert not (await limiter.take("caller")).is_allowed
        assert fake.is_degraded
