"""Retrieval: one cache lookup, one fetch per page, and a stale text if a page is down."""

import asyncio
import threading
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

import pytest

from judge.adapters.memory import MemoryCache, MemoryLock
from judge.errors import FetchError
from judge.library.extract.html_page import ReadPage
from judge.library.extract.page_passages import PagePassage
from judge.library.pages.page_records import SnippetRequest
from judge.library.pages.retriever import SnippetRetriever
from judge.library.sources.catalog import parse_sources
from judge.types.references import Page, RetrievalSettings, Snippet, SourceSpec
from tests.fakes.clock import FakeClock
from tests.fakes.fetcher import ScriptedFetcher
from tests.fakes.journal import RecordingJournal
from tests.fakes.waiting import until

REPAIRS = SourceSpec(url="https://advice.example/repairs?id=7", title="Repairs")
DEPOSITS = SourceSpec(url="https://advice.example/deposits", title="Deposits")
RENTING = SourceSpec(url="https://gov.example/renting", title="Renting")
ALL = (REPAIRS, DEPOSITS, RENTING)
SETTINGS = RetrievalSettings()
HASTY = RetrievalSettings(fetch_timeout_s=0.05)
DAY_S = 86_400


def first_words(request: SnippetRequest, page: Page) -> ReadPage:
    """A reader whose pages are plain words; a page that begins with `WITHDRAWN` is withdrawn."""
    text = page.body.decode(page.charset)
    if text.startswith("WITHDRAWN"):
        return ReadPage(withdrawn=True)
    selector = request.source.selector
    words = [*([selector] if selector else []), *text.split()[: request.settings.max_words]]
    passages = (PagePassage("Heading", text),)
    return ReadPage("Title", " ".join(words), passages, date(2024, 3, 1), ("wales",))


async def snippets(
    retriever: SnippetRetriever, domain: str, sources, settings: RetrievalSettings
) -> tuple[Snippet, ...]:
    """The snippets of *sources*, in their order."""
    requests = [SnippetRequest(domain, source, settings) for source in sources]
    pages = await retriever.retrieve(requests)
    assert len(pages) == len(requests)
    return tuple(page.snippet for page in pages if page.snippet)


