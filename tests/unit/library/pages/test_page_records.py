"""Page records are stored and read again; invalid ones are ignored."""

import json
from dataclasses import replace
from datetime import UTC

from hypothesis import given
from hypothesis import strategies as st

from judge.adapters.memory import MemoryCache
from judge.library.extract.page_passages import PagePassage
from judge.library.pages.page_records import (
    CachedPage,
    PageRecord,
    SnippetRequest,
    SnippetStore,
)
from judge.types.references import RetrievalSettings, SourceSpec
from tests.fakes.clock import FakeClock

WANTED = SnippetRequest(
    "tenancy", SourceSpec("https://a.example/x:y?z", "Title"), RetrievalSettings()
)
words = st.text(st.characters(exclude_categories=["Cs"]))


async def found(record: str) -> CachedPage:
    """What is found when the cache holds *record*."""
    cache = MemoryCache(FakeClock())
    await cache.put_many({WANTED.cache_key("record"): (record, 600)})
    [page] = await SnippetStore(cache, FakeClock()).look_up([WANTED])
    return page


@given(
    st.builds(
        PageRecord,
        words.filter(bool),
        st.datetimes(timezones=st.just(UTC)),
        words,
        st.lists(st.builds(PagePassage, words, words)).map(tuple),
        st.none() | st.dates(),
        st.lists(words).map(tuple),
        st.booleans(),
        words,
    )
)
async def test_record_round_trips(record: PageRecord):
    store = SnippetStore(MemoryCache(FakeClock()), FakeClock())
    await store.put(WANTED, record)
    [page] = await store.look_up([WANTED])
    assert page.record == record


@given(st.text() | st.dictionaries(st.text(), st.integers()).map(json.dumps))
async def test_any_text_that_is_no_record_counts_as_absent(text: str):
    assert (await found(text)).record is None


def test_snippet_key_is_domain_and_url():
    others = [WANTED.cache_key("page"), WANTED.cache_key("record"), WANTED.cache_key("failed")]
    assert WANTED.cache_key("snippet") == "snippet:tenancy:https://a.example/x:y?z"
    assert not [key for key in others if key.startswith("snippet:")]
    assert len({WANTED.cache_key("snippet"), *others}) == 4


def test_selector_and_word_limit_change_the_fingerprint():
    other_selector = replace(WANTED, source=replace(WANTED.source, selector="main"))
    other_limit = replace(WANTED, settings=replace(WANTED.settings, max_words=40))
    assert len({wanted.fingerprint for wanted in (WANTED, other_selector, other_limit)}) == 3
