"""The real server under load: workers share one fetch per page, and fetch pages concurrently."""

import asyncio
import signal
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest
import redis

from tests.entrypoints.api_bench import DISPUTE
from tests.entrypoints.running_server import PAGE, RunningServer, World, wait_until
from tests.fakes import site
from tests.fakes.redis_server import RedisServer
from tests.fakes.waiting import until

CROWD = 500


@dataclass(frozen=True)
class Reply:
    status: int
    body: dict[str, Any]


async def ask(url: str, count: int) -> list[Reply]:
    """*count* requests at once."""
    return await ask_all(url, [DISPUTE] * count)


async def ask_all(url: str, disputes: Sequence[Mapping[str, str]]) -> list[Reply]:
    """All *disputes* at once; aiohttp, since httpx needs ten times as long for a crowd."""

    async def one(session: aiohttp.ClientSession, dispute: Mapping[str, str]) -> Reply:
        async with session.post(f"{url}/api/judge", json=dispute) as response:
            return Reply(response.status, await response.json(content_type=None))

    connector = aiohttp.TCPConnector(limit=len(disputes))
    async with aiohttp.ClientSession(connector=connector) as session:
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(one(session, dispute)) for dispute in disputes]
        return [task.result() for task in asked]


@pytest.mark.real_redis
@pytest.mark.parametrize("workers", [1, 2])
def test_load_on_a_cold_cache_fetches_each_page_once(
    world: World, redis_server: RedisServer, workers: int
) -> None:
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    settings = {"REDIS_URL": redis_server.url, "JUDGE_RATE_LIMIT": "100000/minute"}
    with world.server(workers=workers, **settings) as server:
        replies = asyncio.run(ask(server.url, CROWD))
    assert {reply.status for reply in replies} == {200}
    assert {len(reply.body["references"]) for reply in replies} == {2}
    assert (world.site.hits["/repairs"], world.site.hits["/rent"]) == (1, 1)


@pytest.mark.real_redis
def test_redis_has_plain_text_with_a_ttl_of_a_day(world: World, redis_server: RedisServer) -> None:
    with redis.Redis.from_url(redis_server.url, decode_responses=True) as client:
        client.flushall()
        with world.server(REDIS_URL=redis_server.url) as server:
            [reply] = asyncio.run(ask(server.url, 1))
        kept = {key: client.get(key) for key in client.keys("snippet:*")}
        assert kept == {
            f"snippet:tenancy:{reference['url']}": reference["text"]
            for reference in reply.body["references"]
        }
        assert all(0 < int(client.ttl(key)) <= 86400 for key in kept)


def test_slow_pages_are_fetched_concurrently(world: World) -> None:
    paths = ("/a", "/b", "/c")
    for path in paths:
        world.site.script(path, site.Reply(PAGE.encode(), delay_s=2.0))
    sources = "".join(
        f'[[domains.tenancy.sources]]\nurl = "{world.site.url(path)}"\ntitle = "{path}"\n'
        for path in paths
    )
    (world.directory / "sources.toml").write_text(
        f"[retrieval]\nreferences = 3\n[domains.tenancy.terms]\nlandlord = 3\n{sources}"
    )
    with world.server() as server:
        [reply] = asyncio.run(ask(server.url, 1))
    assert len(reply.body["references"]) == 3
    # Not a speed test: one after another they would take six seconds.
    assert reply.body["timings_ms"]["references"] < 5000


@pytest.mark.real_redis
@pytest.mark.parametrize("workers", [1, 2])
def test_request_after_reading_ahead_fetches_nothing(
    world: World, redis_server: RedisServer, workers: int
) -> None:
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    with world.server(workers=workers, REDIS_URL=redis_server.url) as server:
        pages = {"/repairs": 1, "/rent": 1}
        wait_until(lambda: {path: world.site.hits[path] for path in pages} == pages)
        fetched = world.site.hits.copy()
        # Each worker that reads a page requests robots.txt once.
        assert 1 <= fetched["/robots.txt"] <= workers
        replies = asyncio.run(ask(server.url, 5))
        assert world.site.hits == fetched
        assert server.stop() == 0
    assert [len(reply.body["references"]) for reply in replies] == [2] * 5
    assert "Traceback" not in server.stderr


