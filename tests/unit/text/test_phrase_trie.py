"""The phrase trie finds the same phrases as a naive search at every word."""

from hypothesis import given
from hypothesis import strategies as st

from judge.text.phrase_trie import PhraseTrie

WORDS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=12)
PHRASES = st.lists(st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=4), max_size=6)


@given(WORDS, PHRASES)
def test_every_phrase_is_found_wherever_it_stands(
    words: list[str], phrases: list[list[str]]
) -> None:
    found = PhraseTrie((phrase, at) for at, phrase in enumerate(phrases)).find(words)
    assert {(start, start + length, value) for start, here in found for length, value in here} == {
        (start, start + len(phrase), at)
        for at, phrase in enumerate(phrases)
        for start in range(len(words))
        if words[start : start + len(phrase)] == phrase
    }


def test_shorter_phrases_come_first_and_equal_ones_in_their_order() -> None:
    trie = PhraseTrie([(("a", "b"), 1), (("a",), 2), (("a", "b"), 3), (("b",), 4)])
    assert trie.find(["a", "b"]) == [(0, ((1, 2), (2, 1), (2, 3))), (1, ((1, 4),))]
