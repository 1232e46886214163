"""What is not relevant: what holds too little of the question, each word weighed by its rarity.

The engines hand in how many passages hold each word and filter by the answer, so that the count
of what was found is right and nothing irrelevant is ranked. docs/adr/0006-relevance.md has the
measurements behind the constants.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

SHARE = 0.4
"""How much of the question's weight the best passage must hold: one word of three, all as rare,
is not enough."""

FLOOR = 0.25
"""How much every passage must hold once one holds enough. More than this costs ranking."""

ENOUGH = 1.0
"""No question asks for more than this, in words that no passage holds: a long story is answered
by passages that share a few of its telling words."""

PRIOR_PASSAGES = 1000
"""A small corpus is weighed as if it had so many passages: in three passages nothing is common."""

MOST_WEIGHED = 6
"""With more words found than this the words are counted instead: their weights even out."""

STEPS = 12
"""Weights are whole numbers of about this sum, since the engines' work grows with it."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """What must hold of a query's terms for anything to be relevant.

    `weights` stand in the order of the terms; small whole numbers, 0 for a term that decides
    nothing. Unless one passage in scope holds terms that weigh `needed` together, nothing is
    relevant; if one does, all that hold `floor` are.
    """

    weights: tuple[int, ...]
    needed: int
    floor: int = 1


def requirement(frequencies: Sequence[int], passages: int) -> Requirement:
    """What a passage must hold of words that *frequencies* of all *passages* hold.

    `needed` is out of reach when the words found together are too little.
    """
    shares = [rarity(frequency, passages) for frequency in frequencies]
    present = [share if f else 0.0 for share, f in zip(shares, frequencies, strict=True)]
    needed = min(SHARE * sum(shares), ENOUGH)
    floor = needed * FLOOR / SHARE
    count = sum(share > 0 for share in present)
    if count > MOST_WEIGHED:
        mean = sum(present) / count
        return Requirement(tuple(int(k > 0) for k in present), _steps(needed, mean))
    step = (max(sum(present), needed) or 1.0) / STEPS
    weights = tuple(round(k / step) for k in present)
    return Requirement(weights, _steps(needed, step), _steps(floor, step))


def _steps(weight: float, step: float) -> int:
    return max(1, round(weight / step))


def rarity(frequency: int, passages: int) -> float:
    """From 1 (no passage holds the word) down towards 0 (each does).

    It is BM25's inverse document frequency over its greatest value.
    """
    # An index may still count deleted passages in *frequency*.
    total = max(passages, frequency, PRIOR_PASSAGES)
    return idf(frequency, total) / idf(0, total)


def idf(frequency: int, passages: int) -> float:
    """BM25's inverse document frequency, as Lucene and Tantivy have it."""
    return math.log(1 + (passages - frequency + 0.5) / (frequency + 0.5))
