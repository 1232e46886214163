"""How far do the sentences of a source carry a claim, and do they say the opposite?

Two readings that know nothing of each other: the words they share, which every topic has, and
what is said of those words, which turns on the small ones. No model, no network, deterministic.
"""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from judge.citations.contradiction import DOUBT, MIN_OVERLAP, Pairing
from judge.citations.facts import Fact, Quantity, has_all, quantities
from judge.citations.reading import read
from judge.citations.statement import Statement
from judge.citations.vocabulary import SMALL_NUMBERS
from judge.text.english import STOP_WORDS, find_words, stems, strip_accents

MIN_CONTENT_WORDS = 3
"""Under three content words a share says nothing."""

NAME_WEIGHT = 2.0
NUMBER_WEIGHT = 2.5
"""What a name and a number weigh beside another word."""

SINGLE_SENTENCE = 0.4
"""The part of the share that one sentence must hold alone; the rest may be spread over all."""

MISSING = 0.75
"""What is left of the share for each name and number that no sentence holds."""

LEAST_OVERLAP = 0.3
"""Share of the claim's content words below which nothing is said of what a sentence holds."""

WORTH_READING = 0.5
"""The part of a long claim that one sentence must hold before it is asked what either says."""

DOUBTED = 0.5
TURNED = 0.6
"""What is left of the support when a sentence that holds less of the claim says otherwise, and when
one of the two has an odd number of reversals. It is no contradiction yet, only less to rely on."""

OTHERWISE_BOUND = 0.4
"""What is left of it where one tells of a duty and the other of a leave."""

SWEEPING = 0.7
"""What is left of it where the claim alone leaves no exception: "whatever the contract says"."""

SAID_OTHERWISE = 0.6
"""What is left of it where one gives leave to what the other denies."""

HINTED = 0.9
"""What is left of it where they share little, and the sentence denies what the claim does not."""

PRIOR = 0.01
"""What a claim has that shares no word with what it cites, so that what is said otherwise can still
cost it something: the same may be told in other words throughout."""

SHORT = 8
"""Content words up to which a doubt counts in full; in longer sentences less and less, since they
are about several things."""

CONTRADICTED = 0.2
"""What is left of the support when the closest sentence says the opposite."""

ORDER = 0.05
"""The part of the share that pairs of neighbouring words have, small ones included: of two claims
of the same words the one that keeps their order is carried further."""

_OF_MORE = {"sign", "force", "contrary"}
"""What takes more than one word that both have."""

_COMPARED = 3
"""Sentences read for what they say, those that share most words; reading costs the time."""

_THOUSANDS = re.compile(r",(?<=\d,)(?=\d{3}\b)")
_NUMBERS = {word: str(n) for n, word in enumerate(SMALL_NUMBERS)}


class Support(NamedTuple):
    """How a claim is carried by the sentences of one source.

    `score` is 0 to 1, None under three content words; `sentence` the index of the one that
    carries most, None where none shares a word; `contradicts` says that this one says otherwise.
    """

    score: float | None
    contradicts: bool
    sentence: int | None


class _ContentWords(NamedTuple):
    """The content words of a text, by stem with their weight, and the stems in their order."""

    weights: dict[str, float]
    whole: float
    """Their sum."""
    order: Sequence[str]

    @classmethod
    def of(cls, text: str) -> "_ContentWords":
        text = strip_accents(text).replace("’", "'")
        if "," in text:
            text = _THOUSANDS.sub("", text)
        found = [_content_word(written) for written in find_words(text)]
        weights: dict[str, float] = {}
        for place, (stem, at_start, further_on) in enumerate(found):
            weight = further_on if place else at_start
            if weight and weight > weights.get(stem, 0.0):
                weights[stem] = weight
        return cls(weights, sum(weights.values()), [stem for stem, _, _ in found])


