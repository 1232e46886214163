"""The search terms of a dispute: its strongest words, and official words for its lay phrases."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judge.library.dispute import Dispute
from judge.library.rank.candidate_index import CandidateIndex
from judge.vocabulary.thesaurus import FoundPhrase, find_phrases
from judge.vocabulary.word_vectors import unit_vector

QUERY_FACTOR = 2.5
"""Weight of a word of the question, beside 1 in the context; people ask about what matters."""

SINGLE_WORD_FACTOR = 0.7
"""Weight of a lay phrase of one word, which more often means something else."""

TRANSLATED_FACTOR = 0.5
"""Weight of a word itself when a lay phrase translates it: "fired" is not about fires."""

STRONGEST_WORDS = 25
"""Words of a dispute that are searched for; more of them cost time and find nothing."""

TEXT_VECTOR_FACTOR = 65.0
"""Score for a text vector equal to the dispute's; cosines of relevant pages are mostly 0.2 to 0.5.
The rates are alike from 60 to 70."""

THRESHOLD = 28.0
THRESHOLD_WORDS = 50
MAX_THRESHOLD_WORDS = 100
"""The least score of an offered page for a dispute of up to 50 words. It grows with the square root
of their number up to 100 words, since longer texts match more pages in passing. It is the highest
at which hardly a dispute loses its page; docs/quality.md has the rates."""


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The stems and the thesaurus entries that a dispute is searched by, with their weights."""

    stems: Mapping[str, float]
    entries: Mapping[int, float]
    passage_weights: Mapping[str, float]
    """The weight of each stem in a passage, official words included."""
    text_vector: Sequence[float]
    """The dispute's text vector, scaled so that its product with a page's is a score."""
    shown: Mapping[str | int, str]
    """The word or phrase behind each stem and entry, for explanations."""
    threshold: float
    """The score from which a page is offered."""


def read_query_terms(index: CandidateIndex, dispute: Dispute) -> QueryTerms:
    """Extract the strongest words of a dispute and the thesaurus entries of its phrases."""
    tally: dict[str, float] = {}
    translated: dict[str, float] = {}
    entries: dict[int, float] = {}
    shown: dict[str | int, str] = {}
    rows: list[bytes] = []
    for words, factor in (
        (dispute.query.words, QUERY_FACTOR),
        (dispute.context.beginning.words, 1.0),
    ):
        phrases = find_phrases(index.thesaurus, words)
        for found in phrases:
            weight = factor * (SINGLE_WORD_FACTOR if len(found.phrase.stems) == 1 else 1.0)
            if weight > entries.get(found.phrase.entry, 0.0):
                entries[found.phrase.entry] = weight
                shown[found.phrase.entry] = found.phrase.shown
        replaced, ignored = _phrase_positions(index, words, phrases)
        for stem in [index.words(words[at])[0] for at in replaced if index.words(words[at])[2]]:
            translated[stem] = translated.get(stem, 0.0) + factor * (1 - TRANSLATED_FACTOR)
        remaining = [w for at, w in enumerate(words) if at not in ignored] if ignored else words
        row_of: dict[str, bytes] = {}
        for word, times in Counter(remaining).items():
            stem, row, is_searched = index.words(word)
            if row:
                row_of[stem] = row
            if is_searched:
                tally[stem] = tally.get(stem, 0.0) + factor * times
                shown.setdefault(stem, word)
        rows += row_of.values()
    counts = {stem: count - translated.get(stem, 0.0) for stem, count in tally.items()}
    weights = {stem: count * index.idfs[stem] for stem, count in counts.items()}
    strongest = sorted(weights, key=weights.__getitem__, reverse=True)[:STRONGEST_WORDS]
    length = len(dispute.query.words) + len(dispute.context.words)
    length = min(max(length, THRESHOLD_WORDS), MAX_THRESHOLD_WORDS)
    return QueryTerms(
        stems={stem: counts[stem] for stem in strongest},
        entries=entries,
        passage_weights=_passage_weights(index, {stem: tally[stem] for stem in strongest}, entries),
        text_vector=[TEXT_VECTOR_FACTOR * value for value in unit_vector(rows)],
        shown=shown,
        threshold=THRESHOLD * math.sqrt(length / THRESHOLD_WORDS),
    )


def _phrase_positions(
    index: CandidateIndex, words: Sequence[str], phrases: Iterable[FoundPhrase]
) -> tuple[set[int], set[int]]:
    """The positions of *words* that lay phrases replace by official words, and of those ignored.

    Phrases without official words name no subject, so that their words are ignored.
    """
    replaced: set[int] = set()
    official_at: set[int] = set()
    ignored: set[int] = set()
    for found in phrases:
        official = index.thesaurus.entries[found.phrase.entry].official
        for at in range(found.start, found.end):
            if not official:
                ignored.add(at)
            elif index.words(words[at])[0] in official:
                official_at.add(at)
            else:
                replaced.add(at)
    return replaced - official_at, ignored - replaced - official_at


def _passage_weights(
    index: CandidateIndex, tally: Mapping[str, float], entries: Mapping[int, float]
) -> dict[str, float]:
    """The weight of each stem in a passage: the dispute's own and the official ones.

    *tally* has the weighted counts of the dispute's stems, translated or not.
    """
    official: dict[str, float] = {}
    for entry, factor in entries.items():
        for stem in index.thesaurus.entries[entry].official:
            official[stem] = max(official.get(stem, 0.0), factor)
    factors = dict(tally)
    for stem, factor in official.items():
        factors[stem] = factors.get(stem, 0.0) + factor
    return {stem: f * index.idfs[stem] for stem, f in factors.items() if stem in index.idfs}
