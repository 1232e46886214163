"""What words mean: a short vector of each common stem; their sum tells what a text is about.

Reads `word_vectors.bin`, which scripts/generate_word_vectors.py writes: the CRC-32 of each stem,
ascending, and a row of bytes for each. The nearer two texts are, the greater the cosine of theirs.
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
"""The byte that stands for 0."""

REMEMBERED = 1024
"""Rows that are kept as they are added up, in 0.4 MB."""

KEY_BYTES = 4
LANE_BYTES = 4
"""A value of a row in a long number, so that rows are added at once; room for 16 million rows."""

_LOWEST = 0 if sys.byteorder == "little" else LANE_BYTES - 1


class WordVectors:
    """The vectors in *data*; the rows of words that come again and again are remembered."""

    def __init__(self, data: bytes) -> None:
        split = len(data) // (KEY_BYTES + DIMENSIONS) * KEY_BYTES
        self._keys = array("I", data[:split])
        if sys.byteorder == "big":
            self._keys.byteswap()
        self._rows = data[split:]
        self.row = functools.lru_cache(REMEMBERED)(self._find_row)
        """The row of a stem as one long number, for `unit_vector`; 0 if it is not known."""

    def text_vector(self, *parts: Iterable[str]) -> Sequence[float]:
        """What a text of these stems is about, of length 1; all 0 where none of them is known.

        A stem counts once in each of the *parts*, however often it stands there.
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
    """The sum of *rows*, of length 1; all 0 where there are none."""
    total = sum(rows).to_bytes(DIMENSIONS * LANE_BYTES, sys.byteorder)
    zero = ZERO * len(rows)
    values = [value - zero for value in memoryview(total).cast("I")]
    length = math.hypot(*values) or 1.0
    return array("f", [value / length for value in values])


@functools.cache
def load_word_vectors() -> WordVectors:
    """The vectors that come with Judge; read once."""
    return WordVectors(files("judge.vocabulary").joinpath("word_vectors.bin").read_bytes())
