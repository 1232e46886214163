"""The real server under load: workers share one fetch per page, and fetch pages concurrently."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest
import redis

from tests.entrypoints.api_bench import DISPUTE
from tests.entrypoints.running_server import World
from tests.fakes.redis_server import RedisServer

pytestmark = [pytest.mark.process, pytest.mark.slow]

CROWD = 100
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
        assert server.stop() == 0
    assert {reply.status for reply in replies} == {200}
    assert {len(reply.body["references"]) for reply in replies} == {2}
    assert (world.site.hits["/repairs"], world.site.hits["/rent"]) == (1, 1)
    with redis.Redis.from_url(redis_server.url, decode_responses=True) as client:
        kept = {key: client.get(key) for key in client.keys("snippet:*")}
        references = {f"snippet:tenancy:{r['url']}": r for r in replies[0].body["references"]}
        assert set(kept) == set(references)
        assert all(references[key]["text"].startswith(lead) for key, lead in kept.items())
        assert all(0 < int(client.ttl(key)) <= 86400 for key in kept)
