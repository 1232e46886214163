"""Ranks all approved pages by their relevance to a dispute, best first.

The score is a plain sum: BM25 of the dispute's strongest words and of the official words for its
lay phrases, over the page's whole text, its lead and its title with topics; the similarity of the
text vectors; and BM25 of the best passage. A page of the detected domain gets a bonus.
docs/quality.md tells what each part brings.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import mul
from types import MappingProxyType
from typing import Literal, NamedTuple

from judge.library.dispute import Dispute
from judge.library.rank.candidate_index import CandidateIndex, CandidatePage, PageTerms
from judge.library.rank.query_terms import QueryTerms, read_query_terms
from judge.types.requests import DEFAULT_DOMAIN

PASSAGE_WEIGHT = 0.5
"""Weight of the best passage's score in that of the page."""

MIN_NEIGHBOUR_SHARE = 0.3
"""The passage with the best neighbourhood is passed over for a neighbour of which it scores less
than this share."""

NEAREST_SHARE = 0.75
"""Score of the page nearest by the embedder, as a share of the threshold: words must contribute
the rest. The rates are alike from 0.5 to 1."""

SAME_DOMAIN_FACTOR = 1.5
"""Score factor for a page of the detected domain: a strong hint, not a filter."""

RERANK_WINDOW = 12
"""How many of the best pages have their passages scored."""

LIMIT = 8
"""How many pages the model is offered at most."""

DEFAULT_DOMAIN_FACTOR = 1.25
"""Factor on the threshold when no domain was detected: a page must fit clearly. Of 22 such labelled
disputes 19 keep a relevant page, and those without one get a quarter fewer pages."""

NO_SIMILARITIES: Mapping[str, float] = MappingProxyType({})
"""Similarities when there is no embedder, or it fails."""


