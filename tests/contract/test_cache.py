"""The contract of Cache, its bounds in memory, and what is special in Redis."""

import asyncio
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.adapters.memory import MemoryCache
from judge.adapters.redis.shared import SharedRedis, connect
from judge.adapters.redis.stores import RedisCache
from judge.errors import ConfigurationError
from tests.contract.conftest import StoresUnderTest, opened
from tests.fakes.clock import FakeClock
from tests.fakes.redis_server import RedisServer

SNIPPET = "snippet:tenancy:https://example.org/repairs?a=1"


class TestEveryCache:
    async def test_get_many_returns_values_in_key_order_and_none_if_absent(
        self, stores: StoresUnderTest
    ):
        await stores.cache.put_many({"a": ("first", 60), "b": ("second", 60)})
        assert await stores.cache.get_many(["b", "missing", "a", "b"]) == [
            "second",
            None,
            "first",
            "second",
        ]

    async def test_empty_get_many_and_put_many_are_allowed(self, stores: StoresUnderTest):
        await stores.cache.put_many({})
        assert await stores.cache.get_many([]) == []

    @pytest.mark.parametrize("text", ["", "£400 – “déposit”\n\u2028 🏠", "x" * 100_000])
    async def test_text_round_trips_unchanged(self, stores: StoresUnderTest, text: str):
        await stores.cache.put_many({SNIPPET: (text, 60)})
        assert await stores.cache.get_many([SNIPPET]) == [text]

    async def test_put_replaces_value_and_ttl(self, stores: StoresUnderTest):
        await stores.cache.put_many({"a": ("old", 10)})
        await stores.cache.put_many({"a": ("new", 1000)})
        assert await stores.cache.get_many(["a"]) == ["new"]
        assert await stores.cache.seconds_left("a") == pytest.approx(1000, abs=5)

    async def test_ttl_is_in_seconds(self, stores: StoresUnderTest):
        await stores.cache.put_many({SNIPPET: ("text", 86_400)})
        left = await stores.cache.seconds_left(SNIPPET)
        assert left is not None
        assert 86_395 < left <= 86_400

    async def test_expired_value_is_absent(self, stores: StoresUnderTest):
        await stores.cache.put_many({"a": ("text", 60)})
        await stores.expire_key("a")
        assert await stores.cache.get_many(["a"]) == [None]
        assert await stores.cache.seconds_left("a") is None

    async def test_ttl_of_zero_counts_as_one_second(self, stores: StoresUnderTest):
        await stores.cache.put_many({"a": ("text", 0)})
        left = await stores.cache.seconds_left("a")
        assert left is not None
        assert 0 < left <= 1


class TestMemoryCache:
    async def test_least_recently_used_entry_is_evicted_first(self):
        cache = MemoryCache(FakeClock(), max_entries=2)
        await cache.put_many({"a": ("1", 60), "b": ("2", 60)})
        await cache.get_many(["a"])
        await cache.put_many({"c": ("3", 60)})
        assert await cache.get_many(["a", "b", "c"]) == ["1", None, "3"]

    @settings(max_examples=50)
    @given(
        st.lists(
            st.tuples(st.sampled_from("abcdef"), st.text(max_size=12), st.integers(1, 5)),
            max_size=40,
        )
    )
    def test_bounds_hold_and_sizes_are_counted_for_any_writes(
        self, writes: list[tuple[str, str, int]]
    ):
        clock = FakeClock()
        cache = MemoryCache(clock, max_entries=4, max_characters=30)

        async def write_all() -> list[str | None]:
            for key, value, ttl_s in writes:
                await cache.put_many({key: (value, ttl_s)})
                clock.advance(1)
                assert len(cache._entries) <= 4
                assert cache._characters <= 30
            return await cache.get_many(list("abcdef"))

        found = asyncio.run(write_all())
        last = {key: value for key, value, _ in writes}
        kept = {key: value for key, value in zip("abcdef", found, strict=True) if value is not None}
        assert kept.items() <= last.items()
        assert cache._characters >= sum(len(key) + len(value) for key, value in kept.items())


class TestRedisCache:
    @pytest.fixture
    def cache(self, fake: SharedRedis) -> RedisCache:
        return RedisCache(fake, MemoryCache(FakeClock()))

    async def test_foreign_values_are_absent_or_never_expire(
        self, fake: SharedRedis, cache: RedisCache
    ):
        await fake.client.hset("a", "field", "value")
        await fake.client.set("b", "by hand")
        assert await cache.get_many(["a"]) == [None]
        assert await cache.seconds_left("b") == math.inf
        assert not fake.is_degraded


@pytest.mark.real_redis
class TestRealServer:
    @pytest.fixture
    async def cache(self, own_redis_server: RedisServer):
        async with opened(own_redis_server.url) as redis:
            cache = RedisCache(redis, MemoryCache(FakeClock()))
            await cache.put_many({"a": ("text", 60)})
            yield cache

    async def test_six_keys_take_one_command(self, own_redis_server: RedisServer):
        async with opened(own_redis_server.url) as redis:
            await RedisCache(redis, MemoryCache(FakeClock())).get_many(list("abcdef"))
            assert (await redis.client.info("commandstats"))["cmdstat_mget"]["calls"] == 1

    async def test_invalid_utf8_counts_as_absent(
        self, own_redis_server: RedisServer, cache: RedisCache
    ):
        async with opened(own_redis_server.url) as other:
            await other.client.set("b", b"\xff\xfe\x00")
        assert await cache.get_many(["a", "b"]) == ["text", None]

    async def test_dropped_connection_is_replaced_silently(
        self, own_redis_server: RedisServer, cache: RedisCache
    ):
        async with opened(own_redis_server.url) as other:
            await other.client.client_kill_filter(_type="normal", skipme=True)
            await other.client.set("a", "another text")
        assert await cache.get_many(["a"]) == ["another text"]


@pytest.mark.parametrize("url", ["localhost:6379", "http://localhost", "redis://localhost:port"])
def test_malformed_url_raises_configuration_error_without_the_url(url: str):
    with pytest.raises(ConfigurationError, match="redis://host:6379/0") as caught:
        connect(url.replace("localhost", ":secret@localhost"))
    assert "secret" not in str(caught.value)
