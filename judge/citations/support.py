"""Measures how far the sentences of a source support a claim, and whether they contradict it.

Two independent measures: the content words they share, and what is said of those words, which
depends on function words such as negations. No model, no network, deterministic.
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
"""With fewer content words a share means nothing."""

NAME_WEIGHT = 2.0
NUMBER_WEIGHT = 2.5
"""Weight of a name and of a number, beside 1 for another word."""

SINGLE_SENTENCE_WEIGHT = 0.4
"""Weight of the best single sentence in the share; the rest may be spread over all sentences."""

MISSING_FACTOR = 0.75
"""Factor on the share for each name and number that no sentence has."""

HINT_OVERLAP = 0.3
"""Below this share of the claim's content words, disagreements with a sentence count as hints."""

MIN_SHARE_TO_READ = 0.5
"""Share of a long claim that one sentence must have before the two are read and compared."""

DOUBTED_FACTOR = 0.5
REVERSED_FACTOR = 0.6
"""Factors on the support if a sentence that shares less of the claim disagrees, and if only one of
the two has an odd number of reversals. That is no contradiction, only less reliable support."""

MODALITY_FACTOR = 0.4
"""Factor if one states a duty and the other a permission."""

SWEEPING_FACTOR = 0.7
"""Factor if only the claim allows no exception: "whatever the contract says"."""

PERMISSION_FACTOR = 0.6
"""Factor if one permits what the other denies."""

HINTED_FACTOR = 0.9
"""Factor if the two share little and yet seem to disagree."""

MIN_SCORE = 0.01
"""Least support of a claim, before factors for disagreement, so that these also rank claims without
a shared word: they may be paraphrases."""

SHORT_WORDS = 8
"""Content words up to which a doubt counts in full; longer sentences, about several things, are
affected less."""

CONTRADICTED_FACTOR = 0.2
"""Factor on the support if the closest sentence says the opposite."""

BIGRAM_WEIGHT = 0.05
"""Weight of neighbouring pairs of words (bigrams), function words included: of two claims of the
same words, the one that keeps their order is supported more."""

_NEED_TWO_WORDS = {"sign", "modality", "contrary"}
"""Kinds of disagreement that need more than one shared word."""

_CLOSEST = 3
"""How many of the closest sentences are read for what they say, which takes most of the time."""

_THOUSANDS = re.compile(r",(?<=\d,)(?=\d{3}\b)")
_NUMBERS = {word: str(n) for n, word in enumerate(SMALL_NUMBERS)}


class Support(NamedTuple):
    """How far the sentences of one source support a claim.

    `score` is 0 to 1, None under three content words; `sentence` is the index of the sentence that
    supports most, None if none shares a word; `contradicts` says that it says the opposite.
    """

    score: float | None
    contradicts: bool
    sentence: int | None


class _ContentWords(NamedTuple):
    """The weights of a text's content words by stem, and all its stems in order."""

    weights: dict[str, float]
    total: float
    """Their sum."""
    stems: Sequence[str]

    @classmethod
    def of(cls, text: str) -> "_ContentWords":
        text = strip_accents(text).replace("’", "'")
        if "," in text:
            text = _THOUSANDS.sub("", text)
        entries = [_content_word(written) for written in find_words(text)]
        weights: dict[str, float] = {}
        for place, (stem, at_start, further_on) in enumerate(entries):
            weight = further_on if place else at_start
            if weight and weight > weights.get(stem, 0.0):
                weights[stem] = weight
        return cls(weights, sum(weights.values()), [stem for stem, _, _ in entries])


