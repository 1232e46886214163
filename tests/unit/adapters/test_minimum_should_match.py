from hypothesis import given
from hypothesis import strategies as st

from judge.adapters.minimum_should_match import minimum_should_match


def holds(tree, words):
    return any(word in words and (rest is None or holds(rest, words)) for word, rest in tree)


def test_heavy_word_stands_alone_and_light_ones_together():
    tree = minimum_should_match([(5, "rare"), (3, "some"), (2, "any")], 5)

    assert tree == [("rare", None), ("some", [("any", None)])]


def test_too_little_in_all_has_no_branch():
    assert minimum_should_match([(1, "a"), (1, "b")], 3) == []


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=6),
    st.integers(1, 30),
    st.sets(st.sampled_from("abcdef")),
)
def test_tree_is_true_exactly_when_the_words_weigh_enough(weights, needed, held):
    weighed = list(zip(sorted(weights, reverse=True), "abcdef", strict=False))

    reaches = sum(weight for weight, word in weighed if word in held) >= needed

    assert holds(minimum_should_match(weighed, needed), held) == reaches
