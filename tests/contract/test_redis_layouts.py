"""Redis as a cluster and behind sentinels: when a master dies under load, only cache is lost."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from judge.adapters.memory import SystemClock
from judge.adapters.redis.shared import connect
from judge.bootstrap.library import Stores, open_stores, ping_redis
from judge.errors import CacheUnavailable, ConfigurationError
from judge.settings import Settings
from tests.fakes.journal import RecordingJournal
from tests.fakes.redis_cluster import RunningCluster, ask, running_cluster, running_sentinels
from tests.fakes.redis_server import RedisServer, free_port
from tests.fakes.waiting import until

ROOT = Path(__file__).parent.parent.parent
PAGES = [f"snippet:tenancy:https://example.org/{number}" for number in range(30)]
LIMIT = 200
FAILOVER_TIMEOUT_S = 60.0
BACKOFF_S = 0.2
"""Shorter than usual, for a test that waits for it."""


@dataclass
class Load:
    """The Redis calls of one process's requests, repeated, and their counts."""

    stores: Stores
    rounds: int = 0
    allowed: int = 0
    spent: int = 0
    is_over: bool = False

    async def run(self) -> None:
        while not self.is_over:
            found = await self.stores.cache.get_many(PAGES)
            # What a dead master had not replicated is lost, and read again like any page.
            assert set(found) <= {"text", None}
            lost = [page for page, text in zip(PAGES, found, strict=True) if text is None]
            to_store = lost or [PAGES[self.rounds % len(PAGES)]]
            await self.stores.cache.put_many(dict.fromkeys(to_store, ("text", 3600)))
            self.allowed += (await self.stores.limiter.take("caller")).is_allowed
            await self.stores.tokens.add(7)
            self.spent += 7
            self.rounds += 1
            await asyncio.sleep(0)  # the stores inside the process never wait

    async def until_rounds_pass(self, rounds: int = 20) -> None:
        target = self.rounds + rounds
        await until(lambda: self.rounds >= target, timeout_s=FAILOVER_TIMEOUT_S)

    async def until_shared_again(self, server_has: Callable[[], bool]) -> None:
        """Return once the limit is counted in Redis again."""

        def is_shared() -> bool:
            return server_has() and not self.stores.degraded()

        await until(is_shared, timeout_s=FAILOVER_TIMEOUT_S)


def settings_for(url: str) -> Settings:
    return Settings(_env_file=None, REDIS_URL=url, JUDGE_RATE_LIMIT=f"{LIMIT}/hour")


def stores_at(url: str) -> Stores:
    return open_stores(settings_for(url), SystemClock(), RecordingJournal())


@asynccontextmanager
async def load_on(url: str) -> AsyncIterator[Load]:
    load = Load(stores_at(url))
    await load.stores.cache.put_many(dict.fromkeys(PAGES, ("text", 3600)))
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(4):
                group.create_task(load.run())
            yield load
            load.is_over = True
        assert await load.stores.tokens.add(0) >= load.spent
        # While Redis was down this process counted alone, so the limit may be used twice.
        assert 0 < load.allowed <= 2 * LIMIT
    finally:
        await load.stores.redis.aclose()


@pytest.mark.real_redis
class TestCluster:
    async def test_cluster_node_given_as_single_server_is_detected(
        self, shared_redis_cluster: RunningCluster
    ):
        port = shared_redis_cluster.nodes[0].port
        with pytest.raises(CacheUnavailable, match=r"begin REDIS_URL with redis\+cluster://"):
            await ping_redis(settings_for(f"redis://127.0.0.1:{port}"))

    async def test_single_server_given_as_cluster_is_detected(self, redis_url: str):
        with pytest.raises(CacheUnavailable, match="RedisClusterException"):
            await ping_redis(settings_for(redis_url.replace("redis://", "redis+cluster://")))

    @pytest.mark.slow
    async def test_master_killed_under_load_loses_only_cache(self):
        with running_cluster(replicas=1, node_timeout_ms=1000) as cluster:
            dying, replica = cluster.nodes[0], cluster.nodes[-1]
            async with load_on(cluster.url) as load:
                await load.until_rounds_pass()
                dying.kill()
                await load.until_rounds_pass()
                await load.until_shared_again(
                    lambda: (
                        ask(replica.port, "INFO", "replication")["role"] == "master"
                        and "ok" in ask(replica.port, "CLUSTER INFO")["cluster_state"]
                    )
                )
                await load.until_rounds_pass()
                await load.stores.redis.ping()
                assert ask(replica.port, "DBSIZE") > 0