@functools.lru_cache(maxsize=4096)
def _content_word(written: str) -> tuple[str, float, float]:
    """The stem of a word, its weight as the first word of a text, and its weight elsewhere.

    Function words weigh 0. Cached: most words of any text are the same few thousand.
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
    """The sentences of one source, indexed once for any number of claims.

    Checking a claim takes time for the sentences that share a word with it; a sentence is read for
    what it says, or for its numbers, when a claim first needs that.
    """

    sentences: tuple[str, ...]
    postings: dict[str, list[int]]
    """The indexes of the sentences with each stem, in order."""
    pairs: frozenset[tuple[str, str]]
    """The bigrams of all sentences, as stems."""
    _statements: dict[int, Statement] = field(default_factory=dict)

    @classmethod
    def of(cls, sentences: Iterable[str]) -> "SourceReading":
        """Index *sentences*, which are in order."""
        in_order = tuple(sentences)
        postings: dict[str, list[int]] = {}
        pairs: set[tuple[str, str]] = set()
        for at, content in enumerate(map(_ContentWords.of, in_order)):
            pairs.update(pairwise(content.stems))
            for stem in content.weights:
                postings.setdefault(stem, []).append(at)
        return cls(in_order, postings, frozenset(pairs))

    def support(self, claim: str) -> Support:
        """How far the sentences support *claim*, and whether the closest one says the opposite.

        The score is the share of the claim's content words that the sentences have, where names and
        numbers weigh more and cost more if missing, reduced for disagreements.
        """
        words = _ContentWords.of(claim)
        shares = self._shares(words)
        closest = self._closest(shares)
        best = shares[closest[0]] if shares else 0.0
        pairing, is_contradicted = None, False
        sentence = closest[0] if closest else None
        if closest and (best >= MIN_SHARE_TO_READ or len(words.weights) <= SHORT_WORDS):
            sentence, pairing, is_contradicted = self._compare(read(claim), closest)
        shown = sentence if shares or is_contradicted else None
        if len(words.weights) < MIN_CONTENT_WORDS:
            return Support(None, is_contradicted, shown)
        if sentence is None:
            return Support(0.0, is_contradicted, None)
        score = self._word_score(claim, words, best=best)
        score *= 1 - BIGRAM_WEIGHT * (1 - _bigram_share(words, self.pairs))
        score = max(score, MIN_SCORE)
        if is_contradicted:
            score *= CONTRADICTED_FACTOR
        elif pairing is not None:
            score *= _trust(pairing)
        return Support(round(score, 3), is_contradicted, shown)

    def _shares(self, words: _ContentWords) -> dict[int, float]:
        """The share of *words* in each sentence, by index, without sentences that have none."""
        weights: dict[int, float] = {}
        for stem, weight in words.weights.items():
            for at in self.postings.get(stem, ()):
                weights[at] = weights.get(at, 0.0) + weight
        return {at: weight / words.total for at, weight in weights.items()}

    def _closest(self, shares: Mapping[int, float]) -> list[int]:
        """The sentences with the greatest *shares*, filled up with the first ones."""
        candidates = {*shares, *range(min(_CLOSEST, len(self.sentences)))}
        return sorted(candidates, key=lambda at: (-shares.get(at, 0.0), at))[:_CLOSEST]

    def _compare(self, claim: Statement, closest: Sequence[int]) -> tuple[int, Pairing, bool]:
        """The sentence to compare the claim with, the two paired, and whether they disagree."""
        pairings = {at: Pairing.of(claim, self._statement(at)) for at in closest}
        overlaps = {at: pairing.overlap for at, pairing in pairings.items()}
        best = max(overlaps.values())
        chosen, is_contradicted = closest[0], False
        if best >= MIN_OVERLAP:
            disagree = {at: self._disagree(pairings[at]) for at in closest if overlaps[at] == best}
            chosen = min(disagree, key=disagree.__getitem__)
            is_contradicted = disagree[chosen]
        return chosen, pairings[chosen], is_contradicted

    def _disagree(self, pairing: Pairing) -> bool:
        """Whether the two disagree; a number is no disagreement if another sentence has it."""
        kinds = [kind for kind in pairing.disagreements if kind != DOUBT]
        is_elsewhere = kinds == ["number"] and self._has_amounts(pairing.claim.facts)
        shared = len(pairing.matches) + len(pairing.opposed)
        is_enough = shared > 1 or not _NEED_TWO_WORDS.issuperset(kinds)
        return bool(kinds) and not is_elsewhere and is_enough

    def _statement(self, at: int) -> Statement:
        if at not in self._statements:
            self._statements[at] = read(self.sentences[at])
        return self._statements[at]

    def _word_score(self, claim: str, words: _ContentWords, *, best: float) -> float:
        """The share of the claim that the sentences have, reduced for missing names and numbers."""
        missing = [weight for stem, weight in words.weights.items() if stem not in self.postings]
        # With few sentences, reading their numbers first is cheaper than reading the claim's.
        has_number = NUMBER_WEIGHT in missing and (len(self.sentences) > _CLOSEST or self._amounts)
        if has_number and self._has_amounts(_measured(claim)):
            missing = [weight for weight in missing if weight != NUMBER_WEIGHT]
        spread = (words.total - sum(missing)) / words.total
        share = SINGLE_SENTENCE_WEIGHT * best + (1 - SINGLE_SENTENCE_WEIGHT) * spread
        return share * float(MISSING_FACTOR ** sum([weight > 1.0 for weight in missing]))

    def _has_amounts(self, ours: Sequence[Fact]) -> bool:
        """Whether the sentences have every number of *ours*, also as 14 days for two weeks."""
        return bool(ours) and has_all(ours, self._amounts)

    @functools.cached_property
    def _amounts(self) -> list[Fact]:
        """The numbers of all sentences."""
        return [fact for sentence in self.sentences for fact in quantities(sentence)]


def support(claim: str, sentences: Sequence[str]) -> Support:
    """How far *sentences* support *claim*; see `SourceReading.support`. Takes linear time."""
    return SourceReading.of(sentences).support(claim)


def _trust(pairing: Pairing) -> float:
    """The factor on the support if the sentence may say the opposite."""
    longest = max(len(pairing.claim.words), len(pairing.source.words), SHORT_WORDS)
    return float(_trust_if_short(pairing) ** (SHORT_WORDS / longest) ** 3)


def _trust_if_short(pairing: Pairing) -> float:
    share = pairing.overlap
    is_far = share < HINT_OVERLAP
    trust = MODALITY_FACTOR if pairing.differs_in_modality() else 1.0
    trust *= PERMISSION_FACTOR if pairing.is_permission_denied(is_far=is_far) else 1.0
    if pairing.claim.is_sweeping and not pairing.source.is_sweeping:
        trust *= SWEEPING_FACTOR
    if is_far:
        is_hinted = pairing.may_be_reversed() or pairing.drops_negation() or pairing.disagreements
        return trust * (HINTED_FACTOR if is_hinted else 1.0)
    kinds = pairing.disagreements
    is_doubted = DOUBT in kinds or (kinds and share < MIN_OVERLAP)
    trust *= DOUBTED_FACTOR if is_doubted else 1.0
    return trust * (REVERSED_FACTOR if pairing.is_reversed else 1.0)


def _measured(claim: str) -> list[Fact]:
    """The numbers of *claim* if all have a unit, so that they may be written in other words."""
    facts = quantities(claim)
    return facts if all(isinstance(fact, Quantity) and fact.kind for fact in facts) else []


def _bigram_share(words: _ContentWords, theirs: frozenset[tuple[str, str]]) -> float:
    """The share of the claim's bigrams that some sentence has."""
    ours = set(pairwise(words.stems))
    return len(ours & theirs) / len(ours) if ours else 1.0
