from hypothesis import given
from hypothesis import strategies as st

from judge.judging.dispute import read_dispute
from judge.judging.pages.choose import choose_sources, mentioned_topics
from judge.types.judgements import SourceSpec


def source(name, *topics, title="Page", nations=()):
    return SourceSpec(f"https://example.org/{name}", title, topics, nations)


def chosen(sources, query="", context="", limit=1, nations=()):
    picked = choose_sources(
        sources, read_dispute(context, query), limit=limit, nations=frozenset(nations)
    )
    return [one.url.removeprefix("https://example.org/") for one in picked]


REPAIRS = source("repairs", "boiler", "hot water", title="Getting repairs done")
DEPOSIT = source("deposit", "deposit", "cleaning", title="Tenancy deposits")
NOTICE = source("notice", "eviction", title="Notice to leave")
ALL = (DEPOSIT, NOTICE, REPAIRS)


def test_the_page_whose_topic_is_mentioned_is_chosen():
    assert chosen(ALL, query="Who mends the boiler?") == ["repairs"]
    assert chosen(ALL, context="no hot water since May") == ["repairs"]


def test_best_comes_first_and_ties_keep_the_order_of_the_file():
    assert chosen(ALL, query="boiler", limit=3) == ["repairs", "deposit", "notice"]
    assert chosen(ALL, query="something else", limit=2) == ["deposit", "notice"]
    assert chosen(ALL[::-1], query="something else", limit=2) == ["repairs", "notice"]


def test_inflected_words_are_the_same_topic():
    assert chosen(ALL, query="two boilers") == ["repairs"]
    assert chosen(ALL, query="he cleans the landlord\u2019s car") == ["deposit"]


def test_a_topic_is_never_found_inside_a_word():
    assert chosen((source("a"), source("b", "rent")), query="a different parent") == ["a"]


def test_a_topic_counts_more_than_words_of_the_title():
    by_title = source("title", title="Rules about noise and parties")
    by_topic = source("topic", "noise")

    assert chosen((by_title, by_topic), query="noise parties rules") == ["topic"]
    assert chosen((source("other"), by_title), query="parties") == ["title"]


def test_short_words_of_a_title_say_nothing():
    titled = source("titled", title="How to get out")

    assert chosen((source("first"), titled), query="how do we get out of it") == ["first"]


def test_the_question_counts_more_than_the_context():
    assert chosen(ALL, context="the boiler", query="Do I get my deposit?") == ["deposit"]
    assert chosen(ALL, context="my deposit", query="Who mends the boiler?") == ["repairs"]


def test_a_page_of_another_nation_is_left_out():
    english = source("english", "boiler", nations=("england",))
    everywhere = source("everywhere")

    assert chosen((english, everywhere), query="boiler", limit=2) == ["english", "everywhere"]
    assert chosen((english, everywhere), query="boiler", limit=2, nations={"scotland"}) == [
        "everywhere"
    ]
    both = chosen((english, everywhere), query="boiler", limit=2, nations={"scotland", "england"})
    assert both == ["english", "everywhere"]


def test_a_page_of_the_nation_that_is_named_is_preferred():
    scottish = source("scottish", nations=("scotland",))

    assert chosen((REPAIRS, scottish), query="boiler", nations={"scotland"}) == ["scottish"]
    assert chosen((REPAIRS, scottish), query="boiler") == ["repairs"]


def test_a_page_for_several_nations_is_not_preferred_for_one_of_them():
    british = source("british", nations=("england", "scotland", "wales"))

    assert chosen((REPAIRS, british), query="boiler", nations={"wales"}) == ["repairs"]


def test_a_topic_without_letters_fits_nothing():
    assert chosen((source("a"), source("b", "--")), query="", limit=2) == ["a", "b"]


def test_no_sources_are_no_choice():
    assert chosen((), query="boiler") == []


def test_the_topics_that_are_mentioned_are_told_as_configured():
    assert mentioned_topics(REPAIRS, read_dispute("Two boilers, no water", "")) == ("boiler",)
    assert mentioned_topics(REPAIRS, read_dispute("", "")) == ()


WORDS = st.sampled_from(["boiler", "deposit", "eviction", "noise", "the", "cleaning", "water"])


@given(st.lists(WORDS, max_size=20), st.lists(WORDS, max_size=5), st.integers(1, 5))
def test_a_larger_limit_only_adds_pages(context, query, limit):
    fewer = chosen(ALL, " ".join(query), " ".join(context), limit)
    more = chosen(ALL, " ".join(query), " ".join(context), limit + 1)

    assert more[: len(fewer)] == fewer
    assert len(fewer) == min(limit, len(ALL))
