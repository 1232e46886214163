from hypothesis import given
from hypothesis import strategies as st
from qdrant_client.models import Filter

from judge.adapters.index.qdrant.points import weighing_at_least


def holds(condition, words):
    """Whether *condition* is true of a passage with these *words*."""
    if not isinstance(condition, Filter):
        return condition.match.value in words
    if condition.min_should:
        found = [holds(one, words) for one in condition.min_should.conditions]
        return sum(found) >= condition.min_should.min_count
    if condition.should is not None:
        return any(holds(one, words) for one in condition.should)
    return all(holds(one, words) for one in condition.must)


def test_heavy_word_stands_alone_and_light_ones_together():
    (enough,) = weighing_at_least([(5, "rare"), (3, "some"), (2, "any"), (0, "common")], 5)

    assert holds(enough, {"rare"})
    assert holds(enough, {"some", "any"})
    assert not holds(enough, {"some", "common"})


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=6),
    st.integers(1, 30),
    st.sets(st.sampled_from("abcdef"), min_size=1),
)
def test_words_hold_exactly_when_they_weigh_enough(weights, needed, held):
    weighed = list(zip(sorted(weights, reverse=True), "abcdef", strict=False))
    words = {word for _, word in weighed} & held

    reaches = sum(weight for weight, word in weighed if word in held) >= needed

    assert (
        all(holds(one, words) for one in weighing_at_least(weighed, needed)) == reaches or not words
    )
