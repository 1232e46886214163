"""Word vectors: a short vector for each common stem; the vector of a text is their sum.

Reads `word_vectors.bin`, which scripts/generate_word_vectors.py writes: the CRC-32 of each stem,
ascending, then a row of bytes for each. Similarity of two texts is the cosine of their vectors.
"""

import functools
import math
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from importlib.resources import files

DIMENSIONS = 64
ZERO = 128
"""The byte that encodes the value 0."""

KEY_BYTES = 4


class WordVectors:
    """The vectors in *data*."""

    def __init__(self, data: bytes) -> None:
        count = len(data) // (KEY_BYTES + DIMENSIONS)
        self._keys = struct.unpack_from(f"<{count}I", data)
        self._rows = data[count * KEY_BYTES :]

    def text_vector(self, *parts: Iterable[str]) -> Sequence[float]:
        """The unit vector of a text of these stems; all zeros when none of them is known.

        A stem counts once for each of *parts*, however often it occurs there.
        """
        rows = [row for part in parts for row in map(self._row, set(part)) if row]
        values = [sum(column) - ZERO * len(rows) for column in zip(*rows)] or [0] * DIMENSIONS
        length = math.hypot(*values) or 1.0
        return [value / length for value in values]

    def _row(self, stem: str) -> bytes:
        """The vector of *stem*, a byte for each value; empty for an unknown stem."""
        key = zlib.crc32(stem.encode())
        place = bisect_left(self._keys, key)
        if place == len(self._keys) or self._keys[place] != key:
            return b""
        return self._rows[place * DIMENSIONS : (place + 1) * DIMENSIONS]


@functools.cache
def load_word_vectors() -> WordVectors:
    """The vectors that come with Judge; read once."""
    return WordVectors(files("judge.vocabulary").joinpath("word_vectors.bin").read_bytes())
