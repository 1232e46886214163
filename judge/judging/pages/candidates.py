"""Which approved pages bear on a dispute? All of them ranked by what they say, best first.

A plain sum: BM25 of the dispute's strongest words and of the official words that its lay phrases
stand for, over a page's whole text, lead and title with topics, more for a page of the detected
domain, and BM25 of the best passage. What each part brings stands in docs/quality.md.

A page is counted once (`counted_pages`), whatever the others are; an index over such pages is then
compiled in a moment and never changes.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from judge.judging.dispute import Dispute
from judge.judging.pages.counted_pages import CandidatePage, CountedPage
from judge.text.english import STOP_WORDS, stems
from judge.types.judgements import DEFAULT_DOMAIN
from judge.vocabulary.thesaurus import FoundPhrase, Thesaurus, find_phrases

PASSAGE = 0.5
"""What a word counts once more in the best passage of a page."""

QUERY_FACTOR = 2.5
"""What a word of the question counts more than one of the context; people ask what matters."""

SINGLE_WORD = 0.7
"""What a lay phrase of one word counts: it is more often found where it means something else."""

TRANSLATED = 0.5
"""What a word counts that stands in a lay phrase for others: "fired" is no matter of fires."""

STRONGEST_WORDS = 25
"""Words of a dispute that are looked for; more of them cost time and find nothing."""

MENTION = 0.1
"""Pages that hold less than this share of an entry's words are no subject of it, to save time."""

NEIGHBOURS = 1.0
"""What the passages before and after one count for it: the best stands where the subject is."""

FAR_LESS = 0.4
"""A passage in the midst of its subject that holds less than this share of what the one beside it
holds is passed over for that one."""

STATES = 0.15
"""What it counts, as a share of the best, that a passage states a right, a duty or a step."""

MEANING = 0.75
"""What the page nearest in meaning gets, as a share of the score that is needed: words must say the
rest. From 0.5 to 1 the rates are alike."""

SAME_DOMAIN = 1.5
"""What a page counts more that is of the detected domain: a strong hint and no wall."""

RERANKED = 12
"""Pages whose passages are looked at."""

LIMIT = 8
"""Pages that a model is given to choose from."""

NEEDED = 20.0
NEEDED_WORDS = 50
FEWEST_NEEDED_WORDS = 20
MOST_NEEDED_WORDS = 100
"""The score that a page needs for a dispute of 50 words. It grows with the square root of their
number from 20 to 100: longer texts touch more pages in passing. The highest that costs hardly a
dispute its page; docs/quality.md has the rates."""

CLEARLY = 1.25
"""How much more a page needs where no domain was detected: it has to fit clearly. Of 22 labelled
disputes of that kind 18 keep a fitting page, and those without one get a third fewer pages."""

PRIOR_PAGES = 300
"""A small catalogue is weighed as if it had so many pages: in three pages nothing is common."""

SCALE = 6.0
"""Rarity runs from 0 to this, whatever the number of pages, so that thresholds keep."""


NO_MEANING: Mapping[str, float] = MappingProxyType({})
"""Where there is no embedder, or it fails."""


@dataclass(frozen=True, slots=True)
class CandidateIndex:
    """What `rank_candidates` needs: for each stem and thesaurus entry the pages and their gain."""

    pages: tuple[CountedPage, ...]
    thesaurus: Thesaurus
    rarity: Mapping[str, float]
    by_stem: Mapping[str, Mapping[int, float]]
    by_entry: Mapping[int, Mapping[int, float]]


@dataclass(frozen=True, slots=True)
class CandidateReason:
    """A part of a score: a word of the dispute, a lay phrase in it, the domain and so on."""

    kind: Literal["word", "thesaurus", "domain", "passage", "meaning"]
    shown: str
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page that may bear on the dispute, its best passage (-1 for none) and why."""

    page: CandidatePage
    passage: int
    score: float
    reasons: tuple[CandidateReason, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a dispute asks for: stems and thesaurus entries, how much of each, what is needed.

    `said` are the same stems as often as they were said, whatever they mean.
    """

    stems: Mapping[str, float]
    said: Mapping[str, float]
    entries: Mapping[int, float]
    shown: Mapping[str | int, str]
    needed: float
    nearness: Mapping[str, float]
    """What a page gets for being near in meaning, by address."""


