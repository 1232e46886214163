"""Adds tokens to find a text by: one spelling, bigrams of scripts without spaces, identifiers.

As Lucene's CJKAnalyzer does it, without dictionaries. The engines split tokens at everything but
letters and digits, so that `get_user_id` needs nothing more, and `getUserId` its parts.

Below: BM25 as sparse vectors, and what a passage must contain to be relevant to a question.
Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009): a term's
score is its inverse document frequency, which the engine adds, times the saturated term frequency,
which is computed here, so that every engine and its test double rank alike. Whether anything is
relevant is decided from document frequencies; docs/adr/0006-relevance.md has the measurements.
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from unicodedata import normalize

from judge.text.data import package_data
from judge.text.english import stems, strip_accents, strip_invisible, tokens

_WORD = re.compile(r"[A-Za-z]{3,40}")


def meeting_spellings(text: str) -> str:
    """*text* with one spelling for each word, as `vocabulary/spellings.toml` has them.

    >>> meeting_spellings("Colour and color, centre, travelling")
    'color and color, center, traveling'
    """
    return _WORD.sub(lambda word: _spelling(word[0].lower()) or word[0], text)


@lru_cache(maxsize=50_000)
def _spelling(word: str) -> str:
    """The one spelling of *word*, an empty string where that is its own."""
    spellings = package_data("spellings")
    if listed := spellings["words"].get(word):
        return str(listed)
    found = ((re.fullmatch(pattern, word), spelled) for pattern, spelled in spellings["rules"])
    return next((match.expand(spelled) for match, spelled in found if match), "")


UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3\u3005-\u3007\u3041-\u3096"
    "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Ranges for a character class: Thai, Lao, Burmese and Khmer; kana, Chinese characters; and Hangul,
which has spaces but attaches endings to its words."""

_RUN = re.compile(f"[{UNSPACED}]+")

_PLAIN_LETTERS = str.maketrans(
    {
        **dict(zip("łŁøØđĐðÐħĦŧŦıŋŊΣς", "lLoOdDdDhHtTinNσσ", strict=True)),
        **dict(zip("ßẞæÆœŒþÞ", "ss SS ae AE oe OE th Th".split(), strict=True)),
    }
)
"""Letters that do not decompose into a plain one and an accent."""


def searchable(text: str) -> str:
    """*text* as it is indexed: plain letters, one spelling of a word, bigrams of those scripts.

    >>> searchable("café, USB接口坏").split()
    ['cafe,', 'USB', '接口', '口坏']
    """
    if text.isascii():
        return meeting_spellings(text)
    # Stripping accents decomposes Hangul and kana, so compose them again.
    unaccented = normalize("NFC", strip_accents(strip_invisible(text))).translate(_PLAIN_LETTERS)
    spelled = meeting_spellings(unaccented)
    return _RUN.sub(lambda run: f" {' '.join(map(''.join, pairwise(run[0]))) or run[0]} ", spelled)


_IDENTIFIER = re.compile(r"[A-Za-z0-9À-ÖØ-öø-ÿ]{2,80}")
_SMALL = "a-zß-öø-ÿ"
_PART = re.compile(
    rf"\A[0-9]+(?!st|nd|rd|th)(?=[A-Za-z]{{1,4}}\Z)|[A-Z]+(?![{_SMALL}])|[A-ZÀ-ÖØ-Þ]?[{_SMALL}]+"
    r"|(?<=[A-Za-zÀ-ÿ]{2})[0-9]+"
)

_UMLAUTS = str.maketrans(dict(zip("äöüÄÖÜ", "ae oe ue Ae Oe Ue".split(), strict=True)))
_DOTTED = r"[^\W\d_](?:\.[^\W\d_])+\.?(?!\w)|\d{1,3}(?:[,.'’]\d{3})+(?!\w|[,.]\d{3})"
_REST = r"[-\u2010\u2011]([^\W\d_]+)(?![\w-])"
SPLIT = rf"(?<![\w.,-])(?:[^\W\d_]+{_REST}|{_DOTTED})"
"""What others write as one word: e-mail, U.K., 1,200."""

