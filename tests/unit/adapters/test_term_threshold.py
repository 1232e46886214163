from hypothesis import given
from hypothesis import strategies as st

from judge.adapters.term_threshold import AnyOf, reaching


def holds(tree, words):
    return any(
        word in words and (rest is None or holds(rest, words)) for word, rest in tree.branches
    )


def test_heavy_word_stands_alone_and_light_ones_together():
    tree = reaching([(5, "rare"), (3, "some"), (2, "any")], 5)

    assert tree == AnyOf((("rare", None), ("some", AnyOf((("any", None),)))))


def test_too_little_in_all_has_no_branch():
    assert reaching([(1, "a"), (1, "b")], 3) == AnyOf(())


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=6),
    st.integers(1, 30),
    st.sets(st.sampled_from("abcdef")),
)
def test_tree_is_true_exactly_when_the_words_weigh_enough(weights, needed, held):
    weighed = list(zip(sorted(weights, reverse=True), "abcdef", strict=False))

    reaches = sum(weight for weight, word in weighed if word in held) >= needed

    assert holds(reaching(weighed, needed), held) == reaches
