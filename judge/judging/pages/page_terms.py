"""A page of guidance as it is ranked, and its words counted, whatever the other pages are."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from judge.text.bm25 import K1, B
from judge.text.english import content_stems
from judge.types.requests import DEFAULT_DOMAIN
from judge.vocabulary.word_vectors import load_word_vectors

WHOLE_TEXT, LEAD, TITLE = 1.0, 0.5, 2.0
"""What a word counts in each part of a page."""

TEXT_WORDS, LEAD_WORDS, TITLE_WORDS, PASSAGE_WORDS = 670, 22, 3, 19
"""Content words of an average page of guidance, its lead, its title and one of its passages. They
are constants, so that a page's counts do not depend on the other pages."""

ABOUT_WORDS = 100
"""Content words at the beginning of a page that tell what it is about, beside its title."""


@dataclass(frozen=True, slots=True)
class CandidatePage:
    """An approved page as it is ranked; `passages` are pairs of heading and text."""

    url: str
    title: str
    lead: str
    passages: tuple[tuple[str, str], ...]
    topics: tuple[str, ...] = ()
    domain: str = DEFAULT_DOMAIN


@dataclass(frozen=True, slots=True)
class PageTerms:
    """A page and how much each stem is its subject: in all, and by passage.

    `about` is the vector of what it is about, of length 1. All stems that stand once in a passage
    count the same there, as do those that stand twice, and so on: `passages` has for each stem its
    places in `numbers` of passages and `gains` there.
    """

    page: CandidatePage
    about: Sequence[float]
    stems: Mapping[str, float]
    passages: Mapping[str, Sequence[int]]
    numbers: Sequence[int]
    gains: Sequence[float]


def count_terms(page: CandidatePage) -> PageTerms:
    """*page* ready to be indexed."""
    title, lead = content_stems(page.title), content_stems(page.lead)
    headings = {heading: content_stems(heading) for heading, _ in page.passages}
    texts = [content_stems(text) for _, text in page.passages]
    named = [*title, *content_stems(" ".join(page.topics))]
    beginning = islice(chain(lead, *texts), ABOUT_WORDS)
    fields = (
        (WHOLE_TEXT, [*title, *lead, *chain(*headings.values(), *texts)], TEXT_WORDS),
        (LEAD, lead, LEAD_WORDS),
        (TITLE, named, TITLE_WORDS),
    )
    gains: dict[str, float] = {}
    for weight, stems, average in fields:
        for stem, value in _saturated(stems, average).items():
            gains[stem] = gains.get(stem, 0.0) + weight * value
    passages: dict[str, list[int]] = {}
    counted: list[tuple[int, float]] = []
    for number, ((heading, _), stems) in enumerate(zip(page.passages, texts)):
        found = _saturated([*headings[heading], *stems], PASSAGE_WORDS)
        values = dict.fromkeys(found.values())
        places = {value: len(counted) + at for at, value in enumerate(values)}
        counted += [(number, value) for value in values]
        for stem, value in found.items():
            passages.setdefault(stem, []).append(places[value])
    is_short = len(counted) <= 256
    return PageTerms(
        page,
        load_word_vectors().text_vector(named, beginning),
        gains,
        {stem: (bytes if is_short else tuple)(at) for stem, at in passages.items()},
        tuple([number for number, _ in counted]),
        tuple([value for _, value in counted]),
    )


def _saturated(found: Sequence[str], average: int) -> dict[str, float]:
    """BM25's saturated frequency of each stem, of 0 to 2.2."""
    fullness = K1 * (1 - B + B * len(found) / average)
    counts = Counter(found)
    values = {count: count * (K1 + 1) / (count + fullness) for count in counts.values()}
    return {stem: values[count] for stem, count in counts.items()}
