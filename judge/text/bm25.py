"""BM25 as sparse vectors, for engines that store vectors and know only how rare each term is.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009): a term's
score is its inverse document frequency, which the engine adds, times the saturated frequency,
which is computed here. Made on our side, so that every engine and its test double rank alike.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from judge.text.english import stems
from judge.text.unspaced import searchable

K1 = 1.2
"""How soon more of the same term stops counting; the usual value, Tantivy's too."""

B = 0.75
"""How much a long passage is held against it; the usual value."""

K3 = 3.0
"""How soon a word that a question says again stops counting; docs/quality.md tells the choice."""

_TOKEN = re.compile(r"[^\W_]+")


def terms_of(text: str) -> list[str]:
    """The stems of all words of *text*, in order, repeats included."""
    return stems(_TOKEN.findall(searchable(text).lower()))


def passage_vector(terms: Sequence[str], average_length: float) -> dict[int, float]:
    """What each term of a passage weighs beside its rarity, by `term_id`.

    *average_length* is that of the corpus, in terms.
    """
    length_norm = K1 * (1 - B + B * len(terms) / max(average_length, 1.0))
    return {
        term_id(term): count * (K1 + 1) / (count + length_norm)
        for term, count in Counter(terms).items()
    }


def query_vector(terms: Sequence[str]) -> dict[int, float]:
    """The vector of a query: what each term counts that was said so often."""
    return {term_id(term): query_term_weight(count) for term, count in Counter(terms).items()}


def query_term_weight(times: int) -> float:
    """What a word counts that a question says so many *times*: less each time, up to 1 + K3."""
    return times * (K3 + 1) / (times + K3)


def term_id(term: str) -> int:
    """The dimension of *term*: 32 bits of a hash, since the engines count in those.

    Two terms of a corpus of a million meet with a chance of one in nine; they then share a rarity.
    """
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=4).digest(), "big")
