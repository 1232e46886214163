import pytest

from judge.text.ranking import K1, B, passage_vector, term_id, terms_of


def test_terms_are_stems_without_accents_in_order():
    assert terms_of("Two Cafés, two nodes") == ["two", "cafe", "two", "node"]


def test_weight_is_the_published_formula():
    weights = passage_vector(["a", "b", "a"], average_length=6.0)

    norm = K1 * (1 - B + B * 3 / 6)
    assert weights[term_id("a")] == pytest.approx(2 * (K1 + 1) / (2 + norm))
    assert weights[term_id("b")] == pytest.approx(1 * (K1 + 1) / (1 + norm))
