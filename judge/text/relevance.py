"""What is not relevant: what holds too little of the question, each word weighed by its rarity.

The engines hand in how many passages hold each word and filter by the answer, so that the count
of what was found is right and nothing irrelevant is ranked. docs/adr/0006-relevance.md has the
measurements behind the constants.
"""

import math
from collections.abc import Mapping
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

    `present` are the terms that passages hold at all, heaviest first; their weights are small whole
    numbers, 0 where a term decides nothing. Unless one passage in scope holds terms that weigh
    `needed` together, nothing is relevant; if one does, all that hold `floor` are.
    """

    present: list[tuple[int, str]]
    needed: int
    floor: int


def requirement(frequencies: Mapping[str, int], passages: int) -> Requirement | None:
    """What a passage must hold of terms that *frequencies* of all *passages* hold.

    None when those that are held at all are too little together.
    """
    shares = {term: rarity(frequency, passages) for term, frequency in frequencies.items()}
    present = {term: share for term, share in shares.items() if frequencies[term]}
    found = sum(present.values())
    needed = min(SHARE * sum(shares.values()), ENOUGH)
    if len(present) > MOST_WEIGHED:
        step, floor = found / len(present), 0.0
        weighed = [(1, term) for term in present]
    else:
        step, floor = (max(found, needed) or 1.0) / STEPS, needed * FLOOR / SHARE
        weighed = [(round(share / step), term) for term, share in present.items()]
    rule = Requirement(sorted(weighed, reverse=True), _steps(needed, step), _steps(floor, step))
    return rule if sum(weight for weight, _ in weighed) >= rule.needed else None


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