@functools.lru_cache(maxsize=4096)
def _content_word(written: str) -> tuple[str, float, float]:
    """The stem of a word, and its weight as the first of a text and as another; 0 for small words.

    Remembered: most words of any text are the same few thousand.
    """
    word = written.lower().removesuffix("'s")
    [stem] = stems([_NUMBERS.get(word, word)])
    if word in STOP_WORDS or word.endswith("n't"):
        return stem, 0.0, 0.0
    if stem[0].isdigit():
        return stem, NUMBER_WEIGHT, NUMBER_WEIGHT
    return stem, 1.0, NAME_WEIGHT if written[0].isupper() else 1.0


@dataclass(frozen=True)
class SourceReading:
    """The sentences of one source, read once for any number of claims.

    Holding a claim against it takes time for the sentences that share a word with the claim; a
    sentence is read for what it says, or for its numbers, when a claim first comes that close.
    """

    sentences: tuple[str, ...]
    places: dict[str, list[int]]
    """The sentences that hold each stem, in order."""
    pairs: frozenset[tuple[str, str]]
    """The neighbouring words of each sentence, as stems."""
    _statements: dict[int, Statement] = field(default_factory=dict)

    @classmethod
    def of(cls, sentences: Iterable[str]) -> "SourceReading":
        """Read *sentences*, in their order."""
        in_order = tuple(sentences)
        places: dict[str, list[int]] = {}
        pairs: set[tuple[str, str]] = set()
        for at, content in enumerate(map(_ContentWords.of, in_order)):
            pairs.update(pairwise(content.order))
            for stem in content.weights:
                places.setdefault(stem, []).append(at)
        return cls(in_order, places, frozenset(pairs))

    def support(self, claim: str) -> Support:
        """How far the sentences carry *claim*, and whether the closest of them says the opposite.

        The share of the claim's content words that the sentences hold, names and numbers weighing
        more and costing more when absent; then less for what is said otherwise.
        """
        words = _ContentWords.of(claim)
        shares = self._shares(words)
        closest = self._closest(shares)
        best = shares[closest[0]] if shares else 0.0
        pairing, is_contradicted = None, False
        sentence = closest[0] if closest else None
        if closest and (best >= WORTH_READING or len(words.weights) <= SHORT):
            sentence, pairing, is_contradicted = self._compared(read(claim), closest)
        shown = sentence if shares or is_contradicted else None
        if len(words.weights) < MIN_CONTENT_WORDS:
            return Support(None, is_contradicted, shown)
        if sentence is None:
            return Support(0.0, is_contradicted, None)
        score = self._carried(claim, words, best=best)
        score *= 1 - ORDER * (1 - _order(words, self.pairs))
        score = max(score, PRIOR)
        if is_contradicted:
            score *= CONTRADICTED
        elif pairing is not None:
            score *= _trust(pairing)
        return Support(round(score, 3), is_contradicted, shown)

    def _shares(self, words: _ContentWords) -> dict[int, float]:
        """The share of *words* that each sentence holds, without those that hold nothing."""
        weights: dict[int, float] = {}
        for stem, weight in words.weights.items():
            for at in self.places.get(stem, ()):
                weights[at] = weights.get(at, 0.0) + weight
        return {at: weight / words.whole for at, weight in weights.items()}

    def _closest(self, shares: Mapping[int, float]) -> list[int]:
        """The sentences with the greatest *shares*, and the first ones if there are few."""
        candidates = {*shares, *range(min(_COMPARED, len(self.sentences)))}
        return sorted(candidates, key=lambda at: (-shares.get(at, 0.0), at))[:_COMPARED]

    def _compared(self, claim: Statement, closest: Sequence[int]) -> tuple[int, Pairing, bool]:
        """The sentence to hold the claim against, the two of them, and whether they disagree."""
        pairings = {at: Pairing.of(claim, self._statement(at)) for at in closest}
        held = {at: pairing.overlap for at, pairing in pairings.items()}
        most = max(held.values())
        chosen, is_contradicted = closest[0], False
        if most >= MIN_OVERLAP:
            disagree = {at: self._disagree(pairings[at]) for at in closest if held[at] == most}
            chosen = min(disagree, key=disagree.__getitem__)
            is_contradicted = disagree[chosen]
        return chosen, pairings[chosen], is_contradicted

    def _disagree(self, pairing: Pairing) -> bool:
        """Whether the claim says otherwise; a number that another sentence has is no matter."""
        kinds = [kind for kind in pairing.disagreements if kind != DOUBT]
        is_elsewhere = kinds == ["number"] and self._holds_amounts(pairing.claim.facts)
        is_told = len(pairing.known) + len(pairing.opposed) > 1 or not _OF_MORE.issuperset(kinds)
        return bool(kinds) and not is_elsewhere and is_told

    def _statement(self, at: int) -> Statement:
        if at not in self._statements:
            self._statements[at] = read(self.sentences[at])
        return self._statements[at]

    def _carried(self, claim: str, words: _ContentWords, *, best: float) -> float:
        """The share of the claim that the sentences hold, less for names and numbers not there."""
        missing = [weight for stem, weight in words.weights.items() if stem not in self.places]
        # Few sentences are sooner looked at than the claim is.
        has_number = NUMBER_WEIGHT in missing and (len(self.sentences) > _COMPARED or self._amounts)
        if has_number and self._holds_amounts(_measured(claim)):
            missing = [weight for weight in missing if weight != NUMBER_WEIGHT]
        spread = (words.whole - sum(missing)) / words.whole
        share = SINGLE_SENTENCE * best + (1 - SINGLE_SENTENCE) * spread
        return share * float(MISSING ** sum([weight > 1.0 for weight in missing]))

    def _holds_amounts(self, ours: Sequence[Fact]) -> bool:
        """Whether every number of the claim is there in other words: 14 days for two weeks."""
        return bool(ours) and has_all(ours, self._amounts)

    @functools.cached_property
    def _amounts(self) -> list[Fact]:
        """The numbers of all sentences."""
        return [fact for sentence in self.sentences for fact in quantities(sentence)]


