"""Page records are stored and read again; invalid ones are ignored."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.library.extract.page_passages import PagePassage
from judge.library.pages.page_records import (
    FETCH_MARGIN_S,
    PARSE_TIMEOUT_S,
    PageContent,
    PageRecord,
    SnippetRequest,
    find_content,
    find_record,
    format_content,
    format_record,
)
from judge.types.references import RetrievalSettings, SourceSpec, Validators

RECORD = PageRecord(
    "Repairs are due.",
    datetime(2026, 1, 15, 9, 30, tzinfo=UTC),
    "80 words",
    Validators('"1"', "Thu, 01 Jan 2026 00:00:00 GMT"),
)
WANTED = SnippetRequest(
    "tenancy", SourceSpec("https://a.example/x:y?z", "Title"), RetrievalSettings()
)
words = st.text(st.characters(exclude_categories=["Cs"]))


@given(
    st.builds(
        PageRecord,
        words.filter(bool),
        st.datetimes(timezones=st.just(UTC)),
        words,
        st.builds(Validators, words, words),
        words,
        st.none() | st.dates(),
        st.lists(words).map(tuple),
        st.booleans(),
        words,
    )
)
def test_record_round_trips(record: PageRecord):
    assert find_record(format_record(record)) == record


@given(st.text() | st.dictionaries(st.text(), st.integers()).map(json.dumps))
def test_any_text_that_is_no_record_gives_none(text: str):
    assert find_record(text) is None


@pytest.mark.parametrize(
    "change",
    [
        {"text": ""},
        {"updated": "yesterday"},
        {"nations": "wales"},
        {"is_withdrawn": "perhaps"},
        {"text": None},
        {"fetched_at": "2026-01-15T09:30:00"},
        {"fetched_at": "yesterday"},
        {"fingerprint": 80},
        {"validators": None},
    ],
)
def test_record_with_an_invalid_field_gives_none(change: dict[str, object]):
    assert find_record(json.dumps(json.loads(format_record(RECORD)) | change)) is None


@given(
    st.builds(PageContent, words, st.lists(st.builds(PagePassage, words, words)).map(tuple)),
    st.text(),
)
def test_content_round_trips_and_any_other_text_gives_none(content: PageContent, text: str):
    assert find_content(format_content(content)) == content
    assert find_content(text) is None


def test_record_of_a_withdrawn_page_may_have_no_text():
    withdrawn = replace(RECORD, text="", is_withdrawn=True)
    assert find_record(format_record(withdrawn)) == withdrawn


def test_lock_outlasts_the_reading_of_the_page():
    fetching_s = WANTED.settings.fetch_timeout_s + FETCH_MARGIN_S
    assert WANTED.lock_ttl_s > WANTED.reading_s == fetching_s + PARSE_TIMEOUT_S


def test_snippet_key_is_domain_and_url():
    others = [WANTED.page_key, WANTED.own_page_key, WANTED.content_key, WANTED.failure_key]
    assert WANTED.snippet_key == "snippet:tenancy:https://a.example/x:y?z"
    assert not [key for key in others if key.startswith("snippet:")]
    assert len({WANTED.snippet_key, *others}) == 5


def test_selector_and_word_limit_change_the_fingerprint():
    other_selector = replace(WANTED, source=replace(WANTED.source, selector="main"))
    other_limit = replace(WANTED, settings=replace(WANTED.settings, max_words=40))
    assert len({wanted.fingerprint for wanted in (WANTED, other_selector, other_limit)}) == 3


def test_stale_ttl_is_at_least_the_ttl():
    wanted = replace(WANTED, settings=RetrievalSettings(ttl_hours=48, stale_days=1))
    assert wanted.stale_ttl_s == wanted.ttl_s == 48 * 3600
