import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.ranking import requirement, scaled_idf


def required(frequencies, passages):
    """What words called 0, 1, 2 … must weigh."""
    return requirement({str(at): f for at, f in enumerate(frequencies)}, passages)


def reaches(rule, *held):
    return sum(weight for weight, term in rule.present if int(term) in held) >= rule.needed


def test_one_common_word_of_three_unknown_ones_is_not_enough():
    assert required([0, 0, 12], 150) is None


def test_one_word_of_three_as_rare_is_not_enough_but_two_are():
    rule = required([5, 5, 5], 150)

    assert not reaches(rule, 0)
    assert reaches(rule, 0, 1)


def test_word_much_rarer_than_the_others_is_enough_alone():
    rule = required([1, 90_000, 80_000], 100_000)

    assert reaches(rule, 0)
    assert not reaches(rule, 1, 2)


def test_few_words_of_a_long_query_are_enough():
    rule = required([50] * 30 + [0] * 30, 10_000)

    assert not reaches(rule, 0)
    assert reaches(rule, 0, 1, 2)


@pytest.mark.parametrize("frequencies", [[10, 10, 10, 10], [10, 100], [10] * 7, [90_000]])
def test_word_that_weighs_a_quarter_tells_and_so_does_each_of_many(frequencies):
    assert required(frequencies, 100_000).common == ()


def test_rarity_falls_from_one_as_more_passages_hold_the_word():
    values = [scaled_idf(frequency, 5000) for frequency in (0, 1, 10, 100, 5000)]

    assert values[0] == 1
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.001


@given(st.lists(st.integers(0, 2000), max_size=40), st.integers(0, 2000))
def test_unknown_words_are_left_out_and_the_others_can_prove_it(frequencies, passages):
    rule = required(frequencies, passages)

    if rule is None:
        assert not frequencies or 0 in frequencies
        return
    assert {int(term) for _, term in rule.present} == {at for at, f in enumerate(frequencies) if f}
    assert 1 <= rule.needed <= sum(weight for weight, _ in rule.present)
    assert not reaches(rule, *map(int, rule.common))