class CountingCache(MemoryCache):
    """Records the lookups and puts."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock)
        self.lookups: list[int] = []
        self.puts: list[dict[str, tuple[str, int]]] = []

    async def get_many(self, keys):
        self.lookups.append(len(keys))
        return await super().get_many(keys)

    async def put_many(self, entries):
        self.puts.append(dict(entries))
        await super().put_many(entries)


@dataclass
class World:
    """The clock, web, journal, cache and lock of one or more retrievers."""

    clock: FakeClock = field(default_factory=FakeClock)
    fetcher: ScriptedFetcher = field(default_factory=ScriptedFetcher)
    journal: RecordingJournal = field(default_factory=RecordingJournal)

    def __post_init__(self) -> None:
        self.cache = CountingCache(self.clock)
        self.lock = MemoryLock(self.clock)
        for source in ALL:
            self.fetcher.page(source.url, f"{source.title} are the landlord's duty.")

    def retriever(self, **changes) -> SnippetRetriever:
        """A retriever as of another process, which shares only cache and lock."""
        parts = {
            "fetcher": self.fetcher,
            "cache": self.cache,
            "lock": self.lock,
            "clock": self.clock,
            "journal": self.journal,
            "read": first_words,
        }
        return SnippetRetriever(**parts | changes)

    def expected(self, source: SourceSpec, **changes) -> Snippet:
        text = f"{source.title} are the landlord's duty."
        snippet = Snippet(source.url, source.title, text, self.clock.now(), date(2024, 3, 1))
        return replace(snippet, **changes)

    async def value(self, key: str) -> str | None:
        [value] = await self.cache.get_many([key])
        return value


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def retriever(world: World):
    retriever = world.retriever()
    yield retriever
    await retriever.aclose()


class TestCold:
    async def test_text_is_stored_under_the_snippet_key_for_a_day(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        key = "snippet:tenancy:https://advice.example/repairs?id=7"
        assert await world.value(key) == "Repairs are the landlord's duty."
        assert await world.cache.seconds_left(key) == DAY_S

    async def test_fetch_is_journalled_with_host_and_time_but_no_query_string(
        self, world, retriever
    ):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert world.journal.entries == [
            ("snippet.fetched", {"host": "advice.example", "path": "/repairs", "elapsed_ms": 0.0})
        ]


class TestWarm:
    async def test_cached_pages_are_looked_up_in_one_round_trip_without_a_fetch(
        self, world, retriever
    ):
        await snippets(retriever, "tenancy", ALL, SETTINGS)
        world.cache.lookups.clear()
        world.fetcher.calls.clear()
        found = await snippets(retriever, "tenancy", ALL, SETTINGS)
        assert found == tuple(world.expected(source) for source in ALL)
        assert len(world.cache.lookups) == 1
        assert world.fetcher.calls == []

    async def test_text_under_the_snippet_key_is_shown(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        await world.cache.put_many({f"snippet:tenancy:{REPAIRS.url}": ("Corrected by ops.", 600)})
        [found] = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert found.text == "Corrected by ops."

    @pytest.mark.parametrize("blank", [" ", "\n\t", "\u200b", "\ufeff \u2060"])
    async def test_blank_text_under_the_snippet_key_is_no_text(self, world, retriever, blank: str):
        for other in (retriever, world.retriever()):
            await world.cache.put_many({f"snippet:tenancy:{REPAIRS.url}": (blank, 600)})
            [found] = await snippets(other, "tenancy", [REPAIRS], SETTINGS)
            assert found.text.strip(blank)
        await other.aclose()

    async def test_expired_snippet_is_fetched_again(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(DAY_S)
        world.fetcher.page(REPAIRS.url, "The law of repairs has changed.")
        [found] = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert (found.text, found.fetched_at) == (
            "The law of repairs has changed.",
            world.clock.now(),
        )

    async def test_shortened_ttl_applies_to_stored_pages(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(3600)
        await snippets(retriever, "tenancy", [REPAIRS], replace(SETTINGS, ttl_hours=1))
        assert world.fetcher.hits[REPAIRS.url] == 2

    @pytest.mark.parametrize("left_s", [60, 82_800, 10 * DAY_S])
    async def test_snippet_of_another_writer_is_dated_by_its_remaining_ttl(
        self, world, retriever, left_s: int
    ):
        await world.cache.put_many({f"snippet:tenancy:{REPAIRS.url}": ("By hand.", left_s)})
        [found] = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        age = timedelta(seconds=max(0, DAY_S - left_s))
        assert found == world.expected(
            REPAIRS, text="By hand.", fetched_at=world.clock.now() - age, updated=None
        )
        assert world.fetcher.calls == []


class TestChangedSettings:
    @pytest.mark.parametrize(
        ("source", "settings"),
        [
            (replace(REPAIRS, selector="main p"), SETTINGS),
            (REPAIRS, replace(SETTINGS, max_words=2)),
        ],
    )
    async def test_changed_selector_or_word_limit_fetches_the_page_again(
        self, world, retriever, source: SourceSpec, settings: RetrievalSettings
    ):
        world.fetcher.page(REPAIRS.url, "Repairs are due.")
        [before] = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        [after] = await snippets(retriever, "tenancy", [source], settings)
        assert after.text != before.text
        assert world.fetcher.calls == [REPAIRS.url, REPAIRS.url]

    async def test_text_of_another_selector_is_not_used_as_stale(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.fetcher.fail(REPAIRS.url)
        source = replace(REPAIRS, selector="main p")
        assert await snippets(retriever, "tenancy", [source], SETTINGS) == ()


class TestFailure:
    async def test_failed_page_is_left_out_and_the_order_kept(self, world, retriever):
        world.fetcher.fail(DEPOSITS.url)
        assert await snippets(retriever, "tenancy", ALL, SETTINGS) == (
            world.expected(REPAIRS),
            world.expected(RENTING),
        )

    async def test_failure_is_journalled_with_host_and_reason_but_no_query_string(
        self, world, retriever
    ):
        world.fetcher.pages[REPAIRS.url] = FetchError("status", "It is down.", 503)
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert world.journal.entries == [
            (
                "snippet.fetch_failed",
                {
                    "host": "advice.example",
                    "path": "/repairs",
                    "elapsed_ms": 0.0,
                    "reason": "status",
                    "status": 503,
                },
            )
        ]

    async def test_failure_is_cached_for_a_minute(self, world, retriever):
        world.fetcher.fail(REPAIRS.url)
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(59)
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == ()
        assert world.fetcher.hits[REPAIRS.url] == 1
        world.clock.advance(1)
        world.fetcher.page(REPAIRS.url, "Repairs are up again.")
        [found] = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert found.text == "Repairs are up again."

    async def test_last_good_text_is_used_and_marked_stale(self, world, retriever):
        good = world.expected(REPAIRS, is_stale=True)
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(29 * DAY_S)
        world.fetcher.fail(REPAIRS.url)
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == (good,)
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == (good,)
        assert world.fetcher.hits[REPAIRS.url] == 2

    async def test_last_good_text_expires_after_thirty_days(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(30 * DAY_S)
        world.fetcher.fail(REPAIRS.url)
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == ()

    async def test_exception_of_the_fetcher_loses_only_its_page(self, world, retriever):
        world.fetcher.pages[REPAIRS.url] = ValueError("a bug")
        assert await snippets(retriever, "tenancy", [REPAIRS, RENTING], SETTINGS) == (
            world.expected(RENTING),
        )
        [failure] = world.journal.fields_of("snippet.fetch_failed")
        assert failure["reason"] == "unexpected-ValueError"

    async def test_reading_that_takes_too_long_is_a_failure(self, world):
        end = threading.Event()

        def endless(*_: object, **__: object) -> ReadPage:
            end.wait(10)
            return ReadPage(lead="too late")

        retriever = world.retriever(read=endless)
        try:
            found = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        finally:
            end.set()
        assert found == ()
        assert world.journal.fields_of("snippet.fetch_failed")[0]["reason"] == "slow-markup"

    async def test_slow_page_does_not_delay_the_request(self, world, retriever):
        good = world.expected(REPAIRS, is_stale=True)
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(DAY_S)
        world.fetcher.gate.clear()
        async with asyncio.timeout(15):
            found = await snippets(retriever, "tenancy", [REPAIRS, DEPOSITS], HASTY)
        assert found == (good,)

    async def test_slow_page_is_used_by_a_later_request(self, world, retriever):
        settings = replace(SETTINGS, fetch_timeout_s=0.2)
        world.fetcher.gate.clear()
        assert await snippets(retriever, "tenancy", [REPAIRS], settings) == ()
        asking = asyncio.create_task(snippets(retriever, "tenancy", [REPAIRS], settings))
        await asyncio.sleep(0)
        world.fetcher.gate.set()
        assert await asking == (world.expected(REPAIRS),)
        assert world.fetcher.hits[REPAIRS.url] == 1


async def concurrent_answers(retrievers, count: int, fetcher: ScriptedFetcher, sources=ALL):
    """The answers to *count* requests that all wait before the first page is fetched."""
    fetcher.gate.clear()
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(
                snippets(retrievers[n % len(retrievers)], "tenancy", sources, SETTINGS)
            )
            for n in range(count)
        ]
        await fetcher.started.wait()
        for _ in range(10):
            await asyncio.sleep(0)
        fetcher.gate.set()
    return [task.result() for task in tasks]


class TestManyAtOnce:
    @pytest.mark.parametrize("processes", [1, 2, 4])
    async def test_five_hundred_requests_fetch_each_page_once(self, world, processes: int):
        retrievers = [world.retriever() for _ in range(processes)]
        answers = await concurrent_answers(retrievers, 500, world.fetcher)
        assert world.fetcher.hits == {source.url: 1 for source in ALL}
        assert answers == [tuple(world.expected(source) for source in ALL)] * 500

    async def test_lock_of_a_dead_process_expires_and_its_page_is_fetched(self, world):
        wanted = SnippetRequest("tenancy", REPAIRS, SETTINGS)
        await world.lock.acquire(wanted.cache_key("page"), "dead", 7)
        asking = asyncio.create_task(snippets(world.retriever(), "tenancy", [REPAIRS], SETTINGS))
        await until(lambda: len(world.cache.lookups) >= 3)
        assert world.fetcher.calls == []
        world.clock.advance(7)
        assert await asking == (world.expected(REPAIRS),)

    async def test_waiting_for_a_lock_is_bounded(self, world):
        class NeverFree(MemoryLock):
            async def acquire(self, name, token, ttl_s):
                return False

        retriever = world.retriever(lock=NeverFree(world.clock))
        asking = asyncio.create_task(snippets(retriever, "tenancy", [REPAIRS], SETTINGS))
        await until(lambda: len(world.cache.lookups) >= 3)
        world.clock.advance(SnippetRequest("tenancy", REPAIRS, SETTINGS).lock_ttl_s)
        async with asyncio.timeout(15):
            assert await asking == ()
        assert world.fetcher.calls == []

    async def test_closing_cancels_fetches_and_releases_their_locks(self, world, retriever):
        world.fetcher.gate.clear()
        await snippets(retriever, "tenancy", [REPAIRS], HASTY)
        assert world.fetcher.in_flight == 1
        await retriever.aclose()
        assert world.fetcher.in_flight == 0
        name = SnippetRequest("tenancy", REPAIRS, HASTY).cache_key("page")
        assert await world.lock.acquire(name, "next", 1)


class TestRefresh:
    async def test_refresh_fetches_the_page_despite_the_cache_and_stores_it(self, world, retriever):
        world.fetcher.page(REPAIRS.url, "Old repairs.")
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.fetcher.page(REPAIRS.url, "New repairs.")
        fresh = await retriever.refresh(SnippetRequest("tenancy", REPAIRS, SETTINGS))
        assert (fresh.text, fresh.updated) == ("New repairs.", date(2024, 3, 1))
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == (
            world.expected(REPAIRS, text="New repairs."),
        )
        assert world.fetcher.calls[1:] == [REPAIRS.url]

    async def test_wall_is_a_failure_that_keeps_the_last_good_text(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.fetcher.page(REPAIRS.url, "Please sign in to your account with a password.")
        with pytest.raises(FetchError, match="is not the page"):
            await world.retriever().refresh(SnippetRequest("tenancy", REPAIRS, SETTINGS))
        world.clock.advance(DAY_S)
        [found] = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert found.is_stale
        assert found.text == "Repairs are the landlord's duty."
        [failure] = world.journal.fields_of("snippet.fetch_failed")
        assert (failure["reason"], failure["status"]) == ("wall-unlike", 200)

    async def test_text_of_another_address_of_the_host_is_a_wall(self, world, retriever):
        both = "Repairs and deposits are sorry to be gone."
        for source in (REPAIRS, DEPOSITS):
            world.fetcher.page(source.url, both)
        found = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert found[0].text == both
        with pytest.raises(FetchError, match="same as another address"):
            await retriever.refresh(SnippetRequest("tenancy", DEPOSITS, SETTINGS))


class TestWithdrawn:
    async def test_withdrawn_page_is_not_offered_and_its_snippet_is_removed(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(DAY_S - 60)
        world.fetcher.page(REPAIRS.url, "WITHDRAWN on 1 May.")
        await retriever.refresh(SnippetRequest("tenancy", REPAIRS, SETTINGS))
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == ()
        assert not await world.value(f"snippet:tenancy:{REPAIRS.url}")
        world.clock.advance(1)
        assert await world.value(f"snippet:tenancy:{REPAIRS.url}") is None

    async def test_withdrawn_page_is_journalled_and_fetched_once_a_day(self, world, retriever):
        world.fetcher.page(REPAIRS.url, "WITHDRAWN on 1 May.")
        for _ in range(3):
            assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == ()
            world.clock.advance(3600)
        assert world.journal.entries == [
            ("page.withdrawn", {"host": "advice.example", "path": "/repairs", "elapsed_ms": 0.0})
        ]
        world.clock.advance(DAY_S)
        world.fetcher.page(REPAIRS.url, "Repairs are in force again.")
        [found] = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert found.text == "Repairs are in force again."


class TestContent:
    async def test_content_read_by_one_process_is_known_to_another(self, world):
        first, second = world.retriever(), world.retriever()
        request = SnippetRequest("tenancy", REPAIRS, SETTINGS)
        await snippets(first, "tenancy", [REPAIRS], SETTINGS)
        world.cache.lookups.clear()
        await snippets(second, "tenancy", [REPAIRS], SETTINGS)
        assert second.library.page(request) == first.library.page(request)
        assert first.library.page(request).nations == {"wales"}
        assert world.fetcher.hits == {REPAIRS.url: 1}
        assert world.cache.lookups == [4]

    async def test_stored_pages_of_a_catalogue_are_looked_up_once(self, world):
        await snippets(world.retriever(), "tenancy", ALL, SETTINGS)
        catalog = parse_sources(
            "[domains.tenancy]\nterms = { landlord = 3 }\n"
            + "".join(
                f'[[domains.tenancy.sources]]\nurl = "{one.url}"\ntitle = "{one.title}"\n'
                for one in ALL
            )
        )
        retriever = world.retriever()
        world.cache.lookups.clear()
        indexed = [await retriever.indexed(catalog) for _ in range(3)]
        assert all(page.record for _, page in indexed[0].pages)
        assert indexed[1] is indexed[2] is indexed[0]
        assert world.cache.lookups == [12]
