"""The library: pages that were read are ranked by their text, with one index for all requests."""

import asyncio
from datetime import UTC, datetime

import pytest

from judge.library.dispute import read_dispute
from judge.library.extract.page_passages import PagePassage
from judge.library.pages.approved_pages import IndexedPages, PageLibrary, requests_of
from judge.library.pages.page_records import PageRecord, SnippetRequest
from judge.library.rank.candidates import rank_candidates
from judge.library.sources.catalog import SourceCatalog, parse_sources
from judge.vocabulary.thesaurus import load_thesaurus

BOILER = "Your landlord must repair the boiler and the thermostat of the radiators."


def catalog(title: str = "Repairs", more: str = "") -> SourceCatalog:
    return parse_sources(f"""
[domains.tenancy]
terms = {{ landlord = 3 }}
[[domains.tenancy.sources]]
url = "https://a.example/repairs"
title = "{title}"
[[domains.tenancy.sources]]
url = "https://a.example/rent"
title = "Rent"
{more}
""")


def record(text: str = BOILER, digest: str = "1", **changes: object) -> PageRecord:
    now, passages = datetime(2026, 1, 15, tzinfo=UTC), (PagePassage("Heating", text),)
    return PageRecord(text, now, "Title", passages, digest=digest, **changes)


def found(indexed: IndexedPages, dispute: str) -> list[str]:
    ranked = rank_candidates(indexed.index, read_dispute("", dispute), "tenancy")
    return [candidate.page.url for candidate in ranked]


@pytest.fixture
def library() -> PageLibrary:
    return PageLibrary(load_thesaurus())


@pytest.fixture
def repairs() -> SnippetRequest:
    return requests_of(catalog())[0]


async def test_unread_page_has_only_terms_of_title_and_topics(library, repairs):
    page = library.page(repairs)
    assert (page.record, page.nations, page.is_withdrawn) == (None, frozenset(), False)
    assert set(page.terms.stems) == {"repair"}


async def test_page_is_ranked_by_its_text_once_read(library, repairs):
    assert found(await library.indexed(catalog()), "the thermostat of the radiators") == []
    await library.update([(repairs, record(nations=("wales",)))])
    assert found(await library.indexed(catalog()), "the thermostat of the radiators") == [
        "https://a.example/repairs"
    ]
    assert library.page(repairs).nations == {"wales"}


async def test_index_is_rebuilt_only_after_an_update(library, repairs):
    first = await library.indexed(catalog())
    assert await library.indexed(catalog()) is first
    await library.update([(repairs, record())])
    assert await library.indexed(catalog()) is not first


async def test_updates_during_a_build_are_in_the_next_index(library, repairs):
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(library.indexed(catalog())) for _ in range(50)]
        for _ in range(20):
            read = (repairs, record())
            group.create_task(library.update([read]))
    assert len({id(task.result()) for task in asked}) <= 3
    assert (await library.indexed(catalog())).pages[0][1].record


async def test_new_title_counts_at_once_and_the_text_is_kept(library, repairs):
    await library.update([(repairs, record())])
    indexed = await library.indexed(catalog(title="Mould"))
    [(_, page), _] = indexed.pages
    assert page.record
    assert "mould" in page.terms.stems
    assert "boiler" in page.terms.stems


async def test_event_loop_is_not_blocked_by_updating_and_indexing(library):
    requests = requests_of(catalog())
    long = " ".join(f"word{number}" for number in range(20_000))
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0)

    beating = asyncio.create_task(beat())
    await library.update([(request, record(long)) for request in requests])
    after_learning = beats
    await library.indexed(catalog())
    beating.cancel()
    assert after_learning > 2
    assert beats > after_learning + 1
