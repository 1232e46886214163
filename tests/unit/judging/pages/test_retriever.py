"""Retrieval: one look, one fetch per page, the last good text when a page is down."""

import asyncio
import threading
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

import pytest

from judge.adapters.memory_cache import MemoryCache, MemoryLock
from judge.errors import FetchError
from judge.judging.pages.page_records import (
    SnippetRequest,
    find_content,
    find_record,
    format_record,
)
from judge.judging.pages.passages import PagePassage
from judge.judging.pages.read import ReadPage
from judge.judging.pages.retriever import SnippetRetriever
from judge.judging.sources import parse_sources
from judge.types.references import NotModified, RetrievalSettings, Snippet, SourceSpec, Validators
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


def first_words(
    _url: str, body: bytes, _type: str, *, charset: str, selector: str = "", max_words: int = 80
) -> ReadPage:
    """Reading reduced to what retrieval sees of it: words, and `WITHDRAWN` before them."""
    text = body.decode(charset)
    if text.startswith("WITHDRAWN"):
        return ReadPage(withdrawn=True)
    words = [*([selector] if selector else []), *text.split()[:max_words]]
    passages = (PagePassage("Heading", text),)
    return ReadPage("Title", " ".join(words), passages, date(2024, 3, 1), ("wales",))


async def snippets(
    retriever: SnippetRetriever, domain: str, sources, settings: RetrievalSettings
) -> tuple[Snippet, ...]:
    """What can be cited of *sources*, in their order."""
    requests = [SnippetRequest(domain, source, settings) for source in sources]
    pages = await retriever.retrieve(requests)
    assert len(pages) == len(requests)
    return tuple(page.snippet for page in pages if page.snippet)


class CountingCache(MemoryCache):
    """Counts the round trips."""

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
    """Everything outside of one or more retrievers."""

    clock: FakeClock = field(default_factory=FakeClock)
    fetcher: ScriptedFetcher = field(default_factory=ScriptedFetcher)
    journal: RecordingJournal = field(default_factory=RecordingJournal)

    def __post_init__(self) -> None:
        self.cache = CountingCache(self.clock)
        self.lock = MemoryLock(self.clock)
        for source in ALL:
            self.fetcher.page(source.url, f"{source.title} are the landlord's duty.")

    def retriever(self, **changes) -> SnippetRetriever:
        """A retriever as another process would have: nothing shared but cache and lock."""
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


class TestLookedUpAgain:
    async def test_a_page_is_as_one_finds_it_who_never_looked(self, world, retriever):
        asked = SnippetRequest("tenancy", REPAIRS, SETTINGS)
        [read] = await retriever.retrieve([asked])
        text = asked.snippet_key
        for change in (
            {},
            {text: ("Other words.", 9 * DAY_S)},
            {asked.failure_key: (asked.fingerprint, DAY_S)},
            {asked.page_key: (format_record(replace(read.record, nations=("wales",))), 9 * DAY_S)},
            {asked.page_key: (format_record(replace(read.record, fingerprint="x")), 9 * DAY_S)},
            {asked.page_key: (format_record(read.record), 9 * DAY_S)},
        ):
            await world.cache.put_many(change)
            for _ in range(2):
                found = await retriever.store.look_up([asked])
                assert found == await world.retriever().store.look_up([asked])
        world.clock.advance(DAY_S + 1)  # the text is there still, and too old
        [old] = await retriever.store.look_up([asked])
        assert old.snippet.is_stale

    async def test_what_has_not_changed_is_not_made_anew(self, retriever):
        asked = [SnippetRequest("tenancy", REPAIRS, SETTINGS)]
        await retriever.retrieve(asked)
        [first], [second] = [await retriever.store.look_up(asked) for _ in range(2)]
        assert first is second


