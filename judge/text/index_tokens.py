"""Adds tokens to find a text by: bigrams of scripts without spaces, parts of identifiers.

As Lucene's CJKAnalyzer does it, without dictionaries. The engines split tokens at everything but
letters and digits, so that `get_user_id` needs nothing more, and `getUserId` its parts.
"""

import re
from itertools import pairwise
from unicodedata import normalize

from judge.text.english import strip_accents

UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3\u3005-\u3007\u3041-\u3096"
    "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Ranges for a character class: Thai, Lao, Burmese and Khmer; kana, Chinese characters; and Hangul,
which has spaces but attaches endings to its words."""

_RUN = re.compile(f"[{UNSPACED}]+")


def searchable(text: str) -> str:
    """*text* as it is indexed: without accents, and with runs of those scripts as bigrams.

    >>> searchable("café, USB接口坏").split()
    ['cafe,', 'USB', '接口', '口坏']
    """
    if text.isascii():
        return text
    # Stripping accents decomposes Hangul and kana, so compose them again.
    return _RUN.sub(_pairs, normalize("NFC", strip_accents(text)))


def _pairs(run: re.Match[str]) -> str:
    letters = run[0]
    return f" {' '.join(map(''.join, pairwise(letters))) or letters} "


_LETTERS = "0-9A-Za-zÀ-ÖØ-öø-ÿ"
"""Letters outside Latin-1 end a word: no identifier has a border beside one."""

_BORDER = re.compile(r"[A-Z0-9](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z]{2})(?=[a-z])|(?<=[A-Za-z]{2}[0-9]))")
"""Where a part begins: a capital after a small letter or digit, the last of several capitals before
a small letter, or a digit after two letters. The character class comes first, since only then does
`re` skip ahead to its members."""

_END = re.compile(rf"[^{_LETTERS}]")
_IN_WORD = frozenset(chr(code) for code in range(256) if not _END.match(chr(code)))

_MAX_LENGTH = 40
"""Characters before a border; longer words are encoded data."""


def identifier_parts(text: str) -> str:
    """The parts of each identifier in *text*, which comes from `strip_accents`.

    >>> identifier_parts("call getUserId of HTTPServer2")
    'get User Id HTTP Server 2'
    """
    parts: list[str] = []
    first = end = 0
    for border in _BORDER.finditer(text):
        at = border.start()
        if at >= end:  # in the next word
            parts.append(text[first:end])
            stop = _END.search(text, at)
            first, end = _start(text, at), stop.start() if stop else len(text)
        parts.append(text[first:at])
        first = at
    parts.append(text[first:end])
    return " ".join(filter(None, dict.fromkeys(parts)))


def _start(text: str, border: int) -> int:
    """The start of the word around *border*, at most _MAX_LENGTH before it."""
    start = border - 1
    while start and border - start < _MAX_LENGTH and text[start - 1] in _IN_WORD:
        start -= 1
    return start