@dataclass(frozen=True, slots=True)
class CandidateReason:
    """One part of a score: a word of the dispute, a lay phrase in it, the domain and so on."""

    kind: Literal["word", "thesaurus", "domain", "passage", "meaning"]
    shown: str
    score: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page that may be relevant, the index of its best passage (-1 for none), and its score."""

    page: CandidatePage
    passage: int
    score: float
    explain: Callable[[], tuple[CandidateReason, ...]] = field(repr=False, compare=False)

    @property
    def reasons(self) -> tuple[CandidateReason, ...]:
        """The parts of the score, greatest first; computed on demand."""
        return self.explain()


class _RankedPage(NamedTuple):
    """A page by its number in the index, with its score and those of `_passage_scores`."""

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
    similarities: Mapping[str, float] = NO_SIMILARITIES,
) -> tuple[Candidate, ...]:
    """The pages relevant to *dispute*, best first, at most *limit*; all scores are above 0.

    *wanted* are the numbers of the pages to rank, in ascending order (default: all); *domain* is
    the dispute's. A page below the threshold is left out. Without a threshold, as for pages known
    by their titles, only words count: every page is similar in topic a little. *similarities* is an
    embedder's similarity by URL, 0 to 1, where known.
    """
    terms = read_query_terms(index, dispute)
    if not has_threshold:
        terms = replace(terms, text_vector=())
    near = {url: NEAREST_SHARE * terms.threshold * share for url, share in similarities.items()}
    threshold = terms.threshold if has_threshold else 0.0
    if domain == DEFAULT_DOMAIN:
        threshold *= DEFAULT_DOMAIN_FACTOR
    ranked = []
    count = max(limit, RERANK_WINDOW)
    for number, total in _shortlist(index, terms, near, domain, wanted=wanted, count=count):
        page_terms = index.pages[number]
        passages = _passage_scores(page_terms, terms.passage_weights)
        score = total + PASSAGE_WEIGHT * max(passages) * _domain_factor(page_terms, domain)
        if score >= threshold:
            ranked.append(_RankedPage(score, number, passages))
    ranked.sort(key=lambda page: -page.score)
    return tuple([_candidate(index, terms, near, domain, page) for page in ranked[:limit]])


def _domain_factor(page: PageTerms, domain: str) -> float:
    return SAME_DOMAIN_FACTOR if page.page.domain == domain != DEFAULT_DOMAIN else 1.0


def _shortlist(
    index: CandidateIndex,
    terms: QueryTerms,
    near: Mapping[str, float],
    domain: str,
    *,
    wanted: Sequence[int] | None,
    count: int,
) -> list[tuple[int, float]]:
    """The best *count* of the *wanted* pages with their scores, passages aside, if above 0."""
    totals = index.score_pages((*terms.stems.items(), *terms.entries.items()), terms.text_vector)
    for number, page in enumerate(index.pages if near else ()):
        totals[number] += near.get(page.page.url, 0.0)
    for number in index.domains.get(domain, ()) if domain != DEFAULT_DOMAIN else ():
        totals[number] *= SAME_DOMAIN_FACTOR
    numbers = range(len(totals)) if wanted is None else wanted
    best = sorted(numbers, key=totals.__getitem__, reverse=True)[:count]
    return [(number, totals[number]) for number in best if totals[number] > 0]


def _passage_scores(page: PageTerms, passage_weights: Mapping[str, float]) -> list[float]:
    """The score of each passage of *page*, followed by a 0.0.

    That serves as the neighbour after the last passage, and keeps `max` defined without passages.
    """
    scores = [0.0] * (len(page.page.passages) + 1)
    for stem, weight in passage_weights.items():
        for number, gain in page.passages.get(stem, {}).items():
            scores[number] += weight * gain
    return scores


def _best_passage(scores: Sequence[float]) -> int:
    """The index of the passage to show, the first of equals; -1 if all scores are 0.

    The subject is where a passage scores best together with its two neighbours. That passage is
    shown, or a neighbour that is much better (`MIN_NEIGHBOUR_SHARE`).
    """
    if not any(scores):
        return -1
    fits = [
        (score and before + score + after, score)
        for before, score, after in zip([0.0, *scores], scores, scores[1:])
    ]
    subject = fits.index(max(fits))
    neighbours = range(max(subject - 1, 0), min(subject + 2, len(fits)))
    best = max(neighbours, key=scores.__getitem__)
    return subject if scores[subject] >= MIN_NEIGHBOUR_SHARE * scores[best] else best


def _candidate(
    index: CandidateIndex,
    terms: QueryTerms,
    near: Mapping[str, float],
    domain: str,
    ranked: _RankedPage,
) -> Candidate:
    """The candidate for *ranked*, with its best passage and a way to explain its score."""
    page_terms = index.pages[ranked.number]
    page, where = page_terms.page, _best_passage(ranked.passages)

    def explain() -> tuple[CandidateReason, ...]:
        """The parts of the score, greatest first."""
        reasons = [
            CandidateReason(kind, terms.shown[key], gain)
            for kind, key, gain in _gains(index, terms, ranked.number)
        ]
        shown = page.passages[where][0] if where >= 0 else ""
        reasons.append(CandidateReason("passage", shown, PASSAGE_WEIGHT * max(ranked.passages)))
        meaning = sum(map(mul, terms.text_vector, page_terms.text_vector)) + near.get(page.url, 0.0)
        reasons.append(CandidateReason("meaning", "its subject", meaning))
        if (factor := _domain_factor(page_terms, domain)) > 1:
            more = (factor - 1) * sum(reason.score for reason in reasons)
            reasons.append(CandidateReason("domain", domain, more))
        return tuple(sorted(reasons, key=lambda reason: -reason.score))

    return Candidate(page, where, ranked.score, explain)


def _gains(
    index: CandidateIndex, terms: QueryTerms, number: int
) -> Iterator[tuple[Literal["word", "thesaurus"], str | int, float]]:
    """What each stem and entry of *terms* adds to the score of one page."""
    gains = index.pages[number].stems
    for stem, factor in terms.stems.items():
        if stem in gains:
            yield "word", stem, factor * index.idfs[stem] * gains[stem]
    for entry, factor in terms.entries.items():
        if number in index.gains[entry]:
            yield "thesaurus", entry, factor * index.gains[entry][number]
