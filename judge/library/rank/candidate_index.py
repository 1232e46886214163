"""An index of the approved pages: what each page scores for a stem or a thesaurus entry.

The words of a page are counted once (`page_terms`), whatever the other pages are; compiling an
index from such pages is quick, and the index is immutable.
"""

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import mul

from judge.library.rank.page_terms import PageTerms
from judge.text.english import STOP_WORDS, stems
from judge.text.relevance import idf
from judge.vocabulary.thesaurus import Thesaurus
from judge.vocabulary.word_vectors import load_word_vectors

MENTION_SHARE = 0.1
"""Pages that gain less than this share of the best gain from an entry gain nothing (saves time)."""

FULL_IDF = 14.0
MAX_BOOST = 2.0
"""The summed IDF of an entry's official words from which its gains stay as they are. Entries of
commoner words ("online shop") name their subject as surely: they are boosted halfway, at most
doubled. That ranked relevant pages higher on five sets of disputes; docs/quality.md has them."""

PRIOR_PAGES = 300
"""Document frequencies assume at least this many pages: among three pages no word is common."""

COMPARED_PAGES = 100
"""Pages whose text vectors are compared, the best by words: comparing all takes 2 ms a dispute."""

MAX_IDF = 6.0
"""IDFs run from 0 to this whatever the number of pages, so that thresholds stay valid."""

IndexedWord = tuple[str, bytes, bool]
"""The stem of a word, its row in the word vectors (empty for none), and whether it is searched for:
it occurs in some page and says something about a subject."""


@dataclass(frozen=True, slots=True)
class CandidateIndex:
    """What `rank_candidates` needs: the scaled IDF of each stem, and what pages gain from entries.

    `gains` has for each stem and entry what each page with it gains: for a stem its IDF times its
    saturated frequency there. `domains` maps each domain to its pages, `words` looks up a word.
    """

    pages: tuple[PageTerms, ...]
    thesaurus: Thesaurus
    idfs: Mapping[str, float]
    gains: Mapping[str | int, Mapping[int, float]]
    domains: Mapping[str, frozenset[int]]
    words: Callable[[str], IndexedWord]

    def score_pages(
        self, terms: Iterable[tuple[str | int, float]], text_vector: Sequence[float] = ()
    ) -> list[float]:
        """The score of every page: gains from *terms* (stems or entries), times their factors.

        To the best `COMPARED_PAGES` the dot product of the page's text vector, of length 1, with
        *text_vector* is added.
        """
        scores = [0.0] * len(self.pages)
        for key, factor in terms:
            for number, gain in self.gains[key].items():
                scores[number] += factor * gain
        if text_vector:
            best = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
            for number in best[:COMPARED_PAGES]:
                scores[number] += sum(map(mul, text_vector, self.pages[number].text_vector))
        return scores


def compile_candidates(pages: Iterable[PageTerms], thesaurus: Thesaurus) -> CandidateIndex:
    """An index over *pages*, whose order breaks ties."""
    pages = tuple(pages)
    frequencies = Counter(stem for page in pages for stem in page.stems)
    idfs = {stem: _scaled_idf(count, len(pages)) for stem, count in frequencies.items()}
    by_stem: dict[str, dict[int, float]] = {stem: {} for stem in idfs}
    domains: dict[str, set[int]] = {}
    for number, page in enumerate(pages):
        domains.setdefault(page.page.domain, set()).add(number)
        for stem, gain in page.stems.items():
            by_stem[stem][number] = idfs[stem] * gain
    entries = [
        _squared(
            _summed(by_stem.get(stem, {}) for stem in entry.official),
            sum([idfs.get(stem, MAX_IDF) for stem in entry.official]),
        )
        for entry in thesaurus.entries
    ]
    gains: dict[str | int, Mapping[int, float]] = {}
    gains.update(by_stem)
    gains.update(enumerate(entries))
    return CandidateIndex(
        pages=pages,
        thesaurus=thesaurus,
        idfs=idfs,
        gains=gains,
        domains={domain: frozenset(numbers) for domain, numbers in domains.items()},
        words=lru_cache(maxsize=8192)(lambda word: _indexed(word, idfs, thesaurus)),
    )


def _indexed(word: str, stems_in_pages: Container[str], thesaurus: Thesaurus) -> IndexedWord:
    [stem] = stems([word])
    if word in STOP_WORDS:
        return stem, b"", False
    is_ignored = word in thesaurus.storytelling or word.isdigit()
    return stem, load_word_vectors().row(stem), stem in stems_in_pages and not is_ignored


def _scaled_idf(frequency: int, pages: int) -> float:
    """BM25's inverse document frequency as a share of its maximum, times MAX_IDF."""
    pages = max(pages, PRIOR_PAGES)
    return MAX_IDF * idf(frequency, pages) / idf(0, pages)


def _summed(parts: Iterable[Mapping[int, float]]) -> dict[int, float]:
    total: dict[int, float] = {}
    for part in parts:
        for number, gain in part.items():
            total[number] = total.get(number, 0.0) + gain
    return total


def _squared(gains: dict[int, float], total_idf: float) -> dict[int, float]:
    """*gains* squared, scaled so that the best one hardly changes.

    Most pages with some of an entry's words, of *total_idf*, mention its subject in passing.
    """
    if not gains:
        return gains
    best = max(gains.values())
    min_gain = MENTION_SHARE * best
    boost = min(max(math.sqrt(FULL_IDF / total_idf), 1.0), MAX_BOOST)
    return {number: gain * gain * boost / best for number, gain in gains.items() if gain > min_gain}
