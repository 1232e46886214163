"""The approved pages side by side: what each gains from a word, or from an entry of the thesaurus.

A page is counted once (`page_terms`), whatever the others are; an index over such pages is then
compiled in a moment and never changes.
"""

import math
import sys
from array import array
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul

from judge.judging.pages.page_terms import PageTerms
from judge.text.english import STOP_WORDS, stems
from judge.text.relevance import idf
from judge.text.word_cache import WordCache
from judge.vocabulary.thesaurus import Thesaurus
from judge.vocabulary.word_vectors import load_word_vectors

MENTION = 0.1
"""Pages that hold less than this share of an entry's words are no subject of it, to save time."""

STRONG = 14.0
MOST_RAISED = 2.0
"""The rarity of the official words of an entry in all. One whose words are more common ("online
shop") is raised half the way, at most to the double: it means its subject as much. On five sets of
disputes fitting pages came to the fore by it; docs/quality.md has them."""

PRIOR_PAGES = 300
"""A small catalogue is weighed as if it had so many pages: in three pages nothing is common."""

SCALE = 6.0
"""Rarity runs from 0 to this, whatever the number of pages, so that thresholds keep."""

PLACE_BITS = 64
STEPS = 2**20
STEP_AREA = STEPS**-2
"""Gains and factors are counted in millionths, as all pages are weighed at once: sums of them are
right to four digits behind the point at least."""


IndexedWord = tuple[str, int, bool]
"""The stem of a word, its row of the word vectors (0 for none), and whether it is telling: it says
something of a subject and stands in some page."""


@dataclass(frozen=True, slots=True)
class CandidateIndex:
    """What `rank_candidates` needs: the `rarity` of each stem, and what pages gain from entries.

    From a stem a page gains its rarity times what it counts there. `packed` are the gains of all
    pages side by side in one long number, 64 bits for each page, so that one multiplication weighs
    a stem or an entry in all pages: a tenth of the time of one by one. `about` has what the pages
    are about in the same way, a number for each dimension, and `opposite` the opposite, both with 1
    added, so that none is below 0. `domains` are the pages of each, and `words` tells what is known
    of a word.
    """

    pages: tuple[PageTerms, ...]
    thesaurus: Thesaurus
    rarity: Mapping[str, float]
    entries: Sequence[Mapping[int, float]]
    packed: Mapping[str | int, int]
    about: Sequence[int]
    opposite: Sequence[int]
    domains: Mapping[str, frozenset[int]]
    words: WordCache[IndexedWord]

    def weigh(
        self, asked: Collection[tuple[str | int, float]], about: Iterable[float] = ()
    ) -> list[float]:
        """What every page gains from stems and entries, each with a factor, and by its subject.

        The latter is the cosine of what it is about with *about*, times the length of that.
        """
        subject = [round(value * STEPS) for value in about]
        factors = [round(factor * STEPS) for _, factor in asked] + [*map(abs, subject)]
        packed = [self.packed[key] for key, _ in asked]
        sides = zip(subject, self.about, self.opposite)
        packed += [like if value > 0 else unlike for value, like, unlike in sides]
        # One product after the other, so that they all stand in the same few kilobytes.
        total = sum(map(mul, factors, packed))
        places = total.to_bytes(len(self.pages) * PLACE_BITS // 8, sys.byteorder)
        raised = sum(map(abs, subject)) * STEPS
        return [(place - raised) * STEP_AREA for place in memoryview(places).cast("Q")]


def compile_candidates(pages: Iterable[PageTerms], thesaurus: Thesaurus) -> CandidateIndex:
    """An index over *pages*, which keep their order for ties."""
    pages = tuple(pages)
    frequencies = Counter(stem for page in pages for stem in page.stems)
    rarity = {stem: _rarity(count, len(pages)) for stem, count in frequencies.items()}
    by_stem: dict[str, dict[int, float]] = {stem: {} for stem in rarity}
    domains: dict[str, set[int]] = {}
    for number, page in enumerate(pages):
        domains.setdefault(page.page.domain, set()).add(number)
        for stem, gain in page.stems.items():
            by_stem[stem][number] = rarity[stem] * gain
    entries = [
        _sharpened(
            _summed(by_stem.get(stem, {}) for stem in entry.official),
            sum([rarity.get(stem, SCALE) for stem in entry.official]),
        )
        for entry in thesaurus.entries
    ]
    gains: Iterable[tuple[str | int, dict[int, float]]] = (*by_stem.items(), *enumerate(entries))
    about = [
        _packed({n: 1.0 + value for n, value in enumerate(values)}, len(pages))
        for values in zip(*[page.about for page in pages], strict=True)
    ]
    twice = _packed(dict.fromkeys(range(len(pages)), 2.0), len(pages))
    return CandidateIndex(
        pages=pages,
        thesaurus=thesaurus,
        rarity=rarity,
        entries=entries,
        packed={key: _packed(of_pages, len(pages)) for key, of_pages in gains},
        about=about,
        opposite=[twice - like for like in about],
        domains={domain: frozenset(numbers) for domain, numbers in domains.items()},
        words=WordCache(lambda word: _indexed(word, rarity, thesaurus)),
    )


def _indexed(word: str, held: Container[str], thesaurus: Thesaurus) -> IndexedWord:
    [stem] = stems([word])
    if word in STOP_WORDS:
        return stem, 0, False
    is_ignored = word in thesaurus.storytelling or word.isdigit()
    return stem, load_word_vectors().row(stem), stem in held and not is_ignored


def _packed(gains: Mapping[int, float], pages: int) -> int:
    """*gains* in one long number, that of each of *pages* in its own 64 bits."""
    places = array("Q", bytes(pages * PLACE_BITS // 8))
    for number, gain in gains.items():
        places[number] = round(gain * STEPS)
    return int.from_bytes(places.tobytes(), sys.byteorder)


def _rarity(frequency: int, pages: int) -> float:
    """BM25's inverse document frequency as a share of its greatest value, times SCALE."""
    pages = max(pages, PRIOR_PAGES)
    return SCALE * idf(frequency, pages) / idf(0, pages)


def _summed(parts: Iterable[Mapping[int, float]]) -> dict[int, float]:
    total: dict[int, float] = {}
    for part in parts:
        for number, gain in part.items():
            total[number] = total.get(number, 0.0) + gain
    return total


def _sharpened(gains: dict[int, float], rarity: float) -> dict[int, float]:
    """*gains* squared, the best nearly as it was: an entry is a subject.

    Most pages that hold some of its words, which are of that *rarity*, mention it in passing.
    """
    if not gains:
        return gains
    best = max(gains.values())
    least = MENTION * best
    raised = min(max(math.sqrt(STRONG / rarity), 1.0), MOST_RAISED)
    return {number: gain * gain * raised / best for number, gain in gains.items() if gain > least}