def support(claim: str, sentences: Sequence[str]) -> Support:
    """How far *sentences* carry *claim*; see `SourceReading.support`. Linear in the text."""
    return SourceReading.of(sentences).support(claim)


def _trust(pairing: Pairing) -> float:
    """What is left of the support where the sentence may say the opposite."""
    longest = max(len(pairing.claim.words), len(pairing.source.words), SHORT)
    return float(_trust_if_short(pairing) ** (SHORT / longest) ** 3)


def _trust_if_short(pairing: Pairing) -> float:
    share = pairing.overlap
    is_far = share < LEAST_OVERLAP
    trust = OTHERWISE_BOUND if pairing.is_bound_otherwise() else 1.0
    trust *= SAID_OTHERWISE if pairing.is_said_otherwise(is_far=is_far) else 1.0
    if pairing.claim.is_sweeping and not pairing.source.is_sweeping:
        trust *= SWEEPING
    if is_far:
        is_hinted = pairing.may_be_turned() or pairing.is_denial_dropped() or pairing.disagreements
        return trust * (HINTED if is_hinted else 1.0)
    kinds = pairing.disagreements
    is_doubted = DOUBT in kinds or (kinds and share < MIN_OVERLAP)
    trust *= DOUBTED if is_doubted else 1.0
    return trust * (TURNED if pairing.is_turned else 1.0)


def _measured(claim: str) -> list[Fact]:
    """The numbers of *claim* if each of them measures something; dates have no other words."""
    facts = quantities(claim)
    return facts if all(isinstance(fact, Quantity) and fact.kind for fact in facts) else []


def _order(words: _ContentWords, theirs: frozenset[tuple[str, str]]) -> float:
    """The share of the claim's pairs of neighbouring words that some sentence holds."""
    ours = set(pairwise(words.order))
    return len(ours & theirs) / len(ours) if ours else 1.0
