"""BM25 as sparse vectors, for engines that store vectors and know only how rare each is.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009): a word's
score is its inverse document frequency, which the engine adds, times the saturated frequency,
which is computed here. Made on our side, so that every engine and its test double rank alike.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from judge.text.english import stems, strip_accents

K1 = 1.2
"""How soon more of the same word stops counting; the usual value, Tantivy's too."""

B = 0.75
"""How much a long passage is held against it; the usual value."""

_TOKEN = re.compile(r"[^\W_]+")


class Bm25Encoder:
    """See `SparseEncoder`."""

    def terms(self, text: str) -> list[str]:
        """The stems of all words of *text*, in order."""
        return stems(_TOKEN.findall(strip_accents(text).lower()))

    def encode(self, terms: Sequence[str], average_length: float) -> dict[int, float]:
        """What each word of a passage weighs beside its rarity, by the word's number."""
        fullness = K1 * (1 - B + B * len(terms) / max(average_length, 1.0))
        return {
            number(term): count * (K1 + 1) / (count + fullness)
            for term, count in Counter(terms).items()
        }

    def ask(self, terms: Sequence[str]) -> dict[int, float]:
        """The question's vector: each word once."""
        return {number(term): 1.0 for term in terms}


def number(term: str) -> int:
    """The dimension of *term*: 32 bits of a hash, since the engines count in those.

    Two words of a corpus of a million meet with a chance of one in nine; they then share a rarity.
    """
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=4).digest(), "big")