class TestCold:
    async def test_pages_are_fetched_and_come_in_the_order_of_the_sources(self, world, retriever):
        found = await snippets(retriever, "tenancy", [RENTING, REPAIRS], SETTINGS)
        assert found == (world.expected(RENTING), world.expected(REPAIRS))

    async def test_without_sources_nothing_is_asked(self, world, retriever):
        assert await snippets(retriever, "default", (), SETTINGS) == ()
        assert world.cache.lookups == []

    async def test_the_plain_text_lies_under_the_promised_key_for_a_day(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        key = "snippet:tenancy:https://advice.example/repairs?id=7"
        assert await world.value(key) == "Repairs are the landlord's duty."
        assert await world.cache.seconds_left(key) == DAY_S

    async def test_all_else_that_is_stored_has_keys_of_another_beginning(self, world, retriever):
        world.fetcher.fail(DEPOSITS.url)
        await snippets(retriever, "tenancy", [REPAIRS, DEPOSITS], SETTINGS)
        keys = {key for put in world.cache.puts for key in put}
        assert len(keys) == 5
        assert [key for key in keys if key.startswith("snippet:")] == [
            f"snippet:tenancy:{REPAIRS.url}"
        ]

    async def test_pages_are_fetched_at_the_same_time(self, world, retriever):
        world.fetcher.gate.clear()
        asking = asyncio.create_task(snippets(retriever, "tenancy", ALL, SETTINGS))
        await until(lambda: world.fetcher.in_flight == 3)
        world.fetcher.gate.set()
        assert len(await asking) == 3

    async def test_the_fetch_is_logged_with_host_and_time_but_no_query_string(
        self, world, retriever
    ):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert world.journal.entries == [
            ("snippet.fetched", {"host": "advice.example", "elapsed_ms": 0.0})
        ]

    async def test_the_source_tells_the_extractor_where_and_how_much(self, world, retriever):
        source = replace(REPAIRS, selector="main p")
        [found] = await snippets(retriever, "tenancy", [source], replace(SETTINGS, max_words=2))
        assert found.text == "main p Repairs are"


class TestWarm:
    async def test_all_pages_are_looked_up_in_one_round_trip_and_none_is_fetched(
        self, world, retriever
    ):
        await snippets(retriever, "tenancy", ALL, SETTINGS)
        world.cache.lookups.clear()
        world.fetcher.calls.clear()
        found = await snippets(retriever, "tenancy", ALL, SETTINGS)
        assert found == tuple(world.expected(source) for source in ALL)
        assert len(world.cache.lookups) == 1
        assert world.fetcher.calls == []

    async def test_requests_that_come_together_learn_once_what_others_have_read(
        self, world, retriever
    ):
        await snippets(retriever, "tenancy", ALL, SETTINGS)
        another = world.retriever()
        world.cache.lookups.clear()
        async with asyncio.TaskGroup() as group:
            for _ in range(100):
                group.create_task(snippets(another, "tenancy", ALL, SETTINGS))
        assert world.cache.lookups.count(len(ALL)) == 1, "contents, of which each page has one"
        await another.aclose()

    async def test_only_what_is_missing_is_fetched(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        await snippets(retriever, "tenancy", [REPAIRS, DEPOSITS], SETTINGS)
        assert world.fetcher.hits == {REPAIRS.url: 1, DEPOSITS.url: 1}

    async def test_a_cached_snippet_keeps_the_time_of_its_fetch(self, world, retriever):
        fetched_at = world.clock.now()
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(3600)
        [found] = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert found.fetched_at == fetched_at
        assert not found.is_stale

    async def test_the_text_under_the_snippet_key_is_what_is_shown(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        await world.cache.put_many({f"snippet:tenancy:{REPAIRS.url}": ("Corrected by ops.", 600)})
        [found] = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert found.text == "Corrected by ops."

    async def test_an_expired_snippet_is_fetched_again(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(DAY_S)
        world.fetcher.page(REPAIRS.url, "The law has changed.")
        [found] = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert (found.text, found.fetched_at) == ("The law has changed.", world.clock.now())

    async def test_a_shortened_time_to_live_holds_for_what_is_stored(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(3600)
        await snippets(retriever, "tenancy", [REPAIRS], replace(SETTINGS, ttl_hours=1))
        assert world.fetcher.hits[REPAIRS.url] == 2

    @pytest.mark.parametrize("left_s", [60, 82_800, 10 * DAY_S])
    async def test_a_snippet_that_others_stored_is_used_and_dated_by_its_time_left(
        self, world, retriever, left_s: int
    ):
        await world.cache.put_many({f"snippet:tenancy:{REPAIRS.url}": ("By hand.", left_s)})
        [found] = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        age = timedelta(seconds=max(0, DAY_S - left_s))
        assert found == world.expected(
            REPAIRS, text="By hand.", fetched_at=world.clock.now() - age, updated=None
        )
        assert world.fetcher.calls == []

    async def test_a_snippet_that_others_stored_is_read_anew_once_it_ends(self, world, retriever):
        await world.cache.put_many({f"snippet:tenancy:{REPAIRS.url}": ("By hand.", 60)})
        await retriever.read_ahead(SnippetRequest("tenancy", REPAIRS, SETTINGS))
        assert world.fetcher.calls == []
        world.clock.advance(60)
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == (
            world.expected(REPAIRS),
        )

    async def test_a_snippet_that_ends_between_two_questions_is_a_day_old(self, world):
        class Ending(CountingCache):
            async def seconds_left(self, key):
                return None

        cache = Ending(world.clock)
        await cache.put_many({f"snippet:tenancy:{REPAIRS.url}": ("By hand.", 60)})
        [found] = await snippets(world.retriever(cache=cache), "tenancy", [REPAIRS], SETTINGS)
        assert found.fetched_at == world.clock.now() - timedelta(days=1)

    async def test_an_empty_snippet_is_none(self, world, retriever):
        await world.cache.put_many({f"snippet:tenancy:{REPAIRS.url}": ("", 600)})
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == (
            world.expected(REPAIRS),
        )

    @pytest.mark.parametrize("record", ["{", "[]", "null", '{"text": "old"}'])
    async def test_a_record_that_cannot_be_read_counts_as_absent(
        self, world, retriever, record: str
    ):
        await world.cache.put_many({f"page:tenancy:{REPAIRS.url}": (record, 600)})
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == (
            world.expected(REPAIRS),
        )
        assert world.fetcher.calls == [(REPAIRS.url, Validators())]


class TestChangedSettings:
    @pytest.mark.parametrize(
        ("source", "settings"),
        [
            (replace(REPAIRS, selector="main p"), SETTINGS),
            (REPAIRS, replace(SETTINGS, max_words=2)),
        ],
    )
    async def test_another_selector_or_word_limit_reads_the_page_anew(
        self, world, retriever, source: SourceSpec, settings: RetrievalSettings
    ):
        world.fetcher.page(REPAIRS.url, "Repairs are due.", etag='"1"')
        [before] = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        [after] = await snippets(retriever, "tenancy", [source], settings)
        assert after.text != before.text
        assert world.fetcher.calls == [(REPAIRS.url, Validators())] * 2

    async def test_two_that_read_a_page_in_two_ways_read_it_once_each(self, world, retriever):
        shorter = replace(SETTINGS, max_words=2)
        first = [
            await snippets(retriever, "tenancy", [REPAIRS], one) for one in (SETTINGS, shorter)
        ]
        again = [
            await snippets(retriever, "tenancy", [REPAIRS], one) for one in (SETTINGS, shorter)
        ]
        assert again == first
        assert world.fetcher.hits == {REPAIRS.url: 2}

    async def test_a_text_made_with_another_selector_is_not_shown_as_stale(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.fetcher.fail(REPAIRS.url)
        source = replace(REPAIRS, selector="main p")
        assert await snippets(retriever, "tenancy", [source], SETTINGS) == ()

    async def test_a_failure_with_another_selector_does_not_count(self, world, retriever):
        world.fetcher.page(REPAIRS.url, " ")
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == ()
        source = replace(REPAIRS, selector="main p")
        [found] = await snippets(retriever, "tenancy", [source], SETTINGS)
        assert found.text == "main p"

    async def test_a_new_title_shows_at_once(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        [found] = await snippets(retriever, "tenancy", [replace(REPAIRS, title="New")], SETTINGS)
        assert found.title == "New"
        assert world.fetcher.hits[REPAIRS.url] == 1


class TestRevalidation:
    async def test_a_304_renews_the_cached_text(self, world, retriever):
        world.fetcher.page(REPAIRS.url, "Repairs are due.", etag='"1"')
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(DAY_S)
        world.fetcher.pages[REPAIRS.url] = NotModified(Validators(etag='"1"'))
        [found] = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert found == world.expected(REPAIRS, text="Repairs are due.")
        assert world.fetcher.calls[-1] == (REPAIRS.url, Validators(etag='"1"'))
        assert await world.cache.seconds_left(f"snippet:tenancy:{REPAIRS.url}") == DAY_S
        assert await world.cache.seconds_left(f"page:tenancy:{REPAIRS.url}") == 30 * DAY_S

    @pytest.mark.parametrize(
        ("sent", "kept"),
        [(Validators(), Validators(etag='"1"')), (Validators(etag='"2"'), Validators(etag='"2"'))],
    )
    async def test_a_304_keeps_the_validators_unless_it_brings_new_ones(
        self, world, retriever, sent: Validators, kept: Validators
    ):
        world.fetcher.page(REPAIRS.url, "Repairs are due.", etag='"1"')
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(DAY_S)
        world.fetcher.pages[REPAIRS.url] = NotModified(sent)
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        record = find_record(await world.value(f"page:tenancy:{REPAIRS.url}"))
        assert record is not None
        assert record.validators == kept

    async def test_a_304_to_a_first_request_is_a_failure(self, world, retriever):
        world.fetcher.pages[REPAIRS.url] = NotModified()
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == ()
        assert world.journal.fields_of("snippet.fetch_failed")[0]["reason"] == "unasked-304"


class TestFailure:
    async def test_a_page_that_fails_is_left_out_and_the_order_kept(self, world, retriever):
        world.fetcher.fail(DEPOSITS.url)
        assert await snippets(retriever, "tenancy", ALL, SETTINGS) == (
            world.expected(REPAIRS),
            world.expected(RENTING),
        )

    async def test_a_failure_is_logged_with_host_and_reason_but_no_query_string(
        self, world, retriever
    ):
        world.fetcher.fail(REPAIRS.url, "status")
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert world.journal.entries == [
            (
                "snippet.fetch_failed",
                {"host": "advice.example", "reason": "status", "elapsed_ms": 0.0},
            )
        ]

    async def test_a_failure_is_remembered_for_a_minute_and_then_tried_again(
        self, world, retriever
    ):
        world.fetcher.fail(REPAIRS.url)
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(59)
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == ()
        assert world.fetcher.hits[REPAIRS.url] == 1
        world.clock.advance(1)
        world.fetcher.page(REPAIRS.url, "Up again.")
        [found] = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert found.text == "Up again."

    async def test_the_last_good_text_is_used_and_marked_stale(self, world, retriever):
        good = world.expected(REPAIRS, is_stale=True)
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(29 * DAY_S)
        world.fetcher.fail(REPAIRS.url)
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == (good,)
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == (good,)
        assert world.fetcher.hits[REPAIRS.url] == 2

    async def test_after_thirty_days_the_last_good_text_is_gone(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(30 * DAY_S)
        world.fetcher.fail(REPAIRS.url)
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == ()

    async def test_a_page_without_a_paragraph_is_a_failure(self, world, retriever):
        world.fetcher.page(REPAIRS.url, " \n")
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == ()
        assert world.journal.fields_of("snippet.fetch_failed")[0]["reason"] == "no-text"
        assert await world.value(f"snippet:tenancy:{REPAIRS.url}") is None

    async def test_markup_that_breaks_the_extractor_is_a_failure(self, world):
        def broken(*_: object, **__: object) -> ReadPage:
            raise RecursionError

        retriever = world.retriever(read=broken)
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == ()
        assert world.journal.fields_of("snippet.fetch_failed")[0]["reason"] == "bad-markup"

    async def test_a_fault_of_the_fetcher_costs_only_its_page(self, world, retriever):
        world.fetcher.pages[REPAIRS.url] = ValueError("a bug")
        assert await snippets(retriever, "tenancy", [REPAIRS, RENTING], SETTINGS) == (
            world.expected(RENTING),
        )
        [failure] = world.journal.fields_of("snippet.fetch_failed")
        assert failure["reason"] == "unexpected-ValueError"

    async def test_markup_that_takes_for_ever_is_left_behind(self, world):
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

    async def test_a_slow_page_does_not_hold_the_request_up(self, world, retriever):
        good = world.expected(REPAIRS, is_stale=True)
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(DAY_S)
        world.fetcher.gate.clear()
        async with asyncio.timeout(15):
            found = await snippets(retriever, "tenancy", [REPAIRS, DEPOSITS], HASTY)
        assert found == (good,)

    async def test_a_slow_page_is_kept_when_it_comes_after_all(self, world, retriever):
        settings = replace(SETTINGS, fetch_timeout_s=0.2)
        world.fetcher.gate.clear()
        assert await snippets(retriever, "tenancy", [REPAIRS], settings) == ()
        asking = asyncio.create_task(snippets(retriever, "tenancy", [REPAIRS], settings))
        await asyncio.sleep(0)
        world.fetcher.gate.set()
        assert await asking == (world.expected(REPAIRS),)
        assert world.fetcher.hits[REPAIRS.url] == 1

    async def test_a_fetcher_that_hangs_beyond_its_time_out_is_given_up(self, world, retriever):
        world.fetcher.gate.clear()
        await snippets(retriever, "tenancy", [REPAIRS], HASTY)
        await until(lambda: "snippet.fetch_failed" in world.journal.events)
        assert world.journal.fields_of("snippet.fetch_failed")[0]["reason"] == "timeout"


async def all_at_once(retrievers, count: int, fetcher: ScriptedFetcher, sources=ALL):
    """The answers to *count* requests that are all waiting before the first page comes."""
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
        answers = await all_at_once(retrievers, 500, world.fetcher)
        assert world.fetcher.hits == {source.url: 1 for source in ALL}
        assert answers == [tuple(world.expected(source) for source in ALL)] * 500

    @pytest.mark.parametrize("processes", [1, 2])
    async def test_five_hundred_requests_for_a_dead_page_ask_for_it_once(
        self, world, processes: int
    ):
        world.fetcher.fail(REPAIRS.url)
        retrievers = [world.retriever() for _ in range(processes)]
        answers = await all_at_once(retrievers, 500, world.fetcher, [REPAIRS])
        assert world.fetcher.hits == {REPAIRS.url: 1}
        assert answers == [()] * 500

    async def test_the_same_page_in_two_domains_is_kept_for_each(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        await snippets(retriever, "consumer", [REPAIRS], SETTINGS)
        assert await world.value(f"snippet:consumer:{REPAIRS.url}") is not None

    async def test_a_request_that_is_cancelled_leaves_the_fetch_to_the_others(
        self, world, retriever
    ):
        world.fetcher.gate.clear()
        first = asyncio.create_task(snippets(retriever, "tenancy", [REPAIRS], SETTINGS))
        await world.fetcher.started.wait()
        second = asyncio.create_task(snippets(retriever, "tenancy", [REPAIRS], SETTINGS))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait([first])
        world.fetcher.gate.set()
        assert await second == (world.expected(REPAIRS),)
        assert world.fetcher.hits[REPAIRS.url] == 1

    async def test_the_page_of_a_process_that_died_is_read_when_its_lock_ends(self, world):
        wanted = SnippetRequest("tenancy", REPAIRS, SETTINGS)
        await world.lock.acquire(wanted.page_key, "dead", 7)
        asking = asyncio.create_task(snippets(world.retriever(), "tenancy", [REPAIRS], SETTINGS))
        await until(lambda: len(world.cache.lookups) >= 3)
        assert world.fetcher.calls == []
        world.clock.advance(7)
        assert await asking == (world.expected(REPAIRS),)

    async def test_nobody_waits_for_ever_for_a_lock(self, world):
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

    async def test_the_lock_is_free_again_after_success_and_after_failure(self, world, retriever):
        world.fetcher.fail(DEPOSITS.url)
        await snippets(retriever, "tenancy", [REPAIRS, DEPOSITS], SETTINGS)
        for source in (REPAIRS, DEPOSITS):
            name = SnippetRequest("tenancy", source, SETTINGS).page_key
            assert await world.lock.acquire(name, "next", 1)

    async def test_closing_ends_the_fetches_and_frees_their_locks(self, world, retriever):
        world.fetcher.gate.clear()
        await snippets(retriever, "tenancy", [REPAIRS], HASTY)
        assert world.fetcher.in_flight == 1
        await retriever.aclose()
        assert world.fetcher.in_flight == 0
        name = SnippetRequest("tenancy", REPAIRS, HASTY).page_key
        assert await world.lock.acquire(name, "next", 1)


class TestRefresh:
    async def test_the_page_is_read_whatever_the_cache_holds_and_then_kept(self, world, retriever):
        world.fetcher.page(REPAIRS.url, "Old.", etag='"1"')
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.fetcher.page(REPAIRS.url, "New.")
        fresh = await retriever.refresh(SnippetRequest("tenancy", REPAIRS, SETTINGS))
        assert (fresh.text, fresh.updated) == ("New.", date(2024, 3, 1))
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == (
            world.expected(REPAIRS, text="New."),
        )
        assert world.fetcher.calls[1:] == [(REPAIRS.url, Validators())]

    async def test_a_failure_is_the_callers_to_see_and_spoils_nothing(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.fetcher.fail(REPAIRS.url, "status")
        with pytest.raises(FetchError, match="status"):
            await retriever.refresh(SnippetRequest("tenancy", REPAIRS, SETTINGS))
        [found] = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert not found.is_stale


class TestWithdrawn:
    async def test_a_withdrawn_page_is_not_quoted_and_its_old_snippet_is_dropped(
        self, world, retriever
    ):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(DAY_S - 60)
        world.fetcher.page(REPAIRS.url, "WITHDRAWN on 1 May.")
        await retriever.refresh(SnippetRequest("tenancy", REPAIRS, SETTINGS))
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == ()
        assert not await world.value(f"snippet:tenancy:{REPAIRS.url}")
        world.clock.advance(1)
        assert await world.value(f"snippet:tenancy:{REPAIRS.url}") is None

    async def test_it_is_noted_and_asked_for_once_a_day(self, world, retriever):
        world.fetcher.page(REPAIRS.url, "WITHDRAWN on 1 May.")
        for _ in range(3):
            assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == ()
            world.clock.advance(3600)
        assert world.journal.entries == [
            ("page.withdrawn", {"host": "advice.example", "elapsed_ms": 0.0})
        ]
        world.clock.advance(DAY_S)
        world.fetcher.page(REPAIRS.url, "In force again.")
        [found] = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert found.text == "In force again."

    async def test_its_last_good_text_is_not_used_when_it_cannot_be_read(self, world, retriever):
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(DAY_S)
        world.fetcher.page(REPAIRS.url, "WITHDRAWN on 1 May.")
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(DAY_S)
        world.fetcher.fail(REPAIRS.url)
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == ()

    async def test_a_snippet_that_others_store_does_not_bring_it_back(self, world, retriever):
        world.fetcher.page(REPAIRS.url, "WITHDRAWN on 1 May.")
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        await world.cache.put_many({f"snippet:tenancy:{REPAIRS.url}": ("By hand.", 600)})
        assert await snippets(retriever, "tenancy", [REPAIRS], SETTINGS) == ()


class TestContent:
    async def test_what_one_process_has_read_another_knows_without_asking(self, world):
        first, second = world.retriever(), world.retriever()
        request = SnippetRequest("tenancy", REPAIRS, SETTINGS)
        await snippets(first, "tenancy", [REPAIRS], SETTINGS)
        world.cache.lookups.clear()
        await snippets(second, "tenancy", [REPAIRS], SETTINGS)
        assert second.library.page(request) == first.library.page(request)
        assert first.library.page(request).nations == {"wales"}
        assert world.fetcher.hits == {REPAIRS.url: 1}
        assert world.cache.lookups == [3, 1]

    async def test_a_page_whose_content_was_lost_is_asked_for_without_conditions(self, world):
        world.fetcher.page(REPAIRS.url, "Repairs are due.", etag='"1"')
        await snippets(world.retriever(), "tenancy", [REPAIRS], SETTINGS)
        second, request = world.retriever(), SnippetRequest("tenancy", REPAIRS, SETTINGS)
        await world.cache.put_many({request.content_key: ("{", 600)})
        await second.read_ahead(request)
        assert world.fetcher.calls == [(REPAIRS.url, Validators())] * 2
        assert second.library.page(request).is_read

    async def test_a_304_keeps_the_content_as_long_as_the_record(self, world, retriever):
        world.fetcher.page(REPAIRS.url, "Repairs are due.", etag='"1"')
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(DAY_S)
        world.fetcher.pages[REPAIRS.url] = NotModified(Validators(etag='"1"'))
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        key = SnippetRequest("tenancy", REPAIRS, SETTINGS).content_key
        assert await world.cache.seconds_left(key) == 30 * DAY_S
        content = find_content(await world.value(key))
        assert content is not None
        assert content.passages == (PagePassage("Heading", "Repairs are due."),)

    async def test_a_304_is_not_read(self, world):
        read = []

        def counted(*arguments, **settings) -> ReadPage:
            read.append(arguments)
            return first_words(*arguments, **settings)

        retriever = world.retriever(read=counted)
        world.fetcher.page(REPAIRS.url, "Repairs are due.", etag='"1"')
        await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        world.clock.advance(DAY_S)
        world.fetcher.pages[REPAIRS.url] = NotModified(Validators(etag='"1"'))
        [found] = await snippets(retriever, "tenancy", [REPAIRS], SETTINGS)
        assert (found.text, found.updated) == ("Repairs are due.", date(2024, 3, 1))
        assert len(read) == 1

    async def test_what_is_kept_of_a_catalogue_is_looked_up_once(self, world):
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
        assert all(page.is_read for _, page in indexed[0].pages)
        assert indexed[1] is indexed[2] is indexed[0]
        assert world.cache.lookups == [9, 3]
