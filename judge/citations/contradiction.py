"""Whether a sentence says the opposite of a claim in the same words.

Only what is nearly always right: another number where all else agrees, and a "not", or a "must"
for a "may", in a sentence that otherwise has the same words. The rest is left to a model.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from judge.citations.facts import FIGURES, Fact, differ, lowered, quantities
from judge.text.english import STOP_WORDS, WORD, stems

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
        re.compile(rf"\b(?:may|can|{_BE} (?:allowed|permitted|able) to)\b"),
    ),
    ("not", re.compile(r"\b(?:(?:do|does|did) not|not|never)\b")),
]
_OPPOSED = frozenset(
    map(
        frozenset,
        [
            ("bound", "free"), ("bound", "barred"), ("bound", "allowed"), ("barred", "free"),
            ("barred", "allowed"), ("not", None),
        ],
    )
)  # fmt: skip
"""Pairs that turn a sentence round; a plain fact has none."""

_BOUNDS = frozenset("than over under above below before after until by".split())
_FILLERS = frozenset("a an the my your his her its our their always also".split())
"""Words in which two sentences may differ that are the same but for a negation."""

_CONDITIONS = frozenset("if when where while only".split())
"""Words that restrict what a sentence says: "not if you are under 18"."""

_MIN_SHARED = 2
"""Content words that a claim must have at least: "you must" says too little."""

_TOKEN = re.compile(rf"<(?P<modality>\w+)>|{WORD}")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence as it is compared."""

    words: tuple[str, ...]
    """The stems of its words, modalities and fillers aside."""
    modalities: Sequence[tuple[int, str]]
    """Each of its modalities, after the number of words before it."""
    content: frozenset[str]
    """The stems of the words that carry content, without numbers, units and dates."""
    bounds: frozenset[str]
    facts: Sequence[Fact]

    @classmethod
    def of(cls, sentence: str) -> "Statement":
        """Read *sentence*."""
        text = lowered(sentence)
        for modality, pattern in _MODALITIES:
            text = pattern.sub(f" <{modality}> ", text)
        words: list[str] = []
        modalities = []
        for token in _TOKEN.finditer(text):
            if token["modality"]:
                modalities.append((len(words), token["modality"]))
            elif token[0] not in _FILLERS:
                words.append(token[0])
        content = [w for w in words if w not in STOP_WORDS | FIGURES and not w[0].isdigit()]
        return cls(
            tuple(stems(words)),
            modalities,
            frozenset(stems(content)),
            _BOUNDS.intersection(words),
            quantities(sentence),
        )


def differs_in_number(claim: Statement, source: Statement) -> bool:
    """Whether the two have different numbers, and *source* has all else of the claim."""
    ours, theirs = ([name for _, name in one.modalities] for one in (claim, source))
    return (
        len(claim.content) >= _MIN_SHARED
        and claim.content <= source.content
        and bool(_places(theirs, ours))
        and claim.bounds <= source.bounds
        and differ(claim.facts, source.facts)
    )


def is_turned_round(claim: Statement, source: Statement) -> bool:
    """Whether *source* has the claim's words together, with one opposed modality among them."""
    if len(claim.content) < _MIN_SHARED:
        return False
    ours = [name for _, name in claim.modalities]
    for start in _places(source.words, claim.words):
        end = start + len(claim.words)
        is_last = end == len(source.words)
        theirs = [name for at, name in source.modalities if start <= at < end + is_last]
        pairs = [pair for pair in zip_longest(ours, theirs) if pair[0] != pair[1]]
        around = source.words[:start] + source.words[end:]
        if len(pairs) == 1 and frozenset(pairs[0]) in _OPPOSED:
            return _CONDITIONS.isdisjoint(around)
    return False


def _places(words: Sequence[str], run: Sequence[str]) -> list[int]:
    """Where *run* begins in *words*."""
    starts = range(len(words) - len(run) + 1)
    return [start for start in starts if words[start : start + len(run)] == run]
