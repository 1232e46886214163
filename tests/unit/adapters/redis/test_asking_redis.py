"""What asking Redis leaves behind."""

import asyncio
import gc
import weakref

import pytest
from fakeredis import FakeAsyncRedis
from redis.asyncio import Redis

from judge.adapters.redis.cache import RedisCache
from judge.adapters.redis.rate_limit import PREFIX, RedisRateLimiter
from judge.adapters.redis.round_trips import RoundTrips, answer_of
from judge.errors import CacheUnavailable
from judge.types.limits import RateLimit

LIMIT = RateLimit(requests=3, window_s=60)


async def test_whoever_asked_redis_is_gone_without_the_collector():
    async def answer():
        return "here"

    gc.disable()
    try:
        task = asyncio.create_task(answer_of(Redis(), answer))
        assert await task == "here"
        asker = weakref.ref(task)
        del task
        await asyncio.sleep(0)  # the loop itself holds whom it has just told
        assert asker() is None
    finally:
        gc.enable()


class CountingRedis(FakeAsyncRedis):
    """A client that counts what it sends: a command, or a pipeline of them."""

    sent = 0

    async def execute_command(self, *args, **options):
        self.sent += 1
        return await super().execute_command(*args, **options)

    def pipeline(self, *args, **options):
        self.sent += 1
        return super().pipeline(*args, **options)


async def test_who_asks_for_different_things_at_once_shares_a_round_trip():
    async with CountingRedis(decode_responses=True) as client:
        await client.set("a", "here")
        trips, before = RoundTrips(client), client.sent
        cache, limiter = RedisCache(client, None, trips), RedisRateLimiter(client, LIMIT, trips)
        texts, one, another, allowance = await asyncio.gather(
            cache.get_many(["a", "b"]),
            limiter.take("caller"),
            cache.get_many(["b", "a"]),
            limiter.take("caller"),
        )
        assert (texts, another) == (["here", None], [None, "here"])
        assert (one.remaining, allowance.remaining) == (2, 1)
        assert client.sent - before == 1


async def test_what_redis_refuses_to_one_is_answered_to_the_other():
    async with CountingRedis(decode_responses=True) as client:
        await client.set("a", "here")
        await client.rpush(f"{PREFIX}{{60}}:caller", "no number")
        trips = RoundTrips(client)
        cache, limiter = RedisCache(client, None, trips), RedisRateLimiter(client, LIMIT, trips)
        taking = asyncio.create_task(limiter.take("caller"))
        assert await cache.get_many(["a"]) == ["here"]
        with pytest.raises(CacheUnavailable, match="ResponseError"):
            await taking
