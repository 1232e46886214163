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

_COMPOSED = re.compile(
    rf"(?<![{_LETTERS}])[{_LETTERS}]*?(?:[a-z0-9][A-Z]|[A-Z]{{2}}[a-z]|[A-Za-z]{{2}}[0-9])"
    rf"[{_LETTERS}]*"
)
_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z]{2})(?=[0-9])")
"""Where a part begins: a capital after a small letter or digit, the last of several capitals before
a small letter, or a digit after two letters."""


def identifier_parts(text: str) -> str:
    """The parts of each identifier in *text*, which comes from `strip_accents`.

    >>> identifier_parts("call getUserId of HTTPServer2")
    'get User Id HTTP Server 2'
    """
    parts = [part for word in _COMPOSED.findall(text) for part in _BORDER.split(word)]
    return " ".join(dict.fromkeys(parts))
