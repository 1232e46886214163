"""A rolling restart under load, with a shared Redis, loses no request."""

import asyncio
import contextlib
import signal
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import aiohttp
import httpx
import pytest
import redis

from tests.entrypoints.api_bench import DISPUTE
from tests.entrypoints.running_server import RunningServer, World, wait_until
from tests.fakes.redis_server import RedisServer
from tests.fakes.waiting import until

ROUNDS = 40

pytestmark = [pytest.mark.real_redis, pytest.mark.process, pytest.mark.slow]


@dataclass
class Balancer:
    """Forwards each connection to the next ready server, without retries."""

    ports: list[int]
    turn: int = 0
    url: str = ""

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.turn += 1
        port = self.ports[self.turn % len(self.ports)]
        there, onward = await asyncio.open_connection("127.0.0.1", port)
        async with asyncio.TaskGroup() as group:
            group.create_task(_pump(reader, onward))
            group.create_task(_pump(there, writer))

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        server = await asyncio.start_server(self.pass_on, "127.0.0.1", 0)
        async with server:
            self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            yield


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


@dataclass
class Clients:
    """Clients that send one request after another, and the replies."""

    url: str
    statuses: Counter[int] = field(default_factory=Counter)
    versions: Counter[str] = field(default_factory=Counter)
    is_over: bool = False

    async def ask(self, session: aiohttp.ClientSession) -> None:
        while not self.is_over:
            async with session.post(f"{self.url}/api/judge", json=DISPUTE) as response:
                body = await response.json()
            self.statuses[response.status] += 1
            self.versions[body["versions"]["sources"]] += 1

    async def until_answered(self, count: int) -> None:
        wanted = self.statuses.total() + count
        await until(lambda: self.statuses.total() >= wanted, timeout_s=60)

    @contextlib.asynccontextmanager
    async def asking(self) -> AsyncIterator[None]:
        connector = aiohttp.TCPConnector(limit=0, force_close=True)
        async with (
            aiohttp.ClientSession(connector=connector) as session,
            asyncio.TaskGroup() as all_,
        ):
            for _ in range(8):
                all_.create_task(self.ask(session))
            yield
            self.is_over = True


def port_of(server: RunningServer) -> int:
    return int(server.url.rpartition(":")[2])


def write_next_version(world: World) -> str:
    """Write sources with another digest and other personas, so that the prompt differs."""
    text = (world.directory / "sources.toml").read_text()
    voices = "".join(
        f'[[personas]]\nname = "{name}"\nbrief = "You look at what a {name} sees."\n'
        for name in ("Therapist", "Analyst", "Coach")
    )
    path = world.directory / "next.toml"
    path.write_text(f"{text}{voices}")
    return str(path)


def test_new_version_takes_over_without_losing_a_request(
    world: World, redis_server: RedisServer
) -> None:
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    world.gemini.delay_s = 0.1
    common = {"REDIS_URL": redis_server.url, "JUDGE_RATE_LIMIT": "100000/minute"}

    async def roll(old: RunningServer, new: RunningServer) -> Clients:
        balancer = Balancer([port_of(old)])
        async with balancer.open():
            clients = Clients(balancer.url)
            async with clients.asking():
                await clients.until_answered(ROUNDS)
                balancer.ports.append(port_of(new))
                await clients.until_answered(ROUNDS)
                del balancer.ports[0]  # as Kubernetes does while the old one waits in preStop
                await clients.until_answered(ROUNDS)
                old.process.send_signal(signal.SIGTERM)
                assert await asyncio.to_thread(old.process.wait, 20) == 0
                await clients.until_answered(ROUNDS)
        return clients

    with (
        world.server(**common) as old,
        world.server(**common, JUDGE_SOURCES=write_next_version(world)) as new,
    ):
        clients = asyncio.run(roll(old, new))
        assert set(clients.statuses) == {200}
        assert len(clients.versions) == 2
        assert new.stop() == 0
    assert (world.site.hits["/repairs"], world.site.hits["/rent"]) == (1, 1)
    assert "Traceback" not in old.stderr + new.stderr


LATER_READING = "from judge.library.pages import page_records; page_records.READING_VERSION += 1; "


def test_cached_records_of_one_version_do_not_affect_the_other(
    world: World, redis_server: RedisServer
) -> None:
    common = {"REDIS_URL": redis_server.url}
    pages = ("/repairs", "/rent")
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
        with world.server(**common) as old:
            wait_until(lambda: client.keys("page:*") and all(world.site.hits[p] for p in pages))
            before = world.site.hits.copy()
            later = {**common, "JUDGE_SOURCES": write_next_version(world)}
            with world.server(**later, prelude=LATER_READING) as new:
                for server in (new, old, new, old):
                    reply = httpx.post(f"{server.url}/api/judge", json=DISPUTE)
                    assert reply.status_code == 200
                    assert len(reply.json()["references"]) == 2
                fetched = sum(world.site.hits[p] - before[p] for p in pages)
                # Each version reads the page again once, not in turns.
                assert 0 < fetched <= 4
    assert "Traceback" not in old.stderr + new.stderr
