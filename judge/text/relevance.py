"""Decides from document frequencies what a passage must contain to be relevant to a question.

Each term is weighted by its IDF. An engine passes in the document frequencies, checks that one
passage contains enough of the question, and then returns the passages with a selective term.
docs/adr/0006-relevance.md has the measurements behind the constants.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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