_PREFIX = r"([^\W\d_]|anti|co|de|inter|multi|non|off|on|pre|re|semi|sub|un|up|wi)"


def as_one_word(question: str) -> str:
    """*question* with "UK", and "email mail", since a prefix means little alone."""
    whole = re.sub(rf"(?<![\w.,-])(?:{_DOTTED})", lambda w: re.sub("[.,'’]", "", w[0]), question)
    return re.sub(rf"(?i)(?<![\w.,-]){_PREFIX}{_REST}", r"\1\2 \2", whole)


def identifier_parts(text: str) -> str:
    """The parts of each identifier in *text* that has several: at capitals and before digits.

    >>> identifier_parts("e-mail getUserId of HTTPServer2")  # and what others write as one word
    'email get User Id HTTP Server 2'
    """
    text = normalize("NFKC", text)
    parts = dict.fromkeys(re.sub(r"[\W_]", "", word[0]) for word in re.finditer(SPLIT, text))
    umlauts = re.findall(r"\b[a-zA-Zß]*+[äöüÄÖÜ][^\W_]*", text)  # Müller or Mueller
    parts |= dict.fromkeys(word.translate(_UMLAUTS) for word in umlauts)
    for word in _IDENTIFIER.findall(text):
        if not (word.isalpha() and word[1:].islower()) and len(found := _PART.findall(word)) > 1:
            parts |= dict.fromkeys(found)
    return " ".join(parts)


K1 = 1.2
"""Saturation of the term frequency; the usual value, and Tantivy's."""

B = 0.75
"""Strength of length normalisation; the usual value."""

K3 = 3.0
"""Saturation of the frequency in the query; docs/quality.md has the measurements."""


def terms_of(text: str) -> list[str]:
    """The stems of all tokens of *text*, in order, repeats included."""
    return stems(tokens(searchable(text).lower()))


def passage_vector(terms: Sequence[str], average_length: float) -> dict[int, float]:
    """The BM25 weight of each term of a passage without its IDF, by `term_id`."""
    length_norm = K1 * (1 - B + B * len(terms) / max(average_length, 1.0))
    return {
        term_id(term): count * (K1 + 1) / (count + length_norm)
        for term, count in Counter(terms).items()
    }


def query_term_weight(times: int) -> float:
    """The weight of a term that occurs so many *times* in the query; at most 1 + K3."""
    return times * (K3 + 1) / (times + K3)


def term_id(term: str) -> int:
    """The dimension of *term*: 32 bits of a hash; in a million words two may collide."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=4).digest(), "big")


NEEDED_SHARE = 0.4
"""A word with this share of the question's weight is telling: passages with it are relevant. Of
three equally rare words none is."""

MAX_NEEDED = 1.0
"""The most weight that a telling word needs; a word in no passage has 1."""

PRIOR_PASSAGES = 1000
"""A smaller corpus is treated as one of this size: among three passages no word is common."""

PROOF = 2
"""What the words of a passage must count to be relevant: a telling word does, or any two words."""


def proof_counts(frequencies: Mapping[str, int], passages: int) -> dict[str, int]:
    """What each term counts towards PROOF, by document frequency; empty when all prove nothing."""
    weights = {term: scaled_idf(frequency, passages) for term, frequency in frequencies.items()}
    needed = min(NEEDED_SHARE * sum(weights.values()), MAX_NEEDED)
    counts = {
        term: PROOF if weights[term] >= needed else 1
        for term, frequency in frequencies.items()
        if frequency
    }
    return counts if sum(counts.values()) >= PROOF else {}


def scaled_idf(frequency: int, passages: int) -> float:
    """The IDF over its greatest value: from 1 (in no passage) down towards 0 (in each)."""
    # An index may still count deleted passages in *frequency*.
    total = max(passages, frequency, PRIOR_PASSAGES)
    return idf(frequency, total) / idf(0, total)


def idf(frequency: int, passages: int) -> float:
    """BM25's inverse document frequency, as Lucene and Tantivy have it."""
    return math.log(1 + (passages - frequency + 0.5) / (frequency + 0.5))
