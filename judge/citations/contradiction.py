"""Whether a sentence says the opposite of a claim in the same words.

Only what is nearly always right: another number where all else agrees, and a "not", or a "must"
for a "may", in a sentence that otherwise has the same words. The rest is left to a model.
"""

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Literal, NamedTuple

from judge.citations.facts import FIGURES, Fact, differ, lowered, quantities
from judge.text.english import STOP_WORDS, find_words, stems

Modality = Literal["bound", "free", "barred", "allowed", "not"]
"""A duty, its absence, a ban, a permission, and a plain negation."""

_BE = r"(?:is|are|was|were|be)"
_MODALITIES: Sequence[tuple[Modality, re.Pattern[str]]] = [
    ("free", re.compile(r"\b(?:(?:do|does|did) not (?:have|need) to|need not|no need to)\b")),
    (
        "barred",
        re.compile(
            rf"\b(?:(?:must|shall|may|can|could) (?:not|never)|{_BE} not (?:allowed|permitted|able)"
            rf" to|{_BE} (?:forbidden|prohibited) (?:to|from))\b"
        ),
    ),
    ("bound", re.compile(rf"\b(?:must|(?:has|have|needs?) to|{_BE} (?:required|obliged) to)\b")),
    (
        "allowed",
        re.compile(rf"(?<!as soon as you )\b(?:may|can|{_BE} (?:allowed|permitted|able) to)\b"),
    ),
    ("not", re.compile(r"\b(?:(?:do|does|did) not|not|never)\b")),
]
_MARK = re.compile(r"<(\w+)>")

_OPPOSED = frozenset(
    map(
        frozenset,
        [
            ("bound", "free"), ("bound", "barred"), ("bound", "allowed"), ("barred", "free"),
            ("barred", "allowed"), ("not", None),
        ],
    )
)  # fmt: skip
"""Pairs of which one is about the opposite of the other."""

_BOUNDS = frozenset("than over under above below before after until by".split())
_ARTICLES = frozenset({"a", "an", "the"})
_MIN_SHARED = 2
"""Content words that a claim must have at least: "you must" says too little."""


class Statement(NamedTuple):
    """A sentence as it is compared."""

    modalities: tuple[str, ...]
    stems: tuple[str, ...]
    """The stems of its words, modalities and articles aside."""
    content: frozenset[str]
    """Those of the words that carry content, without numbers, units and dates."""
    bounds: frozenset[str]
    facts: Sequence[Fact]

    @classmethod
    def of(cls, sentence: str) -> "Statement":
        """Read *sentence*."""
        text = lowered(sentence)
        for modality, pattern in _MODALITIES:
            text = pattern.sub(f" <{modality}> ", text)
        words = [
            word for word in find_words(_MARK.sub(" ", text)) if word not in {"a", "an", "the"}
        ]
        content = [w for w in words if w not in STOP_WORDS | FIGURES and not w[0].isdigit()]
        return cls(
            tuple(_MARK.findall(text)),
            tuple(stems(words)),
            frozenset(stems(content)),
            _BOUNDS.intersection(words),
            quantities(sentence),
        )


def differs_in_number(claim: Statement, source: Statement) -> bool:
    """Whether the two have different numbers, and *source* has all else of the claim."""
    return (
        len(claim.content) >= _MIN_SHARED
        and claim.content <= source.content
        and claim.modalities == source.modalities
        and claim.bounds <= source.bounds
        and differ(claim.facts, source.facts)
    )


def is_turned_round(claim: Statement, source: Statement) -> bool:
    """Whether one modality is the opposite, and the claim's words stand together in *source*."""
    if len(claim.content) < _MIN_SHARED or not _has_run(source.stems, claim.stems):
        return False
    pairs = [
        pair for pair in zip_longest(claim.modalities, source.modalities) if pair[0] != pair[1]
    ]
    return len(pairs) == 1 and frozenset(pairs[0]) in _OPPOSED


def _has_run(words: Sequence[str], run: Sequence[str]) -> bool:
    places = range(len(words) - len(run) + 1)
    return any(words[place : place + len(run)] == run for place in places)
