"""Identifiers in a text -> further words to find them by: `getUserId` by "user".

The engines part words at everything that is no letter or digit, so that `get_user_id` needs
nothing more; this adds what that misses. It is most of what indexing costs in Python, so borders
are looked for in all places of a text at once: its characters become the bytes of one long number,
with a bit for each class, and a shift lays every character beside its neighbour. A pattern takes
ten times as long.
"""

from functools import lru_cache
from itertools import pairwise

_INNER, _CAPITAL, _LETTER, _DIGIT, _SMALL, _SPACE = (1 << bit for bit in range(6))
"""Small letters and digits are inner: a capital after them begins something. `_borders` counts on
this order."""

_LONGEST = 40
"""Characters before a border; what is longer is encoded data."""


def _class_of(character: str) -> int:
    if not character.isalnum():
        return _SPACE
    if not character.isascii():
        return 0
    if character.isdigit():
        return _DIGIT | _INNER
    return _LETTER | (_CAPITAL if character.isupper() else _SMALL | _INNER)


_END = bytes([_SPACE])
_CLASSES = bytes(_class_of(chr(byte)) for byte in range(256))


def identifier_parts(text: str) -> str:
    """The parts of each word that is written as several; *text* is one of `strip_accents`.

    >>> identifier_parts("call getUserId of HTTPServer2")
    'get User Id HTTP Server 2'
    """
    shape = _shape(text)
    borders = _borders(shape)
    found: list[str] = []
    at = borders.find(1)
    while at >= 0:
        start, end = shape.rfind(_SPACE, 0, at) + 1, shape.find(_SPACE, at)
        first = max(start, at - _LONGEST)
        while at >= 0:
            found.append(text[first:at])
            first, at = at, borders.find(1, at + 1, end)
        found.append(text[first:end])
        at = borders.find(1, end)
    return " ".join(dict.fromkeys(found))


def parts(word: str) -> list[str]:
    """The words that *word* is written as, itself where it is one."""
    borders = _borders(_shape(word))
    cuts = [at for at, is_border in enumerate(borders) if is_border]
    return [word[first:last] for first, last in pairwise((0, *cuts, len(word)))]


def _shape(text: str) -> bytes:
    """The classes of each character, and a space; letters that Latin 1 lacks are spaces as well."""
    return text.encode("latin-1", "replace").translate(_CLASSES) + _END


def _borders(shape: bytes) -> bytes:
    """A 1 for each character before which a word is parted, else 0.

    That is a capital after a small letter or digit, the last of several capitals before a small
    letter, and a digit after two letters.
    """
    here = int.from_bytes(shape, "little")
    before, before_that = here << 8, here << 16
    # Each shift lays one class's bit onto another's; the mask drops all the others.
    lower = here >> 1
    capital = before & lower
    last_capital = (before & here & (here >> 8 + 3)) >> 1
    digit = (before & before_that & lower) >> 2
    found = (capital | last_capital | digit) & _ones(len(shape) // 4096)
    return found.to_bytes(len(shape), "little")


@lru_cache(maxsize=4)
def _ones(pages: int) -> int:
    """The lowest bit of every byte, for as many pages of 4,096 bytes and one more."""
    return int.from_bytes(b"\1" * 4096 * (pages + 1), "little")
