"""Measures how far the sentences of a source support a claim, and whether they contradict it.

The support is the share of the claim's words that the sentences have. Of contradictions only what
is nearly always right is found: another number where all else agrees, and a "not", or a "must" for
a "may", in a sentence that otherwise has the same words. The rest is left to a model. No network,
deterministic.
"""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from judge.citations.facts import (
    DATE,
    FIGURES,
    SMALL_NUMBERS,
    Fact,
    Quantity,
    closed,
    differ,
    lowered,
    quantities,
)
from judge.text.english import STOP_WORDS, WORD, find_words, stems, strip_accents

_BE = r"(?:is|are|was|were|be)"
_MODALITIES = [
    (modality, re.compile(rf"\b(?:{pattern})\b"))
    for modality, pattern in {
        "free": r"(?:do|does|did) not (?:have|need) to|need not|no need to"
        rf"|{_BE} not (?:required|obliged) to",
        "barred": r"(?:must|shall|may|can|could) (?:not|never)"
        rf"|{_BE} not (?:allowed|permitted|able) to|{_BE} (?:forbidden|prohibited) (?:to|from)",
        "bound": rf"must|(?:has|have|needs?) to|{_BE} (?:required|obliged) to",
        "allowed": rf"may|can|{_BE} (?:allowed|permitted|able) to",
        "not": "(?:do|does|did) not|not|never",
    }.items()
]
"""A duty's absence, a ban, a duty, a permission, and a plain negation."""
_OPPOSED = {
    frozenset(pair)
    for pair in (
        ("bound", "free"), ("bound", "barred"), ("bound", "allowed"), ("barred", "free"),
        ("barred", "allowed"), ("not", None),
    )
}  # fmt: skip
"""Pairs that turn a sentence round; a plain fact has none."""

_BOUNDS = frozenset("about around than over under above below before after until by".split())
_RATES = frozenset(["each", "everi", "per"])
"""With one of these a source has an amount of which a claim without it may tell the sum."""
_FILLERS = frozenset("a an the my your his her its our their always also".split())
"""Words in which two sentences may differ that are the same but for a negation."""

_CONDITIONS = frozenset("if when where while only".split())
"""Words that restrict what a sentence says: "not if you are under 18"."""

_SHARES = {"half": 50, "a third": 33, "a quarter": 25, "two thirds": 67, "three quarters": 75}
_SHARE = re.compile(rf"(?i)\b({'|'.join(_SHARES)})(?=(?: of)? (?:the|your|its)\b)")

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
        text = DATE.sub(" ", lowered(sentence)).replace("per cent", "%")  # "1 May" allows nothing
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
            quantities(_SHARE.sub(lambda share: f"{_SHARES[share[0].lower()]}%", sentence)),
        )

    def differs_in_number(self, source: "Statement") -> bool:
        """Whether the two have different numbers, and *source* has all else of this claim."""
        ours, theirs = ([name for _, name in one.modalities] for one in (self, source))
        return (
            len(self.content) >= _MIN_SHARED
            and self.content <= source.content
            and bool(_places(theirs, ours))
            and self.bounds <= source.bounds
            and _RATES.isdisjoint(set(source.words).difference(self.words))
            and differ(self.facts, source.facts)
        )

    def is_turned_round(self, source: "Statement") -> bool:
        """Whether *source* has this claim's words together, with one opposed modality in them."""
        if len(self.content) < _MIN_SHARED:
            return False
        ours = [name for _, name in self.modalities]
        for start in _places(source.words, self.words):
            end = start + len(self.words)
            is_last = end == len(source.words)
            theirs = [name for at, name in source.modalities if start <= at < end + is_last]
            pairs = [pair for pair in zip_longest(ours, theirs) if pair[0] != pair[1]]
            if len(pairs) == 1 and frozenset(pairs[0]) in _OPPOSED:
                return _CONDITIONS.isdisjoint(source.words[:start] + source.words[end:])
        return False


def _places(words: Sequence[str], run: Sequence[str]) -> list[int]:
    """Where *run* begins in *words*."""
    starts = range(len(words) - len(run) + 1)
    return [start for start in starts if words[start : start + len(run)] == run]


MIN_CONTENT_WORDS = 3
"""With fewer content words a share means nothing."""

NAME_WEIGHT = 2.0
NUMBER_WEIGHT = 2.5
"""Weight of a name and of a number, beside 1 for another word."""

SINGLE_SENTENCE_WEIGHT = 0.4
"""Weight of the best single sentence in the share; the rest may be spread over all sentences."""

MISSING_FACTOR = 0.75
"""Factor on the share for each name and number that no sentence has."""

MIN_SCORE = 0.01
"""Least support of a claim: one without a shared word may be a paraphrase."""

CONTRADICTED_FACTOR = 0.2
"""Factor on the support if the closest sentence says the opposite."""