def compile_candidates(pages: Iterable[CountedPage], thesaurus: Thesaurus) -> CandidateIndex:
    """An index over *pages*, which keep their order for ties."""
    pages = tuple(pages)
    frequencies = Counter(stem for page in pages for stem in page.stems)
    rarity = {stem: _rarity(count, len(pages)) for stem, count in frequencies.items()}
    by_stem: dict[str, dict[int, float]] = {stem: {} for stem in rarity}
    for number, page in enumerate(pages):
        for stem, gain in page.stems.items():
            by_stem[stem][number] = rarity[stem] * gain
    return CandidateIndex(
        pages=pages,
        thesaurus=thesaurus,
        rarity=rarity,
        by_stem=by_stem,
        by_entry={
            number: _sharpened(_summed(by_stem.get(stem, {}) for stem in entry.official))
            for number, entry in enumerate(thesaurus.entries)
        },
    )


def _rarity(frequency: int, pages: int) -> float:
    """BM25's inverse document frequency as a share of its greatest value, times SCALE."""
    pages = max(pages, PRIOR_PAGES)
    return SCALE * _idf(frequency, pages) / _idf(0, pages)


def _idf(frequency: int, pages: int) -> float:
    return math.log(1 + (pages - frequency + 0.5) / (frequency + 0.5))


def _summed(parts: Iterable[Mapping[int, float]]) -> dict[int, float]:
    total: dict[int, float] = {}
    for part in parts:
        for number, gain in part.items():
            total[number] = total.get(number, 0.0) + gain
    return total


def _sharpened(gains: dict[int, float]) -> dict[int, float]:
    """*gains* squared, the best as it was: an entry is a subject.

    Most pages that hold some of its words mention it in passing.
    """
    best = max(gains.values(), default=0.0)
    return {number: gain * gain / best for number, gain in gains.items() if gain > MENTION * best}


def rank_candidates(
    index: CandidateIndex,
    dispute: Dispute,
    domain: str,
    *,
    limit: int = LIMIT,
    is_wanted: Callable[[CandidatePage], bool] = lambda _: True,
    has_threshold: bool = True,
    nearness: Mapping[str, float] = NO_MEANING,
) -> tuple[Candidate, ...]:
    """At most *limit* of the pages that are wanted and bear on a *dispute* of this *domain*.

    Best first; all scores are above 0. A page that does not reach the threshold is not offered,
    if there is one. *nearness* in meaning is 0 to 1 by address, where it is known.
    """
    asked = _asked(index, dispute, nearness)
    scores = [0.0] * len(index.pages)
    if asked.nearness:
        scores = [asked.nearness.get(page.page.url, 0.0) for page in index.pages]
    for gains, factor in _weighted(index, asked):
        for number, gain in gains.items():
            scores[number] += factor * gain
    if domain != DEFAULT_DOMAIN:
        for number, page in enumerate(index.pages):
            if page.page.domain == domain:
                scores[number] *= SAME_DOMAIN
    best = sorted(
        (n for n in range(len(scores)) if is_wanted(index.pages[n].page)),
        key=lambda number: -scores[number],
    )
    sought = _sought(index, asked)
    candidates = [
        _candidate(index, asked, number, domain, _best_passage(index.pages[number], sought))
        for number in best[: max(limit, RERANKED)]
        if scores[number] > 0
    ]
    needed = asked.needed * (CLEARLY if domain == DEFAULT_DOMAIN else 1.0) if has_threshold else 0.0
    offered = [candidate for candidate in candidates if candidate.score >= needed]
    return tuple(sorted(offered, key=lambda candidate: -candidate.score)[:limit])


def _weighted(index: CandidateIndex, asked: _Asked) -> Iterable[tuple[Mapping[int, float], float]]:
    """The gains of each thing that is asked for, and how much of it."""
    for stem, factor in asked.stems.items():
        yield index.by_stem[stem], factor
    for entry, factor in asked.entries.items():
        yield index.by_entry[entry], factor


