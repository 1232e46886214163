"""Tokenises scripts without spaces between words into bigrams of letters, for index and query.

As Lucene's CJKAnalyzer does it, without dictionaries.
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
