"""Adds tokens to find a text by: bigrams of scripts without spaces, parts of identifiers.

As Lucene's CJKAnalyzer does it, without dictionaries. The engines split tokens at everything but
letters and digits, so that `get_user_id` needs nothing more, and `getUserId` its parts.
"""

import re
from itertools import pairwise
from unicodedata import normalize

from judge.text.english import strip_accents
from judge.text.spelling import meeting_spellings

UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3\u3005-\u3007\u3041-\u3096"
    "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Ranges for a character class: Thai, Lao, Burmese and Khmer; kana, Chinese characters; and Hangul,
which has spaces but attaches endings to its words."""

_RUN = re.compile(f"[{UNSPACED}]+")


_JOINERS = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
"""Characters without a width: soft hyphens, joiners and marks of direction."""

_PLAIN_LETTERS = str.maketrans(
    {
        **dict(zip("łŁøØđĐðÐħĦŧŦıŋŊ", "lLoOdDdDhHtTinN", strict=True)),
        "ß": "ss",
        "ẞ": "SS",
        "æ": "ae",
        "Æ": "AE",
        "œ": "oe",
        "Œ": "OE",
        "þ": "th",
        "Þ": "Th",
    }
)
"""Letters that do not decompose into a plain one and an accent."""


def without_joiners(text: str) -> str:
    """*text* without characters that no one sees, and that would split its words."""
    return _JOINERS.sub("", text)


def searchable(text: str) -> str:
    """*text* as it is indexed: plain letters, one spelling of a word, bigrams of those scripts.

    >>> searchable("café, USB接口坏").split()
    ['cafe,', 'USB', '接口', '口坏']
    """
    if text.isascii():
        return meeting_spellings(text)
    # Stripping accents decomposes Hangul and kana, so compose them again.
    plain = normalize("NFC", strip_accents(without_joiners(text))).translate(_PLAIN_LETTERS)
    return _RUN.sub(_pairs, meeting_spellings(plain))


def _pairs(run: re.Match[str]) -> str:
    letters = run[0]
    return f" {' '.join(map(''.join, pairwise(letters))) or letters} "


_IDENTIFIER = re.compile(r"[A-Za-z0-9À-ÖØ-öø-ÿ]{2,80}")
_SMALL = "a-zß-öø-ÿ"
_PART = re.compile(rf"[A-Z]+(?![{_SMALL}])|[A-ZÀ-ÖØ-Þ]?[{_SMALL}]+|(?<=[A-Za-zÀ-ÿ]{{2}})[0-9]+")


def identifier_parts(text: str) -> str:
    """The parts of each identifier in *text* that has several: at capitals and before digits.

    >>> identifier_parts("call getUserId of HTTPServer2")
    'get User Id HTTP Server 2'
    """
    parts: dict[str, None] = {}
    for word in _IDENTIFIER.findall(text):
        if not (word.isalpha() and word[1:].islower()):
            found = _PART.findall(word)
            if len(found) > 1:
                parts |= dict.fromkeys(found)
    return " ".join(parts)
