"""Word vectors: texts about the same topic are similar, whatever their words."""

import math
import zlib
from collections.abc import Mapping, Sequence
from operator import mul

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.text.english import content_stems
from judge.vocabulary.word_vectors import DIMENSIONS, ZERO, WordVectors, load_word_vectors


def cosine(one: str, two: str) -> float:
    vectors = load_word_vectors()
    return sum(map(mul, *(vectors.text_vector(content_stems(text)) for text in (one, two))))


def written(values: Mapping[str, int]) -> WordVectors:
    """Vectors of which only the first value is not 0."""
    keys = {zlib.crc32(stem.encode()): value for stem, value in values.items()}
    head = b"".join(key.to_bytes(4, "little") for key in sorted(keys))
    rows = (bytes([ZERO + keys[key]]) + bytes([ZERO]) * (DIMENSIONS - 1) for key in sorted(keys))
    return WordVectors(head + b"".join(rows))


@pytest.mark.parametrize(
    ("said", "near", "far"),
    [
        ("my boss sacked me", "unfair dismissal", "tenancy deposit"),
        ("the flat is damp and cold", "heating and repairs at home", "child custody"),
        (
            "my ex keeps the kids at weekends",
            "child arrangements after separation",
            "parking fines",
        ),
    ],
)
def test_lay_words_are_nearer_to_the_official_ones_than_to_others(said, near, far):
    assert cosine(said, near) > 0.3 > cosine(said, far)


def test_a_word_counts_once_in_each_part():
    vectors = written({"up": 100, "down": -50})
    assert vectors.text_vector(["down", "down", "down", "up"])[0] == 1
    assert vectors.text_vector(["down", "up"], ["down"], ["down"])[0] == -1


def test_text_of_unknown_words_has_no_vector():
    assert not any(load_word_vectors().text_vector(["xebec"], []))


@given(st.lists(st.lists(st.text(max_size=8) | st.sampled_from(["boss", "rent"])), max_size=3))
def test_any_words_have_a_vector_of_length_one_or_none(parts: Sequence[Sequence[str]]):
    length = math.hypot(*load_word_vectors().text_vector(*parts))
    assert length == pytest.approx(1) or length == 0
