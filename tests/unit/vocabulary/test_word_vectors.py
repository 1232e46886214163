"""Word vectors: texts about the same topic are similar, whatever their words."""

import zlib
from collections.abc import Mapping
from operator import mul

import pytest

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
