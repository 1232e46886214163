"""BM25, and what makes a passage relevant to a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.index_tokens import (
    K1,
    PROOF,
    B,
    passage_vector,
    proof_counts,
    scaled_idf,
    term_id,
    terms_of,
)


def test_terms_are_stems_without_accents_in_order():
    assert terms_of("Two Cafés, two nodes") == ["two", "cafe", "two", "node"]


def test_weight_is_the_published_formula():
    weights = passage_vector(["a", "b", "a"], average_length=6.0)

    norm = K1 * (1 - B + B * 3 / 6)
    assert weights[term_id("a")] == pytest.approx(2 * (K1 + 1) / (2 + norm))
    assert weights[term_id("b")] == pytest.approx(1 * (K1 + 1) / (1 + norm))


def proof(frequencies, passages):
    """What words called 0, 1, 2 … count."""
    return proof_counts({str(at): f for at, f in enumerate(frequencies)}, passages)


@pytest.mark.parametrize(
    ("frequencies", "passages", "telling"),
    [
        ([0, 0, 12], 150, None),  # one common word of three is not enough
        ([5, 5, 5], 150, ""),  # nor one of three as rare, but two are
        ([1, 90_000, 80_000], 100_000, "0"),  # much rarer than the others
        ([1500, 1500, 0, 0], 1500, ""),  # in each passage
        ([50] * 5 + [0] * 9, 10_000, ""),
        ([90_000], 100_000, "0"),
        ([10, 10], 100_000, "01"),
    ],
)
def test_telling_word_or_two_others_make_a_passage_relevant(frequencies, passages, telling):
    counts = proof(frequencies, passages)

    found = "".join(term for term, count in counts.items() if count == PROOF)
    assert (found if counts else None) == telling


def test_rarity_falls_from_one_as_more_passages_hold_the_word():
    values = [scaled_idf(frequency, 5000) for frequency in (0, 1, 10, 100, 5000)]

    assert values[0] == 1
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.001


@given(st.lists(st.integers(0, 2000), max_size=40), st.integers(0, 2000))
def test_unknown_words_are_left_out_and_the_others_can_prove_it(frequencies, passages):
    counts = proof(frequencies, passages)

    known = {str(at) for at, frequency in enumerate(frequencies) if frequency}
    assert set(counts) in (known, set())
    assert not counts or sum(counts.values()) >= PROOF
