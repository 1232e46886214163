"""While Redis is down, requests are answered without more fetches and with hardly any delay."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass
from importlib.util import find_spec

import pytest
from redis.asyncio import Redis

from judge.adapters.memory import SystemClock
from judge.adapters.redis.shared import BACKOFF_S, REPLY_TIMEOUT_S
from judge.bootstrap.library import Stores, open_stores
from judge.library.extract.html_page import ReadPage
from judge.library.pages.page_records import SnippetRequest
from judge.library.pages.retriever import SnippetRetriever
from judge.settings import Settings
from judge.types.references import Page, RetrievalSettings, Snippet, SourceSpec
from tests.fakes.fetcher import ScriptedFetcher
from tests.fakes.journal import RecordingJournal
from tests.fakes.redis_server import RedisServer
from tests.fakes.waiting import is_ever_within, seconds_of

SOURCES = tuple(SourceSpec(f"https://advice.example/{name}", name) for name in ("a", "b"))
SETTINGS = RetrievalSettings()
LIMIT_S = REPLY_TIMEOUT_S + 0.7
"""One timeout and a margin for a busy machine; an outage must add less than a second."""


@dataclass
class Process:
    """A retriever wired as in a server process."""

    retriever: SnippetRetriever
    stores: Stores
    journal: RecordingJournal

    async def ask(self) -> tuple[Snippet, ...]:
        requests = [SnippetRequest("tenancy", source, SETTINGS) for source in SOURCES]
        pages = await self.retriever.retrieve(requests)
        return tuple(page.snippet for page in pages if page.snippet)


def read_text(_: SnippetRequest, page: Page) -> ReadPage:
    """Pages are plain text already."""
    return ReadPage(lead=page.body.decode())


@asynccontextmanager
async def process(url: str, fetcher: ScriptedFetcher) -> AsyncIterator[Process]:
    clock, journal = SystemClock(), RecordingJournal()
    stores = open_stores(Settings(_env_file=None, REDIS_URL=url), clock, journal)
    retriever = SnippetRetriever(fetcher, stores.cache, stores.lock, clock, journal, read=read_text)
    try:
        yield Process(retriever, stores, journal)
    finally:
        await retriever.aclose()
        await stores.redis.aclose()


@pytest.fixture
def fetcher() -> ScriptedFetcher:
    fetcher = ScriptedFetcher()
    for source in SOURCES:
        fetcher.page(source.url, f"Words of {source.title}.")
    return fetcher


@pytest.fixture
async def start(fetcher: ScriptedFetcher) -> AsyncIterator[Callable]:
    """Starts processes that use the Redis at a URL, each with its own connections."""
    async with AsyncExitStack() as stack:

        async def start_process(url: str) -> Process:
            return await stack.enter_async_context(process(url, fetcher))

        yield start_process


async def recovered(process: Process) -> None:
    """Return once *process* uses Redis again, which it tries once a second."""
    while process.stores.degraded():
        await asyncio.sleep(BACKOFF_S / 5)
        await process.stores.cache.seconds_left("probe")


async def flood(processes: list[Process], count: int = 500) -> list[tuple[Snippet, ...]]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(processes[n % len(processes)].ask()) for n in range(count)]
    return [task.result() for task in tasks]


@pytest.mark.real_redis
class TestRealServer:
    @pytest.mark.parametrize("count", [1, 2, 3])
    async def test_500_requests_on_a_cold_cache_fetch_each_page_once(
        self, redis_url: str, fetcher: ScriptedFetcher, start: Callable, count: int
    ):
        processes = [await start(redis_url) for _ in range(count)]
        answers = await flood(processes)
        assert all(len(found) == 2 for found in answers)
        assert fetcher.hits == {source.url: 1 for source in SOURCES}
        assert not any(one.stores.degraded() for one in processes)

    async def test_snippet_key_has_text_and_a_ttl_of_a_day(
        self, redis_url: str, fetcher: ScriptedFetcher, start: Callable
    ):
        await (await start(redis_url)).ask()
        async with Redis.from_url(redis_url, decode_responses=True) as client:
            keys = await client.keys("snippet:*")
            assert sorted(keys) == [f"snippet:tenancy:{source.url}" for source in SOURCES]
            assert await client.get(keys[0]) in {"Words of a.", "Words of b."}
            assert 86_390 < await client.ttl(keys[0]) <= 86_400
            assert await client.keys("lock:*") == []

    async def test_crash_costs_no_fetches_and_little_time(
        self, own_redis_server: RedisServer, fetcher: ScriptedFetcher, start: Callable
    ):
        only = await start(own_redis_server.url)
        await only.ask()

        async def asked_after_a_crash() -> float:
            own_redis_server.kill()
            seconds = await seconds_of(only.ask)
            own_redis_server.start()
            await recovered(only)
            return seconds

        assert await is_ever_within(LIMIT_S, asked_after_a_crash)
        own_redis_server.kill()
        await flood([only])
        assert fetcher.hits == {source.url: 1 for source in SOURCES}

    async def test_hanging_server_costs_one_timeout_in_all(
        self, own_redis_server: RedisServer, fetcher: ScriptedFetcher, start: Callable
    ):
        only = await start(own_redis_server.url)
        await only.ask()

        async def ask_ten_times() -> None:
            for _ in range(10):
                assert len(await only.ask()) == 2

        async def asked_while_it_hangs() -> float:
            own_redis_server.pause()
            seconds = await seconds_of(ask_ten_times)
            own_redis_server.resume()
            await recovered(only)
            return seconds

        assert await is_ever_within(LIMIT_S, asked_while_it_hangs)
        assert only.journal.events.count("cache.back") == only.journal.events.count("cache.down")

    async def test_500_requests_at_a_hanging_server_fetch_each_page_once(
        self, own_redis_server: RedisServer, fetcher: ScriptedFetcher, start: Callable
    ):
        cut_off = await start(own_redis_server.url)
        own_redis_server.pause()
        answers = await flood([cut_off])
        own_redis_server.resume()
        assert all(len(found) == 2 for found in answers)
        assert fetcher.hits == {source.url: 1 for source in SOURCES}

    async def test_restarted_server_is_used_again(
        self, own_redis_server: RedisServer, fetcher: ScriptedFetcher, start: Callable
    ):
        first, second = await start(own_redis_server.url), await start(own_redis_server.url)
        await first.ask()
        own_redis_server.kill()
        await first.ask()
        own_redis_server.start()
        await recovered(first)
        await first.ask()
        await second.ask()
        assert fetcher.hits == {source.url: 2 for source in SOURCES}


HAS_HIREDIS = find_spec("hiredis") is not None


@pytest.mark.skipif(HAS_HIREDIS, reason="hiredis makes room for any length; Judge goes without it")
async def test_server_that_announces_a_huge_reply_is_an_outage():
    said = [b"*999999999\r\n", b"$999999999\r\n", b"*9\r\n*9\r\n", b"?\r\n"]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer):
            while await reader.read(1000):
                writer.write(said[0])

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        while said:
            async with process(url, ScriptedFetcher()) as only, asyncio.timeout(10):
                assert await only.stores.cache.get_many(["a"]) == [None]
                assert only.stores.degraded() == ("redis",)
            said.pop(0)
