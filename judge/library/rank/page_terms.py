"""Counts the words of a page for ranking, independently of the other pages."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from judge.text.english import content_stems
from judge.text.ranking import K1, B
from judge.types.requests import DEFAULT_DOMAIN
from judge.vocabulary.word_vectors import load_word_vectors

WHOLE_TEXT, LEAD, TITLE = 1.0, 0.5, 2.0
"""Weight of a word in each field of a page."""

TEXT_WORDS, LEAD_WORDS, TITLE_WORDS, PASSAGE_WORDS = 670, 22, 3, 19
"""Average lengths, in content words, of a page of guidance, its lead, its title and a passage. They
are constants, so that a page's weights do not depend on the other pages."""

TEXT_VECTOR_WORDS = 100
"""Content words from the beginning of a page in its text vector, besides its title."""


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
    """A page with the weight (saturated term frequency) of each stem: in all, and by passage.

    `text_vector` is the sum of its words' vectors, scaled to length 1.
    """

    page: CandidatePage
    text_vector: Sequence[float]
    stems: Mapping[str, float]
    passages: Mapping[str, Mapping[int, float]]
    """By stem and number of the passage."""


def count_terms(page: CandidatePage) -> PageTerms:
    """Count the words of *page*, for a `CandidateIndex`."""
    title, lead = content_stems(page.title), content_stems(page.lead)
    headings = {heading: content_stems(heading) for heading, _ in page.passages}
    texts = [content_stems(text) for _, text in page.passages]
    named = [*title, *content_stems(" ".join(page.topics))]
    beginning = islice(chain(lead, *texts), TEXT_VECTOR_WORDS)
    fields = (
        (WHOLE_TEXT, [*title, *lead, *chain(*headings.values(), *texts)], TEXT_WORDS),
        (LEAD, lead, LEAD_WORDS),
        (TITLE, named, TITLE_WORDS),
    )
    gains: dict[str, float] = {}
    for weight, stems, average in fields:
        for stem, value in _saturated(stems, average).items():
            gains[stem] = gains.get(stem, 0.0) + weight * value
    passages: dict[str, dict[int, float]] = {}
    for number, ((heading, _), stems) in enumerate(zip(page.passages, texts)):
        for stem, value in _saturated([*headings[heading], *stems], PASSAGE_WORDS).items():
            passages.setdefault(stem, {})[number] = value
    vector = load_word_vectors().text_vector(named, beginning)
    return PageTerms(page, vector, gains, passages)


def _saturated(stems: Sequence[str], average: int) -> dict[str, float]:
    """BM25's saturated term frequency of each stem, 0 to 2.2."""
    fullness = K1 * (1 - B + B * len(stems) / average)
    return {stem: count * (K1 + 1) / (count + fullness) for stem, count in Counter(stems).items()}
