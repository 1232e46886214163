"""The title, topics and nations that are proposed for a new source."""

from datetime import UTC, datetime

from judge.library.extract.page_passages import PagePassage
from judge.library.pages.page_records import PageRecord
from judge.library.sources.catalog import parse_sources
from judge.library.sources.edit import propose_source
from judge.types.references import SourceSpec

CATALOG = parse_sources("[domains.tenancy]\nterms = { landlord = 3 }\n")


def propose(
    url="https://a.example/x", title="Keys", texts=(), heading="", nations=()
) -> SourceSpec:
    passages = tuple(PagePassage(heading, text) for text in texts)
    record = PageRecord(
        "So it is.", datetime(2026, 1, 15, tzinfo=UTC), title, passages, nations=nations
    )
    return propose_source(url, record, CATALOG)


def test_page_without_a_title_is_titled_by_its_url():
    assert propose().title == "Keys"
    assert propose(url="https://c.example/housing/door-keys/", title="").title == "door keys"
    assert propose(url="https://c.example/", title="").title == "https://c.example/"


def test_topics_are_the_most_frequent_words_without_common_short_or_title_words():
    texts = ["locks locksmith tenants rug keys 2024"] * 3 + ["tenants barely"]
    assert propose(texts=texts).topics == ("tenants", "locks", "locksmith", "barely")


def test_nations_are_proposed_only_if_not_all():
    assert propose(nations=("wales",)).nations == ("wales",)
    every = ("england", "scotland", "wales", "northern-ireland")
    assert propose(nations=every).nations == ()
    assert propose(nations=(*every, "ireland")).nations == ()
