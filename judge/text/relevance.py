"""What is not relevant: what holds too little of the question, each word weighed by its rarity.

The engines hand in how many passages hold each word, look for a passage that proves that there is
an answer, and find what holds one of the words that tell. docs/adr/0006-relevance.md has the
measurements behind the constants.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

SHARE = 0.4
"""How much of the question's weight the best passage must hold: one word of three, all as rare,
is not enough."""

TELLING = 0.25
"""A word of so much of the question's weight tells what it is about."""

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

    `present` are the terms that passages hold at all, rarest first; their weights are small whole
    numbers, 0 where a term decides nothing. Unless one passage in scope holds terms that weigh
    `needed` together, nothing is relevant; if one does, all that hold a term which is not `common`
    are.
    """

    present: list[tuple[int, str]]
    needed: int
    common: tuple[str, ...] = ()

    @property
    def telling(self) -> list[str]:
        """The terms by which passages are found; the common ones only rank."""
        return [term for _, term in self.present if term not in self.common]


def requirement(frequencies: Mapping[str, int], passages: int) -> Requirement | None:
    """What one passage must hold of terms that *frequencies* of all *passages* hold.

    None when those that are held at all are too little together.
    """
    shares = {term: rarity(frequency, passages) for term, frequency in frequencies.items()}
    present = sorted((term for term in shares if frequencies[term]), key=lambda t: -shares[t])
    found = sum(shares[term] for term in present)
    needed = min(SHARE * sum(shares.values()), ENOUGH)
    is_counted = len(present) > MOST_WEIGHED
    step = found / len(present) if is_counted else (max(found, needed) or 1.0) / STEPS
    weighed = [(1 if is_counted else round(shares[term] / step), term) for term in present]
    least = max(1, round(needed / step))
    if sum(weight for weight, _ in weighed) < least:
        return None
    common = () if is_counted else _common(weighed, least, needed * TELLING / SHARE / step)
    return Requirement(weighed, least, tuple(common))


def _common(weighed: Sequence[tuple[int, str]], needed: int, telling: float) -> Iterator[str]:
    """The lightest of *weighed*, none of them *telling*, and all together less than *needed*."""
    together = 0
    for weight, term in reversed(weighed):
        together += weight
        if weight >= max(1, round(telling)) or together >= needed:
            return
        yield term


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
