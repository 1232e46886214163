"""An index of the approved pages: what each page scores for a stem or a thesaurus entry."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from judge.text.english import content_stems
from judge.text.index_tokens import K1, B, idf
from judge.types.requests import DEFAULT_DOMAIN
from judge.vocabulary.thesaurus import Thesaurus
from judge.vocabulary.word_vectors import load_word_vectors

TITLE_WEIGHT = 2.0
"""Weight of an official word in the title and of any word in the topics, which whoever configured
the page chose, beside 1 anywhere on the page."""

HEADING_WEIGHT = 0.5
"""What a word in its heading adds to a passage, beside 1 in its text."""

TEXT_WORDS, TITLE_WORDS = 670, 3
"""Average lengths, in content words, of a page of guidance and its title. They are constants, so
that a page's weights do not depend on the other pages."""

TEXT_VECTOR_WORDS = 100
"""Content words from the beginning of a page in its text vector, besides its title."""

FULL_IDF = 14.0
MAX_BOOST = 2.0
"""The summed IDF of an entry's official words from which its gains stay as they are. Entries of
commoner words ("online shop") name their subject as surely: they are boosted halfway, at most
doubled."""

PRIOR_PAGES = 300
"""Document frequencies assume at least this many pages: among three pages no word is common."""

MAX_IDF = 6.0
"""IDFs run from 0 to this whatever the number of pages, so that the threshold stays valid."""


@dataclass(frozen=True, slots=True)
class CandidatePage:
    """The texts of an approved page for ranking; `passages` are pairs of heading and text."""

    url: str
    title: str
    lead: str
    passages: tuple[tuple[str, str], ...]
    topics: tuple[str, ...] = ()
    domain: str = DEFAULT_DOMAIN


@dataclass(frozen=True, slots=True)
class PageTerms:
    """A page with the saturated frequency of each stem, and its text vector of length 1."""

    page: CandidatePage
    text_vector: Sequence[float]
    stems: Mapping[str, float]
    title: Mapping[str, float]
    passages: Mapping[str, Mapping[int, float]]
    """By stem and number of the passage: 1 in its text, `HEADING_WEIGHT` more in its heading."""


def count_terms(page: CandidatePage) -> PageTerms:
    """Count the words of *page*, for a `CandidateIndex`."""
    title, topics = content_stems(page.title), content_stems(" ".join(page.topics))
    lead = content_stems(page.lead)
    headings = {heading: content_stems(heading) for heading, _ in page.passages}
    texts = [content_stems(text) for _, text in page.passages]
    passages: dict[str, dict[int, float]] = {}
    for number, ((heading, _), words) in enumerate(zip(page.passages, texts)):
        gains = dict.fromkeys(headings[heading], HEADING_WEIGHT)
        for stem in dict.fromkeys(words):
            gains[stem] = gains.get(stem, 0.0) + 1.0
        for stem, value in gains.items():
            passages.setdefault(stem, {})[number] = value
    beginning = islice(chain(lead, *texts), TEXT_VECTOR_WORDS)
    stems = _saturated([*title, *lead, *chain(*headings.values(), *texts)], TEXT_WORDS)
    for stem, value in _saturated(topics, TITLE_WORDS).items():
        stems[stem] = stems.get(stem, 0.0) + TITLE_WEIGHT * value
    return PageTerms(
        page,
        load_word_vectors().text_vector([*title, *topics], beginning),
        stems=stems,
        title=_saturated(title, TITLE_WORDS),
        passages=passages,
    )


def _saturated(stems: Sequence[str], average: int) -> dict[str, float]:
    """BM25's saturated term frequency of each stem, 0 to 2.2."""
    fullness = K1 * (1 - B + B * len(stems) / average)
    return {stem: count * (K1 + 1) / (count + fullness) for stem, count in Counter(stems).items()}


@dataclass(frozen=True, slots=True)
class CandidateIndex:
    """What `rank_candidates` needs: the scaled IDF of each stem, and what pages gain from terms.

    `gains` has for each stem and for the number of each entry what the pages with it gain, by
    their numbers: for a stem its IDF times its saturated frequency there.
    """

    pages: tuple[PageTerms, ...]
    thesaurus: Thesaurus
    idfs: Mapping[str, float]
    gains: Mapping[str | int, Mapping[int, float]]


def compile_candidates(pages: Iterable[PageTerms], thesaurus: Thesaurus) -> CandidateIndex:
    """An index over *pages*, whose order breaks ties."""
    pages = tuple(pages)
    frequencies = Counter(stem for page in pages for stem in page.stems)
    assumed = max(len(pages), PRIOR_PAGES)
    scale = MAX_IDF / idf(0, assumed)
    idfs = {stem: scale * idf(count, assumed) for stem, count in frequencies.items()}
    gains: dict[str | int, dict[int, float]] = {stem: {} for stem in idfs}
    titled: dict[str, dict[int, float]] = {}
    for number, page in enumerate(pages):
        for stem, value in page.stems.items():
            gains[stem][number] = idfs[stem] * value
        for stem, value in page.title.items():
            titled.setdefault(stem, {})[number] = TITLE_WEIGHT * idfs[stem] * value
    for entry, (_, official) in enumerate(thesaurus.entries):
        total: Counter[int] = Counter()
        for stem in official:
            total.update(gains.get(stem, {}))
            total.update(titled.get(stem, {}))
        total_idf = sum(idfs.get(stem, MAX_IDF) for stem in official)
        gains[entry] = _squared(total, total_idf)
    return CandidateIndex(pages, thesaurus, idfs, gains)


def _squared(gains: Mapping[int, float], total_idf: float) -> dict[int, float]:
    """*gains* squared, since most pages mention an entry in passing; the best stays."""
    if not gains:
        return {}
    boost = min(max(math.sqrt(FULL_IDF / total_idf), 1.0), MAX_BOOST)
    scale = boost / max(gains.values())
    return {number: gain * gain * scale for number, gain in gains.items()}
