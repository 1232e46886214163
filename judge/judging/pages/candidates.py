"""Which approved pages bear on a dispute? All of them ranked by what they say, best first.

A plain sum: BM25 of the dispute's strongest words and of the official words that its lay phrases
stand for, over a page's whole text, lead and title with topics, more for a page of the detected
domain, and BM25 of the best passage. What each part brings stands in docs/quality.md.

A page is counted once (`counted_pages`), whatever the others are; an index over such pages is then
compiled in a moment and never changes.
"""

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from judge.judging.dispute import Dispute
from judge.judging.pages.counted_pages import CandidatePage, CountedPage
from judge.text.english import STOP_WORDS, stems
from judge.types.requests import DEFAULT_DOMAIN
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

PLACE_BITS = 64
STEPS = 2**20
"""Gains and factors are counted in millionths where all pages are weighed at once."""

UNSURE = 0.05
"""How far a sum of such counts may be off: 100 of them, of gains and factors up to 100 or so."""


@dataclass(frozen=True, slots=True)
class CandidateIndex:
    """What `rank_candidates` needs: `gains` of pages for each stem and thesaurus entry.

    `packed` are the same gains side by side in one long number, 64 bits for each page, so that one
    multiplication weighs a stem in all pages: a tenth of the time of one by one. `domains` are the
    pages of each; `ignored` are words that say nothing of a subject.
    """

    pages: tuple[CountedPage, ...]
    thesaurus: Thesaurus
    rarity: Mapping[str, float]
    gains: Mapping[str | int, Mapping[int, float]]
    packed: Mapping[str | int, int]
    domains: Mapping[str, Sequence[int]]
    ignored: frozenset[str]


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
    explain: Callable[[], tuple[CandidateReason, ...]] = field(repr=False, compare=False)

    @property
    def reasons(self) -> tuple[CandidateReason, ...]:
        """What gave it its score, loudest first."""
        return self.explain()


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a dispute asks for: stems, then thesaurus entries, how much, and what pages gain.

    `said` are the same stems as often as they were said, whatever they mean.
    """

    gains: Sequence[tuple[str | int, float, Mapping[int, float]]]
    said: Mapping[str, float]
    entries: Mapping[int, float]
    shown: Mapping[str | int, str]
    needed: float
    """The score that a page needs."""
    nearness: Mapping[str, float]
    """What a page gets for being near in meaning, by address."""


_Parts = Sequence[tuple[str | int, float]]
"""What was asked for, and what each of it adds to the score of a page."""


def compile_candidates(pages: Iterable[CountedPage], thesaurus: Thesaurus) -> CandidateIndex:
    """An index over *pages*, which keep their order for ties."""
    pages = tuple(pages)
    frequencies = Counter(stem for page in pages for stem in page.stems)
    rarity = {stem: _rarity(count, len(pages)) for stem, count in frequencies.items()}
    by_stem: dict[str, dict[int, float]] = {stem: {} for stem in rarity}
    for number, page in enumerate(pages):
        for stem, gain in page.stems.items():
            by_stem[stem][number] = rarity[stem] * gain
    by_entry = {
        number: _sharpened(_summed(by_stem.get(stem, {}) for stem in entry.official))
        for number, entry in enumerate(thesaurus.entries)
    }
    gains: dict[str | int, Mapping[int, float]] = dict(by_stem.items())
    gains.update(by_entry.items())
    domains: dict[str, list[int]] = {}
    for number, page in enumerate(pages):
        domains.setdefault(page.page.domain, []).append(number)
    return CandidateIndex(
        pages=pages,
        thesaurus=thesaurus,
        rarity=rarity,
        gains=gains,
        packed={key: _packed(of_pages) for key, of_pages in gains.items()},
        domains=domains,
        ignored=STOP_WORDS | thesaurus.storytelling,
    )


def _packed(gains: Mapping[int, float]) -> int:
    """*gains* in one long number, that of each page in its own 64 bits."""
    return sum(round(gain * STEPS) << PLACE_BITS * number for number, gain in gains.items())


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
    wanted: Sequence[int] | None = None,
    has_threshold: bool = True,
    nearness: Mapping[str, float] = NO_MEANING,
) -> tuple[Candidate, ...]:
    """At most *limit* of the *wanted* pages (all, if not told) that bear on a *dispute*.

    *wanted* are the places of pages in the index, in order; *domain* is that of the dispute. Best
    first; all scores are above 0. A page that does not reach the threshold is not offered, if there
    is one. *nearness* in meaning is 0 to 1 by address, where it is known.
    """
    asked = _asked(index, dispute, nearness)
    sought = _sought(index, asked)
    promising = _promising(index, asked, domain, wanted, max(limit, RERANKED))
    candidates = [
        _candidate(asked, page.page, parts, domain, _best_passage(page, sought))
        for page, parts in promising
    ]
    needed = asked.needed * (CLEARLY if domain == DEFAULT_DOMAIN else 1.0) if has_threshold else 0.0
    offered = [candidate for candidate in candidates if candidate.score >= needed]
    return tuple(sorted(offered, key=lambda candidate: -candidate.score)[:limit])


def _promising(
    index: CandidateIndex, asked: _Asked, domain: str, wanted: Sequence[int] | None, count: int
) -> list[tuple[CountedPage, _Parts]]:
    """The *count* best of the *wanted* pages by all but their passages; those with anything.

    All are weighed roughly, and then those exactly that may be among the best.
    """
    of_domain = frozenset(index.domains.get(domain, ()) if domain != DEFAULT_DOMAIN else ())
    rough: list[float] = [*_weighed(index, asked)]
    for number, page in enumerate(index.pages if asked.nearness else ()):
        rough[number] += asked.nearness.get(page.page.url, 0.0) * STEPS**2
    for number in of_domain:
        rough[number] *= SAME_DOMAIN
    numbers = range(len(rough)) if wanted is None else wanted
    least = sorted([rough[number] for number in numbers], reverse=True)[:count][-1:]
    near = [number for number in numbers if rough[number] >= least[0] - UNSURE * STEPS**2]
    parts = {number: _parts(asked, number) for number in near}
    scores = {
        number: _first_total(asked, index.pages[number], of_page)
        * (SAME_DOMAIN if number in of_domain else 1.0)
        for number, of_page in parts.items()
    }
    ranked = sorted(scores, key=lambda number: -scores[number])[:count]
    return [(index.pages[number], parts[number]) for number in ranked if scores[number] > 0]


def _weighed(index: CandidateIndex, asked: _Asked) -> Sequence[int]:
    """The score of every page times STEPS squared, nearly."""
    total = sum([round(factor * STEPS) * index.packed[key] for key, factor, _ in asked.gains])
    places = total.to_bytes(len(index.pages) * PLACE_BITS // 8, sys.byteorder)
    return memoryview(places).cast("Q")


def _parts(asked: _Asked, number: int) -> _Parts:
    """What each thing that is asked for adds to the score of one page."""
    return [(key, factor * gains[number]) for key, factor, gains in asked.gains if number in gains]


def _first_total(asked: _Asked, page: CountedPage, parts: _Parts) -> float:
    """The score of *page* but for its passages and its domain."""
    return sum([part for _, part in parts]) + asked.nearness.get(page.page.url, 0.0)


def _asked(index: CandidateIndex, dispute: Dispute, nearness: Mapping[str, float]) -> _Asked:
    """The strongest words of a dispute and the thesaurus entries of its phrases."""
    counts: dict[str, float] = {}
    said: dict[str, float] = {}
    entries: dict[int, float] = {}
    shown: dict[str | int, str] = {}
    for text, factor in ((dispute.query, QUERY_FACTOR), (dispute.context, 1.0)):
        text_stems = stems(text.words)
        phrases = find_phrases(index.thesaurus, text.words, text_stems)
        for found in phrases:
            worth = factor * (SINGLE_WORD if len(found.phrase.stems) == 1 else 1.0)
            if worth > entries.get(found.phrase.entry, 0.0):
                entries[found.phrase.entry] = worth
                shown[found.phrase.entry] = found.phrase.shown
        translated = _translated(index.thesaurus, phrases)
        for at, word, stem in _telling(index, text.words, text_stems):
            if at in translated and not translated[at]:
                continue  # a phrase that says nothing of a subject
            is_other = at in translated and stem not in translated[at]
            said[stem] = said.get(stem, 0.0) + factor
            counts[stem] = counts.get(stem, 0.0) + factor * (TRANSLATED if is_other else 1.0)
            shown.setdefault(stem, word)
    strongest = sorted(counts, key=lambda stem: -counts[stem] * index.rarity[stem])
    strongest = strongest[:STRONGEST_WORDS]
    length = len(dispute.query.words) + len(dispute.context.words)
    length = min(max(length, FEWEST_NEEDED_WORDS), MOST_NEEDED_WORDS)
    needed = NEEDED * math.sqrt(length / NEEDED_WORDS)
    return _Asked(
        gains=[(stem, counts[stem], index.gains[stem]) for stem in strongest]
        + [(entry, factor, index.gains[entry]) for entry, factor in entries.items()],
        said={stem: said[stem] for stem in strongest},
        entries=entries,
        shown=shown,
        needed=needed,
        nearness={url: MEANING * needed * share for url, share in nearness.items()},
    )


def _telling(
    index: CandidateIndex, words: Sequence[str], text_stems: Sequence[str]
) -> list[tuple[int, str, str]]:
    """The words that some page holds and that say something: their places, they and their stems."""
    rarity, ignored = index.rarity, index.ignored
    return [
        (at, word, stem)
        for at, (word, stem) in enumerate(zip(words, text_stems, strict=True))
        if stem in rarity and word not in ignored and not word.isdigit()
    ]


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
    gains = page.passages
    for value, found in [(sought[stem], gains[stem]) for stem in sought if stem in gains]:
        for number, gain in found:
            scores[number] += value * gain
    highest = max(scores)
    if not highest:
        return -1, 0.0
    # What stands before and after each; the last one is none.
    fits = [
        score and score + NEIGHBOURS * (before + after)
        for before, score, after in zip([0.0, *scores], scores, scores[1:], strict=False)
    ]
    more = STATES * max(fits)
    for number in page.stated:
        if fits[number]:
            fits[number] += more
    subject = fits.index(max(fits))
    around = range(max(subject - 1, 0), min(subject + 2, len(fits)))
    best = max(around, key=scores.__getitem__)
    return (subject if scores[subject] >= FAR_LESS * scores[best] else best), highest


def _candidate(
    asked: _Asked, page: CandidatePage, parts: _Parts, domain: str, passage: tuple[int, float]
) -> Candidate:
    """*page* with its score: the sum of *parts*, more for its best *passage* and its domain."""
    where, value = passage
    total = sum([part for _, part in parts]) + PASSAGE * value + asked.nearness.get(page.url, 0.0)
    is_same = domain != DEFAULT_DOMAIN and page.domain == domain
    more = (SAME_DOMAIN - 1) * total if is_same else 0.0

    def explain() -> tuple[CandidateReason, ...]:
        """What gave it its score, loudest first."""
        reasons = [
            CandidateReason("word" if isinstance(key, str) else "thesaurus", asked.shown[key], part)
            for key, part in parts
        ]
        shown = page.passages[where][0] if value else ""
        reasons.append(CandidateReason("passage", shown, PASSAGE * value))
        if page.url in asked.nearness:
            reasons.append(CandidateReason("meaning", "", asked.nearness[page.url]))
        if is_same:
            reasons.append(CandidateReason("domain", domain, more))
        return tuple(sorted(reasons, key=lambda reason: -reason.score))

    return Candidate(page, where, total + more, explain)