def _asked(index: CandidateIndex, dispute: Dispute, nearness: Mapping[str, float]) -> _Asked:
    """The strongest words of a dispute and the thesaurus entries of its phrases."""
    counts: dict[str, float] = {}
    said: dict[str, float] = {}
    entries: dict[int, float] = {}
    shown: dict[str | int, str] = {}
    length = 0
    for text, factor in ((dispute.query, QUERY_FACTOR), (dispute.context, 1.0)):
        text_words = text.words
        text_stems = stems(text_words)
        length += len(text_words)
        phrases = find_phrases(index.thesaurus, text_words, text_stems)
        for found in phrases:
            worth = factor * (SINGLE_WORD if len(found.phrase.stems) == 1 else 1.0)
            if worth > entries.get(found.phrase.entry, 0.0):
                entries[found.phrase.entry] = worth
                shown[found.phrase.entry] = found.phrase.shown
        translated = _translated(index.thesaurus, phrases)
        for at, (word, stem) in enumerate(zip(text_words, text_stems, strict=True)):
            is_telling = word not in STOP_WORDS and word not in index.thesaurus.storytelling
            if is_telling and stem in index.rarity and not word.isdigit():
                is_other = at in translated and stem not in translated[at]
                said[stem] = said.get(stem, 0.0) + factor
                counts[stem] = counts.get(stem, 0.0) + factor * (TRANSLATED if is_other else 1.0)
                shown.setdefault(stem, word)
    strongest = sorted(counts, key=lambda stem: -counts[stem] * index.rarity[stem])
    length = min(max(length, FEWEST_NEEDED_WORDS), MOST_NEEDED_WORDS)
    needed = NEEDED * math.sqrt(length / NEEDED_WORDS)
    return _Asked(
        stems={stem: counts[stem] for stem in strongest[:STRONGEST_WORDS]},
        said={stem: said[stem] for stem in strongest[:STRONGEST_WORDS]},
        entries=entries,
        shown=shown,
        needed=needed,
        nearness={url: MEANING * needed * share for url, share in nearness.items()},
    )


def _translated(thesaurus: Thesaurus, phrases: Iterable[FoundPhrase]) -> dict[int, set[str]]:
    """For each place in a text that lay phrases cover, the official stems they stand for."""
    covered: dict[int, set[str]] = {}
    for found in phrases:
        for at in range(found.start, found.end):
            covered.setdefault(at, set()).update(thesaurus.entries[found.phrase.entry].official)
    return covered


def _sought(index: CandidateIndex, asked: _Asked) -> dict[str, float]:
    """What each stem is worth in a passage: the dispute's own and the official ones."""
    official: dict[str, float] = {}
    for entry, factor in asked.entries.items():
        for stem in index.thesaurus.entries[entry].official:
            official[stem] = max(official.get(stem, 0.0), factor)
    factors = dict(asked.said)
    for stem, factor in official.items():
        factors[stem] = factors.get(stem, 0.0) + factor
    return {stem: f * index.rarity[stem] for stem, f in factors.items() if stem in index.rarity}


def _best_passage(page: CountedPage, sought: Mapping[str, float]) -> tuple[int, float]:
    """The passage to show, the first of equals, and the highest score of any; else -1 and 0.

    The subject is where a passage and those before and after it hold most of what is sought; shown
    is the best of those three.
    """
    # One more than there are passages: it stands before the first and after the last.
    scores = [0.0] * (len(page.page.passages) + 1)
    for stem, value in sought.items():
        for number, gain in page.passages.get(stem, ()):
            scores[number] += value * gain
    highest = max(scores)
    if not highest:
        return -1, 0.0
    fits = [
        score and score + NEIGHBOURS * (scores[number - 1] + scores[number + 1])
        for number, score in enumerate(scores[:-1])
    ]
    more = STATES * max(fits)
    for number in page.stated:
        fits[number] = fits[number] and fits[number] + more
    subject = fits.index(max(fits))
    around = range(max(subject - 1, 0), min(subject + 2, len(fits)))
    best = max(around, key=lambda number: scores[number])
    return (subject if scores[subject] >= FAR_LESS * scores[best] else best), highest


def _candidate(
    index: CandidateIndex, asked: _Asked, number: int, domain: str, passage: tuple[int, float]
) -> Candidate:
    """The page of this *number* with what gave it its score, loudest first."""
    page = index.pages[number].page
    reasons = [
        CandidateReason("word", asked.shown[stem], factor * index.by_stem[stem][number])
        for stem, factor in asked.stems.items()
        if number in index.by_stem[stem]
    ]
    reasons += [
        CandidateReason("thesaurus", asked.shown[entry], factor * index.by_entry[entry][number])
        for entry, factor in asked.entries.items()
        if number in index.by_entry[entry]
    ]
    where, value = passage
    reasons.append(
        CandidateReason("passage", page.passages[where][0] if value else "", PASSAGE * value)
    )
    if page.url in asked.nearness:
        reasons.append(CandidateReason("meaning", "", asked.nearness[page.url]))
    total = sum(reason.score for reason in reasons)
    if domain != DEFAULT_DOMAIN and page.domain == domain:
        more = (SAME_DOMAIN - 1) * total
        reasons.append(CandidateReason("domain", domain, more))
        total += more
    reasons.sort(key=lambda reason: -reason.score)
    return Candidate(page, where, total, tuple(reasons))
