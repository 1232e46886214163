"""The request limit of the real server under a burst, whatever Redis does meanwhile."""

import asyncio
from collections import Counter

import aiohttp
import pytest

from tests.entrypoints.running_server import World
from tests.fakes.redis_server import running_redis

pytestmark = [pytest.mark.real_redis, pytest.mark.process, pytest.mark.slow]

WORKERS = 2

LIMIT = 60
BURST = 400
PATH = "/api/domains"
"""Costs next to nothing."""


async def burst(url: str, visitor: str) -> Counter[int]:
    """The statuses of many requests of *visitor* at once, each on a connection of its own."""

    async def one(session: aiohttp.ClientSession) -> int:
        async with session.get(url + PATH) as response:
            await response.read()
            return response.status

    connector = aiohttp.TCPConnector(limit=BURST, force_close=True, local_addr=(visitor, 0))
    async with aiohttp.ClientSession(connector=connector) as session:
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(one(session)) for _ in range(BURST)]
        return Counter(task.result() for task in asked)


def test_burst_does_not_exceed_the_limit(world: World) -> None:
    with running_redis() as redis:
        settings = {
            "REDIS_URL": redis.url,
            "JUDGE_RATE_LIMIT": f"{LIMIT}/hour",
            "JUDGE_MODEL": "extractive",
        }
        with world.server(WORKERS, **settings) as server:
            counted = asyncio.run(burst(server.url, "127.0.0.2"))
            redis.kill()
            alone = asyncio.run(burst(server.url, "127.0.0.3"))
    assert counted == {200: LIMIT, 429: BURST - LIMIT}
    assert sum(alone.values()) == BURST
    assert set(alone) == {200, 429}
    assert LIMIT <= alone[200] <= LIMIT * WORKERS