@pytest.mark.real_redis
class TestSentinels:
    @pytest.mark.slow
    async def test_master_killed_under_load_loses_only_cache(self):
        with running_sentinels() as watched:
            async with load_on(watched.url) as load:
                await load.until_rounds_pass()
                watched.master.kill()
                await load.until_rounds_pass()
                port = watched.replica.port
                await load.until_shared_again(
                    lambda: ask(port, "INFO", "replication")["role"] == "master"
                )
                await load.until_rounds_pass()
                await load.stores.redis.ping()
            with pytest.raises(CacheUnavailable, match="MasterNotFoundError"):
                await ping_redis(settings_for(watched.url.replace("/judge", "/another")))

    async def test_concurrent_callers_keep_all_sentinels_when_the_first_is_down(self):
        with running_sentinels() as watched:
            url = watched.url.replace("sentinel://", f"sentinel://127.0.0.1:{free_port()},")
            redis = stores_at(url).redis
            sentinels = redis.client.connection_pool.sentinel_manager
            known = set(sentinels.sentinels)
            await asyncio.gather(*(sentinels.discover_master("judge") for _ in range(8)))
            assert set(sentinels.sentinels) == known
            assert len(known) == len(sentinels.sentinels) == 4
            await redis.aclose()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("redis+sentinel://:secret@a:1,b:2", "must be written as redis:"),
        ("redis+sentinel://:secret@a:1/main/secret", "must be written as redis:"),
        ("redis+cluster://:secret@a:1/3", "must be written as redis:"),
        ("redis+cluster://:secret@a:1,:2", "must be written as redis:"),
        ("redis+cluster://:secret@a:1,b:secret", "must be written as redis:"),
        ("redis+cluster://:secret@a:1?socket_timeout=secret", "Invalid value"),
        ("redis+cluster://:secret@a:1?sockets=secret", "sockets"),
        ("redis+cluster://:secret@", "must be written as redis:"),
        ("redis+other://:secret@a:1", "must be written as redis:"),
        ("redis://:sec/secret@a:1", "must be written as redis:"),
        ("redis://:secret@a:1/main", "must be written as redis:"),
        ("redis://:secret@a:1?sockets=secret", "sockets"),
        ("rediss://:secret@a:1?ssl_cert_reqs=strictly", "strictly"),
        ("redis+sentinel://:secret@a:1/main?sockets=secret", "sockets"),
    ],
)
def test_unusable_url_of_several_hosts_is_explained_without_the_url(url: str, message: str):
    with pytest.raises(ConfigurationError, match=message) as caught:
        connect(url)
    assert "secret" not in str(caught.value)


async def as_user(server: RedisServer, rights: str) -> Stores:
    """The stores of a user of *server* that has only these *rights*."""
    admin = stores_at(server.url).redis
    command = ("ACL SETUSER", "judge", "reset", "on", ">pw", *rights.split())
    await admin.client.execute_command(*command)
    await admin.aclose()
    return stores_at(server.url.replace("//", "//judge:pw@"))


def documented_rights() -> str:
    page = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    [rights] = re.findall(r"restricted\s+user needs `([^`]+)`", page)
    return rights


@pytest.mark.real_redis
async def test_documented_rights_of_a_redis_user_suffice(own_redis_server: RedisServer):
    stores = await as_user(own_redis_server, documented_rights())
    await stores.redis.ping()
    assert await stores.tokens.add(7) == 7
    assert stores.degraded() == ()
    await stores.redis.aclose()


@pytest.mark.real_redis
@pytest.mark.parametrize("denied", ["incrby", "mget", "pexpire", "evalsha"])
async def test_missing_right_is_an_outage_that_lasts_and_the_limit_holds(
    own_redis_server: RedisServer, denied: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("judge.adapters.redis.shared.BACKOFF_S", BACKOFF_S)
    stores = await as_user(own_redis_server, f"{documented_rights()} -{denied}")
    for _ in range(2):
        await stores.cache.get_many(["a"])
        await stores.tokens.add(7)
        taken = [(await stores.limiter.take("caller")).is_allowed for _ in range(LIMIT + 20)]
        assert stores.degraded() == ("redis",)
        # Nothing that works makes Redis count as back while something does not.
        await asyncio.sleep(BACKOFF_S)
    assert taken.count(True) == 0
    with pytest.raises(CacheUnavailable, match=r"ResponseError|NoPermission"):
        await stores.redis.ping()
    await stores.redis.aclose()
