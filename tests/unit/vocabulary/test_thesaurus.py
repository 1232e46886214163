"""The thesaurus finds lay phrases where they occur, and nowhere else."""

import pytest

from judge.text.english import words
from judge.vocabulary.thesaurus import (
    MAX_GAP,
    Thesaurus,
    find_phrases,
    load_thesaurus,
    parse_thesaurus,
)

SMALL = """
[subjects.home]
"kicked * out, thrown out" = "the eviction notice"
"union" = "trade union"
"credit union" = "bank"
"quit, fired" = "dismissal"
[storytelling]
ignore = "quite fire"
"""


def found(thesaurus: Thesaurus, text: str) -> list[str]:
    told = words(text)
    return [one.phrase.text for one in find_phrases(thesaurus, told)]


def test_phrase_is_found_in_other_forms_of_its_words():
    assert found(parse_thesaurus(SMALL), "Are they throwing us out? I was thrown out!") == [
        "thrown out"
    ]
    assert found(parse_thesaurus(SMALL), "Unions help") == ["union"]


@pytest.mark.parametrize("between", range(MAX_GAP + 3))
def test_gap_spans_a_few_words_and_no_more(between):
    text = f"they kicked {'my ' * between}out"
    assert bool(found(parse_thesaurus(SMALL), text)) == (between <= MAX_GAP)


def test_longer_phrase_hides_the_one_inside_it():
    assert found(parse_thesaurus(SMALL), "the credit union and the union") == [
        "credit union",
        "union",
    ]


def test_storytelling_word_counts_only_when_written_like_the_phrase():
    thesaurus = parse_thesaurus(SMALL)
    assert found(thesaurus, "it is quite a fire") == []
    assert found(thesaurus, "I quit before I was fired") == ["quit", "fired"]


@pytest.mark.parametrize(
    ("text", "official"),
    [
        ("My dad kicked my brother out", "evict"),
        ("I got sacked on Friday", "dismiss"),
        ("there is mould behind the bed", "repair"),
        ("they docked my wages", "deduct"),
        ("a ticket on my car", "park"),
    ],
)
def test_own_thesaurus_knows_everyday_words(text, official):
    thesaurus, told = load_thesaurus(), words(text)
    entries = [one.phrase.entry for one in find_phrases(thesaurus, told)]
    assert any(official in thesaurus.entries[entry].official for entry in entries)


def test_own_thesaurus_says_each_phrase_once_in_an_entry_and_begins_none_with_a_gap():
    thesaurus = load_thesaurus()
    doubled = [e.lay for e in thesaurus.entries if len(set(e.lay)) < len(e.lay)]
    hollow = [p for e in thesaurus.entries for p in e.lay if not p or "*" in (p[0], p[-1])]
    assert (doubled, hollow) == ([], [])
