import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.relevance import PRIOR_PASSAGES, rarity, requirement


def reaches(rule, *held):
    return sum(rule.weights[position] for position in held) >= rule.needed


def test_one_common_word_of_three_unknown_ones_is_not_enough():
    rule = requirement([0, 0, 12], 150)

    assert sum(rule.weights) < rule.needed


def test_one_word_of_three_as_rare_is_not_enough_but_two_are():
    rule = requirement([5, 5, 5], 150)

    assert not reaches(rule, 0)
    assert reaches(rule, 0, 1)


def test_single_word_is_enough_however_common():
    assert reaches(requirement([150], 150), 0)


def test_word_much_rarer_than_the_others_is_enough_alone():
    rule = requirement([1, 90_000, 80_000], 100_000)

    assert reaches(rule, 0)
    assert not reaches(rule, 1, 2)


def test_word_unknown_in_a_corpus_of_three_passages_does_not_hide_the_other():
    assert reaches(requirement([1, 0], 3), 0)


def test_long_story_is_answered_by_a_few_of_its_words():
    rule = requirement([50] * 30 + [0] * 30, 10_000)

    assert not reaches(rule, 0)
    assert reaches(rule, 0, 1, 2)
    assert rule.floor == 1


def test_words_are_counted_when_there_are_many():
    assert set(requirement([3, 30, 300, 3, 30, 300, 3, 0], 1000).weights) == {0, 1}


def test_rarity_falls_from_one_as_more_passages_hold_the_word():
    values = [rarity(frequency, 5000) for frequency in (0, 1, 10, 100, 5000)]

    assert values[0] == 1
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.001


def test_frequency_may_count_deleted_passages():
    assert rarity(PRIOR_PASSAGES * 3, 10) == pytest.approx(0, abs=0.001)


@given(st.lists(st.integers(0, 2000), max_size=40), st.integers(0, 2000))
def test_unknown_words_weigh_nothing_and_the_floor_is_below_what_is_needed(frequencies, passages):
    rule = requirement(frequencies, passages)

    assert len(rule.weights) == len(frequencies)
    assert all(w == 0 for w, f in zip(rule.weights, frequencies, strict=True) if not f)
    assert 1 <= rule.floor <= rule.needed
    assert sum(rule.weights) <= max(20, len(frequencies))


@given(st.lists(st.integers(1, 2000), min_size=1, max_size=40), st.integers(2000, 9000))
def test_passage_with_every_word_is_relevant(frequencies, passages):
    assert reaches(requirement(frequencies, passages), *range(len(frequencies)))
