"""Phrases are found wherever their words stand in a row."""

from hypothesis import given
from hypothesis import strategies as st

from judge.text.patterns import Phrases

WORDS = st.lists(st.sampled_from("ab"), max_size=6)


@given(st.lists(WORDS.filter(bool).map(tuple), max_size=6), WORDS)
def test_every_phrase_is_found_where_it_stands(phrases: list[tuple[str, ...]], text: list[str]):
    found = Phrases(zip(phrases, phrases)).find(text)
    spans = sorted((start, length, value) for start, at in found for length, value in at)
    assert spans == sorted(
        (start, len(phrase), phrase)
        for phrase in phrases
        for start in range(len(text))
        if tuple(text[start : start + len(phrase)]) == phrase
    )


def test_words_are_compared_in_their_form():
    assert [*Phrases([(("flat",), 1)], str.lower).find(["a", "FLAT"])] == [(1, [(1, 1)])]
