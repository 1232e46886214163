"""Identifiers in a text -> further words to find them by: `getUserId` by "user".

The engines part words at everything that is no letter or digit, so that `get_user_id` needs
nothing more; this adds what that misses. It is most of what indexing costs in Python, so borders
are looked for in a text's shape, by the search for fixed bytes: three quarters of the time that a
pattern over the text takes.
"""

import re
from functools import lru_cache
from itertools import chain, pairwise

_BORDER = re.compile(rb"(?<=[a0])(?=A)|(?<=A)(?=Aa)|(?<=[Aa]{2})(?=0)")
"""A capital after a small letter or digit, the last of several capitals, a digit after letters."""

_WORD = re.compile(r"[^\W_]+")
_LONGEST = 40
"""Characters before a border; what is longer is encoded data."""


def _class_of(byte: int) -> int:
    character = chr(byte)
    if character.isdigit():
        return ord("0")
    if character.isalpha():
        return ord("a" if character.islower() else "A")
    return ord("?" if character == "?" else " ")


_CLASSES = bytes(map(_class_of, range(128))) * 2


def code_words(text: str) -> str:
    """The parts of each word that is written as several.

    >>> code_words("call getUserId of HTTPServer2")
    'get User Id HTTP Server 2'
    """
    shape = _shape(text) + b" "
    runs = [text[start:end] for start, end in _with_borders(shape)]
    if runs and b"?" in shape:
        words = chain.from_iterable(map(_WORD.findall, runs))
        runs = [word for word in words if len(parts(word)) > 1]
    return " ".join(dict.fromkeys(chain.from_iterable(map(parts, runs))))


@lru_cache(maxsize=50_000)  # the same names come back all over a code base
def parts(word: str) -> tuple[str, ...]:
    """The words that *word* is written as, itself where it is one."""
    return tuple([word[start:end] for start, end in _cuts(_shape(word))])


@lru_cache(maxsize=8192)  # names that were never seen have the shape of those that were
def _cuts(shape: bytes) -> tuple[tuple[int, int], ...]:
    borders = [match.start() for match in _BORDER.finditer(shape)]
    first = max(0, borders[0] - _LONGEST) if borders else 0
    return tuple(pairwise((first, *borders, len(shape))))


def _shape(text: str) -> bytes:
    """A byte for each character: a, A or 0 for letters and digits, ? for what ASCII lacks."""
    return text.encode("ascii", "replace").translate(_CLASSES)


def _with_borders(shape: bytes) -> list[tuple[int, int]]:
    """Where the runs of anything but spaces stand that hold a border, in order."""
    ends: dict[int, int] = {}
    cases, kinds = shape.replace(b"0", b"a"), shape.lower()
    for searched, border in ((cases, b"aA"), (cases, b"AAa"), (kinds, b"aa0")):
        at = searched.find(border)
        while at >= 0:
            end = shape.find(b" ", at)
            ends[shape.rfind(b" ", 0, at) + 1] = end
            at = searched.find(border, end)
    return sorted(ends.items())
