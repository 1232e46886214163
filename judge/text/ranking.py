"""BM25 as sparse vectors, and what a passage must contain to be relevant to a question.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009): a term's
score is its inverse document frequency, which the engine adds, times the saturated term frequency,
which is computed here, so that every engine and its test double rank alike. Whether anything is
relevant is decided from document frequencies; docs/adr/0006-relevance.md has the measurements.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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


NEEDED_SHARE = 0.4
"""The share of the question's weight that one passage must contain: one word of three equally rare
ones is not enough."""

SELECTIVE_SHARE = 0.25
"""A term with this share of the question's weight is selective: it tells what is asked about."""

MAX_NEEDED = 1.0
"""The most weight that is needed; 1 is that of a term in no passage. Passages that share a few
selective terms with a long story are relevant."""

PRIOR_PASSAGES = 1000
"""A smaller corpus is treated as one of this size: among three passages no term is common."""

MAX_WEIGHTED = 6
"""With more terms than this in the index all have weight 1: their weights even out."""

STEPS = 12
"""About the sum of the weights, which are integers: the engines' work grows with it."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """Which of a query's terms passages must contain to be relevant.

    `present` are the terms in the index with their weights, rarest first; weights are small
    integers, 0 for a term that decides nothing. Nothing is relevant unless one passage in scope
    contains terms that weigh `needed` together; then all passages with a selective term are.
    """

    present: list[tuple[int, str]]
    needed: int
    common: tuple[str, ...] = ()

    @property
    def selective(self) -> list[str]:
        """The terms that retrieve passages; the `common` ones only rank them."""
        return [term for _, term in self.present if term not in self.common]


def requirement(frequencies: Mapping[str, int], passages: int) -> Requirement | None:
    """The requirement for the query terms whose document *frequencies* among *passages* are given.

    None when all terms in the index together weigh too little.
    """
    idfs = {term: scaled_idf(frequency, passages) for term, frequency in frequencies.items()}
    present = sorted((term for term in idfs if frequencies[term]), key=lambda t: -idfs[t])
    total = sum(idfs[term] for term in present)
    needed = min(NEEDED_SHARE * sum(idfs.values()), MAX_NEEDED)
    is_counted = len(present) > MAX_WEIGHTED
    step = total / len(present) if is_counted else (max(total, needed) or 1.0) / STEPS
    weighted = [(1 if is_counted else round(idfs[term] / step), term) for term in present]
    needed_steps = max(1, round(needed / step))
    if sum(weight for weight, _ in weighted) < needed_steps:
        return None
    selective = needed * SELECTIVE_SHARE / NEEDED_SHARE / step
    common = () if is_counted else _common(weighted, needed_steps, selective)
    return Requirement(weighted, needed_steps, tuple(common))


def _common(weighted: Sequence[tuple[int, str]], needed: int, selective: float) -> Iterator[str]:
    """The lightest terms below the weight *selective* that together weigh less than *needed*."""
    total = 0
    for weight, term in reversed(weighted):
        total += weight
        if weight >= max(1, round(selective)) or total >= needed:
            return
        yield term


def scaled_idf(frequency: int, passages: int) -> float:
    """The IDF over its greatest value: from 1 (in no passage) down towards 0 (in each)."""
    # An index may still count deleted passages in *frequency*.
    total = max(passages, frequency, PRIOR_PASSAGES)
    return idf(frequency, total) / idf(0, total)


def idf(frequency: int, passages: int) -> float:
    """BM25's inverse document frequency, as Lucene and Tantivy have it."""
    return math.log(1 + (passages - frequency + 0.5) / (frequency + 0.5))
