"""What a dispute asks of pages: its strongest words, and the official ones for its lay phrases."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judge.judging.dispute import Dispute
from judge.judging.pages.candidate_index import CandidateIndex
from judge.text.english import stems
from judge.vocabulary.thesaurus import FoundPhrase, Thesaurus, find_phrases

QUERY_FACTOR = 2.5
"""What a word of the question counts more than one of the context; people ask what matters."""

SINGLE_WORD = 0.7
"""What a lay phrase of one word counts: it is more often found where it means something else."""

TRANSLATED = 0.5
"""What a word counts that stands in a lay phrase for others: "fired" is no matter of fires."""

STRONGEST_WORDS = 25
"""Words of a dispute that are looked for; more of them cost time and find nothing."""

NEEDED = 20.0
NEEDED_WORDS = 50
FEWEST_NEEDED_WORDS = 20
MOST_NEEDED_WORDS = 100
"""The score that a page needs for a dispute of 50 words. It grows with the square root of their
number from 20 to 100: longer texts touch more pages in passing. The highest that costs hardly a
dispute its page; docs/quality.md has the rates."""


@dataclass(frozen=True, slots=True)
class AskedWords:
    """The stems and the thesaurus entries that a dispute asks for, and how much."""

    stems: Mapping[str, float]
    entries: Mapping[int, float]
    sought: Mapping[str, float]
    """What each stem is worth in a passage, the official ones among them."""
    shown: Mapping[str | int, str]
    """The word or phrase behind each stem and entry."""
    needed: float
    """The score that a page needs."""


def read_asked(index: CandidateIndex, dispute: Dispute) -> AskedWords:
    """The strongest words of a dispute and the thesaurus entries of its phrases."""
    counts: dict[str, float] = {}
    said: dict[str, float] = {}
    entries: dict[int, float] = {}
    shown: dict[str | int, str] = {}
    for text, factor in ((dispute.query, QUERY_FACTOR), (dispute.context, 1.0)):
        # What a long dispute says again and again is looked at once.
        words = dict.fromkeys(text.words)
        stem_of = dict(zip(words, stems(words)))
        phrases = find_phrases(index.thesaurus, text.words, stem_of)
        for found in phrases:
            worth = factor * (SINGLE_WORD if len(found.phrase.stems) == 1 else 1.0)
            if worth > entries.get(found.phrase.entry, 0.0):
                entries[found.phrase.entry] = worth
                shown[found.phrase.entry] = found.phrase.shown
        translated = _translated(index.thesaurus, phrases)
        times = Counter(_meant(text.words, translated))
        telling = _telling(index, times, stem_of)
        for word, stem in telling.items():
            said[stem] = said.get(stem, 0.0) + factor * times[word]
            counts[stem] = counts.get(stem, 0.0) + factor * times[word]
            shown.setdefault(stem, word)
        for at, official in translated.items():
            stem = telling.get(text.words[at], "")
            if official and stem and stem not in official:
                counts[stem] -= factor * (1 - TRANSLATED)
    strongest = sorted(counts, key=lambda stem: -counts[stem] * index.rarity[stem])
    strongest = strongest[:STRONGEST_WORDS]
    length = len(dispute.query.words) + len(dispute.context.words)
    length = min(max(length, FEWEST_NEEDED_WORDS), MOST_NEEDED_WORDS)
    return AskedWords(
        stems={stem: counts[stem] for stem in strongest},
        entries=entries,
        sought=_sought(index, {stem: said[stem] for stem in strongest}, entries),
        shown=shown,
        needed=NEEDED * math.sqrt(length / NEEDED_WORDS),
    )


def _telling(
    index: CandidateIndex, words: Iterable[str], stem_of: Mapping[str, str]
) -> dict[str, str]:
    """The *words* that some page holds and that say something, with their stems."""
    rarity, ignored = index.rarity, index.ignored
    return {
        word: stem
        for word in words
        if (stem := stem_of[word]) in rarity and word not in ignored and not word.isdigit()
    }


def _translated(thesaurus: Thesaurus, phrases: Iterable[FoundPhrase]) -> dict[int, set[str]]:
    """For each place in a text that lay phrases cover, the official stems they stand for."""
    covered: dict[int, set[str]] = {}
    for found in phrases:
        for at in range(found.start, found.end):
            covered.setdefault(at, set()).update(thesaurus.entries[found.phrase.entry].official)
    return covered


def _meant(words: Sequence[str], translated: Mapping[int, set[str]]) -> Sequence[str]:
    """*words* without those in phrases that say nothing of a subject."""
    silent = {at for at, official in translated.items() if not official}
    return [word for at, word in enumerate(words) if at not in silent] if silent else words


def _sought(
    index: CandidateIndex, said: Mapping[str, float], entries: Mapping[int, float]
) -> dict[str, float]:
    """What each stem is worth in a passage: the dispute's own and the official ones.

    *said* are its stems as often as they were said, whatever they mean.
    """
    official: dict[str, float] = {}
    for entry, factor in entries.items():
        for stem in index.thesaurus.entries[entry].official:
            official[stem] = max(official.get(stem, 0.0), factor)
    factors = dict(said)
    for stem, factor in official.items():
        factors[stem] = factors.get(stem, 0.0) + factor
    return {stem: f * index.rarity[stem] for stem, f in factors.items() if stem in index.rarity}
