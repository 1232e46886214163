"""BM25 as sparse vectors, for engines that store vectors and only add the IDF of each term.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009): a term's
score is its inverse document frequency, which the engine adds, times the saturated term frequency,
which is computed here, so that every engine and its test double rank alike.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence

from judge.text.english import stems, tokens
from judge.text.unspaced import searchable

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
    """The BM25 weight of each term of a passage without its IDF, by `term_id`.

    *average_length* is the average length of the corpus's passages, in terms.
    """
    length_norm = K1 * (1 - B + B * len(terms) / max(average_length, 1.0))
    return {
        term_id(term): count * (K1 + 1) / (count + length_norm)
        for term, count in Counter(terms).items()
    }


def query_vector(terms: Sequence[str]) -> dict[int, float]:
    """The weight of each term of a query, by `term_id`."""
    return {term_id(term): query_term_weight(count) for term, count in Counter(terms).items()}


def query_term_weight(times: int) -> float:
    """The weight of a term that occurs so many *times* in the query; at most 1 + K3."""
    return times * (K3 + 1) / (times + K3)


def term_id(term: str) -> int:
    """The dimension of *term*: 32 bits of a hash, as wide as the engines' dimensions are.

    In a corpus of a million words two collide with a chance of one in nine, and share an IDF then.
    """
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=4).digest(), "big")
