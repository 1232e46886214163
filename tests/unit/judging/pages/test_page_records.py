"""Records survive the cache; what is no record never breaks a request."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judging.pages.page_records import PageRecord, SnippetRequest, find_record, format_record
from judge.types.judgements import RetrievalSettings, SourceSpec, Validators

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
    )
)
def test_a_record_comes_back_as_it_was(record: PageRecord):
    assert find_record(format_record(record)) == record


@given(st.text() | st.dictionaries(st.text(), st.integers()).map(json.dumps))
def test_no_text_makes_reading_a_record_fail(text: str):
    assert find_record(text) is None


@pytest.mark.parametrize(
    "change",
    [
        {"text": ""},
        {"text": None},
        {"fetched_at": "2026-01-15T09:30:00"},
        {"fetched_at": "yesterday"},
        {"fingerprint": 80},
        {"validators": None},
    ],
)
def test_a_record_with_a_wrong_field_counts_as_absent(change: dict[str, object]):
    assert find_record(json.dumps(json.loads(format_record(RECORD)) | change)) is None


def test_no_text_is_no_record():
    assert find_record(None) is None


def test_the_snippet_lies_under_the_key_that_others_rely_on():
    assert WANTED.snippet_key == "snippet:tenancy:https://a.example/x:y?z"


def test_no_other_key_begins_like_a_snippets():
    others = [WANTED.page_key, WANTED.failure_key]
    assert not [key for key in others if key.startswith("snippet:")]
    assert len({WANTED.snippet_key, *others}) == 3


def test_a_changed_selector_or_word_limit_changes_the_fingerprint():
    other_selector = replace(WANTED, source=replace(WANTED.source, selector="main"))
    other_limit = replace(WANTED, settings=replace(WANTED.settings, max_words=40))
    assert len({wanted.fingerprint for wanted in (WANTED, other_selector, other_limit)}) == 3


def test_the_last_good_text_is_never_kept_for_less_time_than_the_fresh_one():
    wanted = replace(WANTED, settings=RetrievalSettings(ttl_hours=48, stale_days=1))
    assert wanted.stale_ttl_s == wanted.ttl_s == 48 * 3600