_THOUSANDS = re.compile(r",(?<=\d,)(?=\d{3}\b)")
_NUMBERS = {word: str(n) for n, word in enumerate(SMALL_NUMBERS)}


class Support(NamedTuple):
    """How far the sentences of one source support a claim."""

    score: float | None
    """0 to 1; None under three content words."""
    contradicts: bool
    """Whether that sentence says the opposite."""
    sentence: int | None
    """The index of the sentence that supports most; None if none shares a word."""


def _weights(text: str) -> dict[str, float]:
    """The weight of each content word of *text*, by stem."""
    text = _THOUSANDS.sub("", strip_accents(text).replace("’", "'"))
    weights: dict[str, float] = {}
    for place, written in enumerate(find_words(text)):
        word = written.lower().removesuffix("'s")
        if word.partition("'")[0] in STOP_WORDS or word.endswith("n't"):
            continue
        [stem] = stems([_NUMBERS.get(word, word)])
        is_name = place > 0 and written[0].isupper()  # any first word has a capital
        weight = NUMBER_WEIGHT if stem[0].isdigit() else NAME_WEIGHT if is_name else 1.0
        weights[stem] = max(weight, weights.get(stem, 0.0))
    return weights


@dataclass(frozen=True)
class SourceReading:
    """The sentences of one source, indexed once for any number of claims."""

    sentences: tuple[str, ...]
    postings: dict[str, list[int]]
    """The indexes of the sentences with each stem, in order."""

    @classmethod
    def of(cls, sentences: Iterable[str]) -> "SourceReading":
        """Index *sentences*, which are in order."""
        in_order = tuple(sentences)
        postings: dict[str, list[int]] = {}
        for at, sentence in enumerate(in_order):
            for stem in _weights(sentence):
                postings.setdefault(stem, []).append(at)
        return cls(in_order, postings)

    def support(self, claim: str) -> Support:
        """How far the sentences support *claim*, and whether the closest one says the opposite.

        The score is the share of the claim's content words that the sentences have, where names and
        numbers weigh more and cost more if missing.
        """
        weights = _weights(claim)
        total = sum(weights.values())
        shares: dict[int, float] = {}
        for stem, weight in weights.items():
            for at in self.postings.get(stem, ()):
                shares[at] = shares.get(at, 0.0) + weight / total
        sentence, is_contradicted = self._closest(claim, shares)
        if len(weights) < MIN_CONTENT_WORDS:
            return Support(None, is_contradicted, sentence)
        missing = [weight for stem, weight in weights.items() if stem not in self.postings]
        if NUMBER_WEIGHT in missing:  # with a unit it may be written in other words
            facts = quantities(claim)
            are_measured = all(isinstance(fact, Quantity) and fact.kind for fact in facts)
            if are_measured and self._has_amounts(facts):
                missing = [weight for weight in missing if weight != NUMBER_WEIGHT]
        spread = 1 - sum(missing) / total
        best = max(shares.values(), default=0.0)
        score = SINGLE_SENTENCE_WEIGHT * best + (1 - SINGLE_SENTENCE_WEIGHT) * spread
        score = max(score * MISSING_FACTOR ** sum(weight > 1.0 for weight in missing), MIN_SCORE)
        if is_contradicted:
            score *= CONTRADICTED_FACTOR
        return Support(round(score, 3), is_contradicted, sentence)

    def _closest(self, claim: str, shares: Mapping[int, float]) -> tuple[int | None, bool]:
        """The sentence with the greatest of *shares*, and whether it contradicts *claim*.

        Of equal shares one that does not comes first; a number does not contradict if
        another sentence has it.
        """
        if not shares:
            return None, False
        best = max(shares.values())
        closest = sorted(at for at, share in shares.items() if share > best - 1e-9)
        said = Statement.of(claim.rpartition(": ")[2])  # "You are right: they must pay."
        for at in closest:
            source = Statement.of(self.sentences[at])
            differs = said.differs_in_number(source) and not self._has_amounts(said.facts)
            if not (differs or said.is_turned_round(source)):
                return at, False
        return closest[0], True

    def _has_amounts(self, ours: Sequence[Fact]) -> bool:
        """Whether the sentences have every number of *ours*, also as 14 days for two weeks."""
        return bool(ours) and all(any(map(fact.agrees, self._amounts)) for fact in ours)

    @functools.cached_property
    def _amounts(self) -> list[Fact]:
        """The numbers of all sentences; what one leaves open holds for that sentence alone."""
        return [closed(fact) for sentence in self.sentences for fact in quantities(sentence)]


def support(claim: str, sentences: Sequence[str]) -> Support:
    """How far *sentences* support *claim*; see `SourceReading.support`. Takes linear time."""
    return SourceReading.of(sentences).support(claim)
