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
from tests.entrypoints.running_server import RunningServer, World, wait_until
from tests.fakes.redis_server import RedisServer
from tests.fakes.waiting import until

pytestmark = [pytest.mark.process, pytest.mark.slow]

CROWD = 300
WORKERS = 2


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
def test_load_on_a_cold_cache_fetches_each_page_once_and_keeps_its_plain_text_for_a_day(
    world: World, redis_server: RedisServer
) -> None:
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    settings = {"REDIS_URL": redis_server.url, "JUDGE_RATE_LIMIT": "100000/minute"}
    with world.server(workers=WORKERS, **settings) as server:
        replies = asyncio.run(ask(server.url, CROWD))
    assert {reply.status for reply in replies} == {200}
    assert {len(reply.body["references"]) for reply in replies} == {2}
    assert (world.site.hits["/repairs"], world.site.hits["/rent"]) == (1, 1)
    with redis.Redis.from_url(redis_server.url, decode_responses=True) as client:
        kept = {key: client.get(key) for key in client.keys("snippet:*")}
        assert kept == {
            f"snippet:tenancy:{r['url']}": r["text"] for r in replies[0].body["references"]
        }
        assert all(0 < int(client.ttl(key)) <= 86400 for key in kept)


@pytest.mark.real_redis
def test_request_after_reading_ahead_fetches_nothing(
    world: World, redis_server: RedisServer
) -> None:
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    with world.server(workers=WORKERS, REDIS_URL=redis_server.url) as server:
        pages = {"/repairs": 1, "/rent": 1}
        wait_until(lambda: {path: world.site.hits[path] for path in pages} == pages)
        fetched = world.site.hits.copy()
        # Each worker that reads a page requests robots.txt once.
        assert 1 <= fetched["/robots.txt"] <= WORKERS
        replies = asyncio.run(ask(server.url, 5))
        assert world.site.hits == fetched
        assert server.stop() == 0
    assert [len(reply.body["references"]) for reply in replies] == [2] * 5
    assert "Traceback" not in server.stderr


DEADLINE_S = 4.0
DOMAINS = 150


def test_many_cold_domains_are_answered_within_the_deadline(world: World) -> None:
    disputes = world.write_cold_domains(DOMAINS, delay_s=1.0)
    with world.server(JUDGE_DEADLINE_S=str(DEADLINE_S), JUDGE_RATE_LIMIT="100000/minute") as server:
        replies = asyncio.run(ask_all(server.url, disputes))
        # The server writes a line after its reply, and another thread reads it.
        wait_until(lambda: len(server.lines_of("/api/judge")) == DOMAINS)
        # As measured by the server: the callers here share a core with it.
        taken = [line["ms"] / 1000 for line in server.lines_of("/api/judge")]
    assert {reply.status for reply in replies} <= {200, 503, 504}
    assert len(taken) == DOMAINS
    assert max(taken) < 2 * DEADLINE_S  # on a busy machine a reply is late, but not unbounded


def test_mass_disconnect_ends_all_model_calls(world: World) -> None:
    count = 200
    world.gemini.delay_s = 60.0

    async def come_and_leave(url: str) -> None:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=count)) as session:

            async def ask() -> None:
                async with session.post(f"{url}/api/judge/stream", json=DISPUTE) as response:
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
    # Connections that wait to be accepted when the socket closes are reset.
    assert ended["cut off"] <= 32