def test_server_stops_at_once_while_reading_ahead(world: World) -> None:
    world.site.hold("/repairs")
    with world.server() as server:
        wait_until(lambda: world.site.hits["/repairs"])
        assert server.stop() == 0
    assert "Traceback" not in server.stderr
    assert "read_ahead.failed" not in server.stderr


DEADLINE_S = 4.0
DOMAINS = 150


@pytest.mark.parametrize("delay_s", [0.0, 1.0])
def test_many_cold_domains_are_answered_within_the_deadline(world: World, delay_s: float) -> None:
    disputes = world.write_cold_domains(DOMAINS, delay_s=delay_s)
    with world.server(JUDGE_DEADLINE_S=str(DEADLINE_S), JUDGE_RATE_LIMIT="100000/minute") as server:
        replies = asyncio.run(ask_all(server.url, disputes))
        # The server writes a line after its reply, and another thread reads it.
        wait_until(lambda: len(server.lines_of("/api/judge")) == DOMAINS)
        # As measured by the server: the callers here share a core with it.
        taken = [line["ms"] / 1000 for line in server.lines_of("/api/judge")]
    assert {reply.status for reply in replies} <= {200, 503, 504}
    assert len(taken) == DOMAINS
    assert max(taken) < DEADLINE_S + 0.5


@pytest.mark.parametrize("path", ["/api/judge", "/api/judge/stream"])
def test_mass_disconnect_ends_all_model_calls(world: World, path: str) -> None:
    count = 200
    world.gemini.delay_s = 60.0

    async def come_and_leave(url: str) -> None:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=count)) as session:

            async def ask() -> None:
                async with session.post(url + path, json=DISPUTE) as response:
                    await response.read()

            asking = [asyncio.create_task(ask()) for _ in range(count)]
            await until(lambda: len(world.gemini.seen) == count, timeout_s=60)
            for task in asking:
                task.cancel()
            await asyncio.wait(asking)

    with world.server(JUDGE_RATE_LIMIT="100000/minute", JUDGE_DEADLINE_S="120") as server:
        asyncio.run(come_and_leave(server.url))
        wait_until(lambda: server.stderr.count('"status":499') == count)
        assert server.stop() == 0


def test_sigterm_under_load_loses_no_request(world: World) -> None:
    world.gemini.delay_s = 0.2
    ended: Counter[str] = Counter()

    async def ask_until_refused(session: aiohttp.ClientSession, url: str) -> None:
        while not ended["refused"]:
            try:
                async with session.post(f"{url}/api/judge", json=DISPUTE) as response:
                    await response.read()
                    ended[str(response.status)] += 1
            except aiohttp.ClientConnectorError:
                ended["refused"] += 1
            except aiohttp.ClientError:
                ended["cut off"] += 1
                return

    async def ask_and_stop(server: RunningServer) -> None:
        connector = aiohttp.TCPConnector(limit=0, force_close=True)
        async with (
            aiohttp.ClientSession(connector=connector) as session,
            asyncio.TaskGroup() as group,
        ):
            for _ in range(32):
                group.create_task(ask_until_refused(session, server.url))
            await until(lambda: ended["200"] > 60)
            server.process.send_signal(signal.SIGTERM)

    with world.server(JUDGE_RATE_LIMIT="100000/minute") as server:
        asyncio.run(ask_and_stop(server))
        assert server.process.wait(20) == 0
    assert set(ended) <= {"200", "refused", "cut off"}
    # Connecting at the moment when the socket closes gives a reset.
    assert ended["cut off"] <= 1
