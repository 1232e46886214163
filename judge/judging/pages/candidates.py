"""Which approved pages bear on a dispute? All of them ranked by what they say, best first.

A plain sum: BM25 of the dispute's strongest words and of the official words that its lay phrases
stand for, over a page's whole text, lead and title with topics, how near the page is to the dispute
by what its words mean, more for a page of the detected domain, and BM25 of the best passage. What
each part brings stands in docs/quality.md.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import mul
from types import MappingProxyType
from typing import Literal, NamedTuple

from judge.judging.dispute import Dispute
from judge.judging.pages.candidate_index import CandidateIndex
from judge.judging.pages.page_terms import CandidatePage, PageTerms
from judge.judging.pages.query_terms import QueryTerms, read_query_terms
from judge.types.requests import DEFAULT_DOMAIN

PASSAGE = 0.5
"""What a word counts once more in the best passage of a page."""

NEIGHBOURS = 1.0
"""What the passages before and after one count for it: the best stands where the subject is."""

FAR_LESS = 0.3
"""A passage in the midst of its subject that holds less than this share of what the one beside it
holds is passed over for that one. From 0 to 0.3 the rates are alike."""

MEANING = 0.75
"""What the page nearest in meaning gets, as a share of the score that is needed: words must say the
rest. From 0.5 to 1 the rates are alike."""

SAME_DOMAIN = 1.5
"""What a page counts more that is of the detected domain: a strong hint and no wall."""

RERANKED = 12
"""Pages whose passages are looked at."""

LIMIT = 8
"""Pages that a model is given to choose from."""

CLEARLY = 1.25
"""How much more a page needs where no domain was detected: it has to fit clearly. Of 22 labelled
disputes of that kind 19 keep a fitting page, and those without one get a quarter fewer pages."""

NO_MEANING: Mapping[str, float] = MappingProxyType({})
"""Where there is no embedder, or it fails."""


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
        """What gave it its score, greatest first."""
        return self.explain()


class _RankedPage(NamedTuple):
    """A page by its place in the index, with its score, and those of its passages and of none."""

    score: float
    number: int
    passages: Sequence[float]


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
    first; all scores are above 0. A page that does not reach the threshold is not offered. Without
    one, as for pages known by their titles, words alone count: any page is about it a little.
    *nearness* in meaning is 0 to 1 by address, where it is known.
    """
    terms = read_query_terms(index, dispute)
    if not has_threshold:
        terms = replace(terms, about=())
    near = {url: MEANING * terms.needed * share for url, share in nearness.items()}
    needed = terms.needed * (CLEARLY if domain == DEFAULT_DOMAIN else 1.0) if has_threshold else 0.0
    ranked = []
    count = max(limit, RERANKED)
    for number, total in _shortlist(index, terms, near, domain, wanted=wanted, count=count):
        page = index.pages[number]
        passages = _passage_scores(page, terms.sought)
        score = total + PASSAGE * max(passages) * _domain_factor(page, domain)
        if score >= needed:
            ranked.append(_RankedPage(score, number, passages))
    ranked.sort(key=lambda one: -one.score)
    return tuple([_candidate(index, terms, near, domain, one) for one in ranked[:limit]])


def _domain_factor(page: PageTerms, domain: str) -> float:
    return SAME_DOMAIN if page.page.domain == domain != DEFAULT_DOMAIN else 1.0


def _shortlist(
    index: CandidateIndex,
    terms: QueryTerms,
    near: Mapping[str, float],
    domain: str,
    *,
    wanted: Sequence[int] | None,
    count: int,
) -> list[tuple[int, float]]:
    """The *count* best of the *wanted* pages by all but their passages, with that score above 0."""
    totals = index.weigh((*terms.stems.items(), *terms.entries.items()), terms.about)
    for number, page in enumerate(index.pages if near else ()):
        totals[number] += near.get(page.page.url, 0.0)
    for number in index.domains.get(domain, ()) if domain != DEFAULT_DOMAIN else ():
        totals[number] *= SAME_DOMAIN
    numbers = range(len(totals)) if wanted is None else wanted
    best = sorted(numbers, key=totals.__getitem__, reverse=True)[:count]
    return [(number, totals[number]) for number in best if totals[number] > 0]


def _passage_scores(page: PageTerms, sought: Mapping[str, float]) -> list[float]:
    """What each passage of *page* holds of what is sought; the last one is none, and holds nothing.

    None stands before the first and after the last.
    """
    scores = [0.0] * (len(page.page.passages) + 1)
    passages, numbers, gains = page.passages, page.numbers, page.gains
    for stem in filter(passages.__contains__, sought):
        value = sought[stem]
        for at in passages[stem]:
            scores[numbers[at]] += value * gains[at]
    return scores


def _best_passage(scores: Sequence[float]) -> int:
    """The passage to show, the first of equals; -1 where none holds anything.

    The subject is where a passage and those before and after it hold most of what is sought; shown
    is the best of those three.
    """
    if not any(scores):
        return -1
    fits = [
        (score and score + NEIGHBOURS * (before + after), score)
        for before, score, after in zip([0.0, *scores], scores, scores[1:])
    ]
    subject = fits.index(max(fits))
    around = range(max(subject - 1, 0), min(subject + 2, len(fits)))
    best = max(around, key=scores.__getitem__)
    return subject if scores[subject] >= FAR_LESS * scores[best] else best


def _candidate(
    index: CandidateIndex,
    terms: QueryTerms,
    near: Mapping[str, float],
    domain: str,
    ranked: _RankedPage,
) -> Candidate:
    """The page of *ranked*, with what it offers."""
    page_terms = index.pages[ranked.number]
    page, where = page_terms.page, _best_passage(ranked.passages)

    def explain() -> tuple[CandidateReason, ...]:
        """What gave it its score, greatest first."""
        reasons = [
            CandidateReason(kind, terms.shown[key], gain)
            for kind, key, gain in _gains(index, terms, ranked.number)
        ]
        shown = page.passages[where][0] if where >= 0 else ""
        reasons.append(CandidateReason("passage", shown, PASSAGE * max(ranked.passages)))
        meaning = sum(map(mul, terms.about, page_terms.about)) + near.get(page.url, 0.0)
        reasons.append(CandidateReason("meaning", "its subject", meaning))
        if (factor := _domain_factor(page_terms, domain)) > 1:
            more = (factor - 1) * sum(reason.score for reason in reasons)
            reasons.append(CandidateReason("domain", domain, more))
        return tuple(sorted(reasons, key=lambda reason: -reason.score))

    return Candidate(page, where, ranked.score, explain)


def _gains(
    index: CandidateIndex, terms: QueryTerms, number: int
) -> Iterator[tuple[Literal["word", "thesaurus"], str | int, float]]:
    """What each thing that is asked for adds to the score of one page."""
    held = index.pages[number].stems
    for stem, factor in terms.stems.items():
        if stem in held:
            yield "word", stem, factor * index.rarity[stem] * held[stem]
    for entry, factor in terms.entries.items():
        if number in index.entries[entry]:
            yield "thesaurus", entry, factor * index.entries[entry][number]
