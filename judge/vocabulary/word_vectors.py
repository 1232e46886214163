"""Word vectors: a short vector for each common stem; the vector of a text is their sum.

Reads `word_vectors.bin`, which scripts/generate_word_vectors.py writes: the CRC-32 of each stem,
ascending, then a row of bytes for each. Similarity of two texts is the cosine of their vectors.
"""

import functools
import math
import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from importlib.resources import files

DIMENSIONS = 64
ZERO = 128
"""The byte that encodes the value 0."""

CACHED_ROWS = 1024
"""Rows kept as integers, in 0.4 MB."""

KEY_BYTES = 4
LANE_BYTES = 4
"""Bytes per value in the integer that holds a row, so that one addition adds whole rows; a sum of
16 million rows fits."""

_LOWEST = 0 if sys.byteorder == "little" else LANE_BYTES - 1


class WordVectors:
    """The vectors in *data*; rows of frequent stems are cached."""

    def __init__(self, data: bytes) -> None:
        split = len(data) // (KEY_BYTES + DIMENSIONS) * KEY_BYTES
        self._keys = array("I", data[:split])
        if sys.byteorder == "big":
            self._keys.byteswap()
        self._rows = data[split:]
        self.row = functools.lru_cache(CACHED_ROWS)(self._find_row)
        """The row of a stem as one integer, for `unit_vector`; 0 for an unknown stem."""

    def text_vector(self, *parts: Iterable[str]) -> Sequence[float]:
        """The unit vector of a text of these stems; all zeros when none of them is known.

        A stem counts once for each of *parts*, however often it occurs there.
        """
        return unit_vector([row for part in parts for row in map(self.row, set(part)) if row])

    def _find_row(self, stem: str) -> int:
        key = zlib.crc32(stem.encode())
        place = bisect_left(self._keys, key)
        if place == len(self._keys) or self._keys[place] != key:
            return 0
        lanes = bytearray(DIMENSIONS * LANE_BYTES)
        lanes[_LOWEST::LANE_BYTES] = self._rows[place * DIMENSIONS : (place + 1) * DIMENSIONS]
        return int.from_bytes(lanes, sys.byteorder)


def unit_vector(rows: Collection[int]) -> Sequence[float]:
    """The sum of *rows*, scaled to length 1; all zeros without rows."""
    total = sum(rows).to_bytes(DIMENSIONS * LANE_BYTES, sys.byteorder)
    zero = ZERO * len(rows)
    values = [value - zero for value in memoryview(total).cast("I")]
    length = math.hypot(*values) or 1.0
    return array("f", [value / length for value in values])


@functools.cache
def load_word_vectors() -> WordVectors:
    """The vectors that come with Judge; read once."""
    return WordVectors(files("judge.vocabulary").joinpath("word_vectors.bin").read_bytes())
