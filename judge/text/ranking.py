"""BM25 as sparse vectors, and what a passage must contain to be relevant to a question.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009): a term's
score is its inverse document frequency, which the engine adds, times the saturated term frequency,
which is computed here, so that every engine and its test double rank alike. Whether anything is
relevant is decided from document frequencies; docs/adr/0006-relevance.md has the measurements.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence

from judge.text.english import stems, tokens
from judge.text.index_tokens import searchable

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
"""The most weight that a telling word needs; 1 is that of a word in no passage."""

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
