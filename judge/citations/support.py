"""How far do the sentences of a source carry a claim, and do they say the opposite?

Two readings that know nothing of each other: the words they share, which every topic has, and
what is said of those words, which turns on the small ones. No model, no network, deterministic.
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise

from judge.citations.contradiction import MIN_OVERLAP, Statement, disagreements, overlap
from judge.citations.facts import Fact, Quantity, has_all, quantities
from judge.text.english import STOP_WORDS, stems, strip_accents

MIN_CONTENT_WORDS = 3
"""Under three content words a share says nothing."""

NAME_WEIGHT = 2.0
NUMBER_WEIGHT = 2.5
"""What a name and a number weigh beside another word."""

SINGLE_SENTENCE = 0.4
"""The part of the share that one sentence must hold alone; the rest may be spread over all."""

MISSING = 0.75
"""What is left of the share for each name and number that no sentence holds."""

CONTRADICTED = 0.2
"""What is left of the support when the closest sentence says the opposite."""

ORDER = 0.05
"""The part of the share that pairs of neighbouring words have, small ones included: of two claims
of the same words the one that keeps their order is carried further."""

_COMPARED = 3
"""Sentences read for what they say, those that share most words; reading costs the time."""

_TIE = 0.1
"""A sentence holding as much of the claim but for this may speak for it as well as the closest."""

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_NUMBERS = {
    word: str(n)
    for n, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
}


@dataclass(frozen=True, slots=True)
class Support:
    """How a claim is carried by the sentences of one source.

    `score` is 0 to 1, None under three content words; `sentence` the index of the one that
    carries most, None where there is none; `contradicts` says that this sentence says otherwise.
    """

    score: float | None
    contradicts: bool
    sentence: int | None


@dataclass(frozen=True, slots=True)
class _Content:
    """The content words of a text, by stem with their weight, and the stems in their order."""

    weights: dict[str, float]
    order: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "_Content":
        text = _THOUSANDS.sub("", strip_accents(text).replace("’", "'"))
        weights: dict[str, float] = {}
        written = _TOKEN.findall(text)
        words = [found.lower().removesuffix("'s") for found in written]
        order = stems(_NUMBERS.get(word, word) for word in words)
        for place, (found, word, stem) in enumerate(zip(written, words, order, strict=True)):
            if word not in STOP_WORDS and not word.endswith("n't"):
                weights[stem] = max(weights.get(stem, 1.0), _weight(stem, found, place))
        return cls(weights, tuple(order))


def _weight(stem: str, written: str, place: int) -> float:
    if stem[0].isdigit():
        return NUMBER_WEIGHT
    return NAME_WEIGHT if place and written[0].isupper() else 1.0


def support(claim: str, sentences: Sequence[str]) -> Support:
    """How far *sentences* carry *claim*, and whether the closest of them says the opposite.

    The share of the claim's content words that the sentences hold, names and numbers weighing
    more and costing more when absent; then less for what is said otherwise. Linear in the text.
    """
    said = _Content.of(claim)
    held = [_Content.of(sentence) for sentence in sentences]
    shares = [_share(said, content.weights.keys()) for content in held]
    closest = sorted(range(len(sentences)), key=lambda at: (-shares[at], at))[:_COMPARED]
    statement = Statement.of(claim)
    sentence, kinds = _compared(statement, sentences, closest)
    is_contradicted = bool(kinds)
    if len(said.weights) < MIN_CONTENT_WORDS:
        return Support(None, is_contradicted, sentence)
    score = _carried(claim, sentences, said, held)
    score *= 1 - ORDER * (1 - _order(said, held))
    if is_contradicted:
        score *= CONTRADICTED
    return Support(round(score, 3), is_contradicted, sentence)


def contradicts(claim: str, sentences: Sequence[str]) -> bool:
    """Whether the sentence closest to *claim* says the opposite."""
    return support(claim, sentences).contradicts


def _compared(
    claim: Statement, sentences: Sequence[str], closest: Sequence[int]
) -> tuple[int | None, list[str]]:
    """The sentence to hold the claim against, and how they disagree."""
    found = []
    for at in closest:
        source = Statement.of(sentences[at])
        found.append((overlap(claim, source), at, source))
    if not found:
        return None, []
    found.sort(key=lambda one: (-one[0], closest.index(one[1])))
    most = found[0][0]
    if most < MIN_OVERLAP:
        return closest[0], []
    first: list[str] | None = None
    for share, at, source in found:
        if share < most - _TIE:
            break
        kinds = disagreements(claim, source)
        if kinds == ["number"] and _holds_amounts(claim.facts, sentences):
            kinds = []
        if not kinds:
            return at, []
        first = first or kinds
    return found[0][1], first or []


def _share(said: _Content, held: AbstractSet[str]) -> float:
    whole = sum(said.weights.values())
    return sum(w for stem, w in said.weights.items() if stem in held) / whole if whole else 0.0


def _carried(
    claim: str, sentences: Sequence[str], said: _Content, held: Sequence[_Content]
) -> float:
    """The share of the claim that the sentences hold, less for names and numbers not there."""
    everywhere = {stem for content in held for stem in content.weights}
    absent = {s for s, w in said.weights.items() if w > 1.0 and s not in everywhere}
    if any(stem[0].isdigit() for stem in absent) and _holds_amounts(_measured(claim), sentences):
        amounts = {stem for stem in absent if stem[0].isdigit()}
        everywhere |= amounts
        absent -= amounts
    best = max((_share(said, content.weights.keys()) for content in held), default=0.0)
    share = SINGLE_SENTENCE * best + (1 - SINGLE_SENTENCE) * _share(said, everywhere)
    return share * float(MISSING ** len(absent))


def _holds_amounts(ours: Sequence[Fact], sentences: Sequence[str]) -> bool:
    """Whether every number of the claim is there in other words: 14 days for two weeks."""
    theirs = [fact for sentence in sentences for fact in quantities(sentence)]
    return bool(ours) and has_all(ours, theirs)


def _measured(claim: str) -> list[Fact]:
    """The numbers of *claim* if each of them measures something; dates have no other words."""
    facts = quantities(claim)
    return facts if all(isinstance(fact, Quantity) and fact.kind for fact in facts) else []


def _order(said: _Content, held: Sequence[_Content]) -> float:
    """The share of the claim's pairs of neighbouring words that some sentence holds."""
    ours = set(pairwise(said.order))
    theirs = {pair for content in held for pair in pairwise(content.order)}
    return len(ours & theirs) / len(ours) if ours else 1.0
