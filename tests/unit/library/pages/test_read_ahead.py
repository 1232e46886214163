"""Reading ahead: pages are read before a request needs them, one at a time from each host."""

import asyncio
from collections import Counter

import pytest

from judge.adapters.memory import MemoryCache, MemoryLock
from judge.library.extract.html_page import ReadPage
from judge.library.pages.approved_pages import requests_of
from judge.library.pages.page_records import SnippetRequest
from judge.library.pages.retriever import ReadAhead, SnippetRetriever
from judge.library.sources.catalog import parse_sources
from judge.ports import Cache, Lock
from judge.types.references import Page
from tests.fakes.clock import FakeClock
from tests.fakes.fetcher import ScriptedFetcher
from tests.fakes.journal import RecordingJournal
from tests.fakes.waiting import until

HOSTS = ("a.example", "b.example")
URLS = [f"https://{host}/{number}" for host in HOSTS for number in range(3)]
CATALOG = parse_sources(
    "[domains.tenancy]\nterms = { landlord = 3 }\n"
    + "".join(
        f'[[domains.tenancy.sources]]\nurl = "{url}"\ntitle = "Page {url[-1]}"\n' for url in URLS
    )
)
HOUR_S = 3600


def read(_: SnippetRequest, page: Page) -> ReadPage:
    return ReadPage(lead=page.body.decode())


class HostCountingFetcher(ScriptedFetcher):
    """Counts the concurrent requests to each host."""

    def __init__(self) -> None:
        super().__init__()
        self.now: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        for url in URLS:
            self.page(url, f"Words of {url}.")

    async def fetch(self, url: str, **settings):
        host = url.split("/")[2]
        self.now[host] += 1
        self.most[host] = max(self.most[host], self.now[host])
        try:
            await asyncio.sleep(0)
            return await super().fetch(url, **settings)
        finally:
            self.now[host] -= 1


class World:
    """Processes that share one cache, and a scripted web."""

    def __init__(self, cache: Cache | None = None, lock: Lock | None = None) -> None:
        self.clock, self.journal = FakeClock(), RecordingJournal()
        self.fetcher = HostCountingFetcher()
        self.cache = cache or MemoryCache(self.clock)
        self.lock = lock or MemoryLock(self.clock)

    def process(self, interval_s: float = 0.0) -> ReadAhead:
        retriever = SnippetRetriever(
            self.fetcher, self.cache, self.lock, self.clock, self.journal, read=read
        )
        return ReadAhead(retriever, lambda: CATALOG, self.journal, interval_s)


@pytest.fixture
def world() -> World:
    return World()


def known(process: ReadAhead) -> int:
    library = process.retriever.library
    return sum(library.page(request).record is not None for request in requests_of(CATALOG))


async def test_first_round_reads_every_page_so_that_requests_fetch_none(world):
    process = world.process()
    await process.run_once()
    assert world.fetcher.hits == dict.fromkeys(URLS, 1)
    world.fetcher.calls.clear()
    pages = await process.retriever.retrieve(requests_of(CATALOG))
    assert [page.snippet.text for page in pages if page.snippet] == [
        f"Words of {url}." for url in URLS
    ]
    assert world.fetcher.calls == []


async def test_hosts_are_read_concurrently_and_each_one_page_at_a_time(world):
    world.fetcher.gate.clear()
    going = asyncio.create_task(world.process().run_once())
    await until(lambda: world.fetcher.in_flight == len(HOSTS))
    world.fetcher.gate.set()
    await going
    assert world.fetcher.most == dict.fromkeys(HOSTS, 1)


async def test_page_is_read_again_shortly_before_it_expires(world):
    process = world.process()
    await process.run_once()
    world.clock.advance(21 * HOUR_S)
    await process.run_once()
    assert world.fetcher.hits == dict.fromkeys(URLS, 1)
    world.clock.advance(2 * HOUR_S)
    await process.run_once()
    assert world.fetcher.hits == dict.fromkeys(URLS, 2)
    world.clock.advance(2 * HOUR_S)
    await process.retriever.retrieve(requests_of(CATALOG))
    assert world.fetcher.hits == dict.fromkeys(URLS, 2)


async def test_two_processes_on_one_cache_read_each_page_once(world):
    first, second = world.process(), world.process()
    async with asyncio.TaskGroup() as group:
        group.create_task(first.run_once())
        group.create_task(second.run_once())
    assert world.fetcher.hits == dict.fromkeys(URLS, 1)
    assert world.fetcher.most == dict.fromkeys(HOSTS, 1)
    await first.run_once()
    await second.run_once()
    assert (known(first), known(second)) == (len(URLS), len(URLS))
    assert world.fetcher.hits == dict.fromkeys(URLS, 1)


async def test_request_and_read_ahead_of_two_processes_read_a_page_once(world):
    first, second = world.process(), world.process()
    world.fetcher.gate.clear()
    reading = asyncio.create_task(first.run_once())
    await world.fetcher.started.wait()
    asking = asyncio.create_task(second.retriever.retrieve(requests_of(CATALOG)[:1]))
    for _ in range(20):
        await asyncio.sleep(0)
    world.fetcher.gate.set()
    [page] = await asking
    await reading
    assert page.snippet is not None
    assert world.fetcher.hits[URLS[0]] == 1


async def test_rounds_repeat_until_cancelled_and_locks_are_released(world):
    process = world.process()
    running = asyncio.create_task(process.run())
    await until(lambda: known(process) == len(URLS))
    world.clock.advance(24 * HOUR_S)
    await until(lambda: world.fetcher.hits == dict.fromkeys(URLS, 2))
    world.fetcher.gate.clear()
    world.clock.advance(24 * HOUR_S)
    await until(lambda: world.fetcher.in_flight == len(HOSTS))
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled()
    assert world.fetcher.in_flight == 0
    names = [f"host:{host}" for host in HOSTS]
    names += [request.cache_key("page") for request in requests_of(CATALOG)]
    assert all([await world.lock.acquire(name, "next", 1) for name in names])


async def test_unexpected_error_stops_neither_other_hosts_nor_the_next_round(world):
    class Failing(MemoryLock):
        fails = True

        async def acquire(self, name, token, ttl_s):
            if self.fails and "a.example" in name:
                raise ZeroDivisionError
            return await super().acquire(name, token, ttl_s)

    world.lock = Failing(world.clock)
    process = world.process()
    running = asyncio.create_task(process.run())
    await until(lambda: known(process) == len(URLS) // 2)
    await until(lambda: "read_ahead.failed" in world.journal.events)
    assert world.journal.fields_of("read_ahead.failed")[0] == {"error": "ZeroDivisionError"}
    world.lock.fails = False
    await until(lambda: known(process) == len(URLS))
    running.cancel()
    await asyncio.wait([running])
