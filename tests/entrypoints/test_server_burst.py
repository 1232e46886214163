"""The request limit of the real server under a burst, whatever Redis does meanwhile."""

import asyncio
from collections import Counter

import aiohttp
import pytest

from tests.entrypoints.running_server import World
from tests.fakes.redis_server import RedisServer, running_redis

pytestmark = [pytest.mark.real_redis, pytest.mark.process, pytest.mark.slow]

WORKERS = 2

LIMIT = 60
BURST = 1000
PATH = "/api/domains"
"""Costs next to nothing."""


async def burst(url: str, count: int = BURST, dispute: object = None) -> Counter[int]:
    """The statuses of *count* requests at once, each on a connection of its own."""

    async def one(session: aiohttp.ClientSession) -> int:
        method, path = ("POST", "/api/judge") if dispute else ("GET", PATH)
        async with session.request(method, url + path, json=dispute) as response:
            await response.read()
            return response.status

    connector = aiohttp.TCPConnector(limit=count, force_close=True)
    async with aiohttp.ClientSession(connector=connector) as session:
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(one(session)) for _ in range(count)]
        return Counter(task.result() for task in asked)


def nothing(_: RedisServer) -> None:
    """Redis is well."""


@pytest.mark.parametrize(
    "happens", [nothing, RedisServer.pause, RedisServer.kill], ids=["up", "hanging", "down"]
)
def test_burst_does_not_exceed_the_limit(world: World, happens) -> None:
    with running_redis() as redis:
        settings = {
            "REDIS_URL": redis.url,
            "JUDGE_RATE_LIMIT": f"{LIMIT}/hour",
            "JUDGE_MODEL": "extractive",
        }
        with world.server(WORKERS, **settings) as server:
            happens(redis)
            statuses = asyncio.run(burst(server.url))
            said = server.stderr
            if happens is RedisServer.pause:
                redis.resume()
    allowed = LIMIT if happens is nothing else LIMIT * WORKERS
    assert sum(statuses.values()) == BURST
    assert set(statuses) == {200, 429}
    assert LIMIT <= statuses[200] <= allowed
    if happens is nothing:
        assert "cache.down" not in said
