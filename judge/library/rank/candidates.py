"""Ranks all approved pages by their relevance to a dispute, and chooses those to offer.

rank all pages by their known text -> retrieve the best -> offer those relevant to the dispute

The score is a plain sum: BM25 of the dispute's words over the page's whole text, what the page
gains from the official words for its lay phrases, and the similarity of the text vectors. A page
of the detected domain gets a bonus. docs/quality.md tells what each part brings.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import mul
from types import MappingProxyType
from typing import Literal, NamedTuple

from judge.library.dispute import Dispute
from judge.library.extract.page_passages import cut_text
from judge.library.pages.approved_pages import IndexedPages, LibraryPage, PageLibrary
from judge.library.pages.page_records import PageKey, SnippetRequest
from judge.library.rank.candidate_index import CandidateIndex, CandidatePage, PageTerms
from judge.text.english import STOP_WORDS, stems
from judge.types.references import Snippet
from judge.types.requests import DEFAULT_DOMAIN
from judge.vocabulary.thesaurus import find_phrases
from judge.vocabulary.word_vectors import load_word_vectors

QUERY_FACTOR = 2.5
"""Weight of a word of the question, beside 1 in the context; people ask about what matters."""

SINGLE_WORD_FACTOR = 0.7
"""Weight of a lay phrase of one word, which more often means something else."""

VECTOR_FACTOR = 50.0
"""Score for a text vector equal to the dispute's; relevant pages mostly have 0.2 to 0.5 of it."""

COMPARED_PAGES = 40
"""Pages whose text vectors are compared, the best by words: comparing 400 takes 2 ms a dispute."""

SAME_DOMAIN_FACTOR = 1.35
"""Score factor for a page of the detected domain: a strong hint, not a filter."""

THRESHOLD = 30.0
"""The least score of an offered page."""

LEAST_BEST = 45.0
"""No page is offered unless the words of one score this; docs/quality.md has the rates."""

CLEAR_SCORE = 100.0
"""From here a page fits clearly. Of disputes that no page fits 8 in 100 have such a page, of the
others 67 in 100."""

NEAREST = 20.0
"""Score of the page nearest by the embedder: words must contribute the rest of the threshold."""

LIMIT = 8
"""How many pages the model is offered at most."""

NO_SIMILARITIES: Mapping[str, float] = MappingProxyType({})
"""Similarities when there is no embedder, or it fails."""


@dataclass(frozen=True, slots=True)
class CandidateReason:
    """One part of a score: a word of the dispute, a lay phrase in it, the domain and so on."""

    kind: Literal["word", "thesaurus", "domain", "meaning"]
    shown: str
    score: float


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """What a dispute is searched by.

    `weights` are of its stems and thesaurus entries, `in_passages` of its stems and official ones;
    `labels` has the word or phrase behind each term, for explanations.
    """

    weights: Mapping[str | int, float]
    in_passages: Mapping[str, float]
    text_vector: Sequence[float]
    labels: Mapping[str | int, str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page that may be relevant, its score, and its matching passages, best first."""

    page: CandidatePage
    passages: tuple[int, ...]
    score: float
    explain: Callable[[], tuple[CandidateReason, ...]] = field(repr=False, compare=False)
    """Returns the parts of the score, greatest first."""

    @property
    def fits_clearly(self) -> bool:
        """Whether the page may be quoted where no model can reject it."""
        return self.score >= CLEAR_SCORE


def read_query_terms(index: CandidateIndex, dispute: Dispute) -> QueryTerms:
    """The words of *dispute* and the thesaurus entries of its phrases."""
    thesaurus = index.thesaurus
    weights: Counter[str | int] = Counter()
    official: dict[str, float] = {}
    labels: dict[str | int, str] = {}
    texts = ((dispute.query.words, QUERY_FACTOR), (dispute.context.beginning.words, 1.0))
    for words, factor in texts:
        for word, stem in zip(words, stems(words)):
            is_telling = word not in STOP_WORDS and word not in thesaurus.storytelling
            if stem in index.idfs and is_telling:
                weights[stem] += factor  # type: ignore[assignment]
                labels.setdefault(stem, word)
        heard: dict[int, float] = {}
        for found in find_phrases(thesaurus, words):
            is_single = len(found.phrase.stems) == 1
            weight = factor * (SINGLE_WORD_FACTOR if is_single else 1.0)
            heard[found.phrase.entry] = max(heard.get(found.phrase.entry, 0.0), weight)
            labels.setdefault(found.phrase.entry, found.phrase.text)
        for entry, weight in heard.items():
            weights[entry] += weight  # type: ignore[assignment]
            for stem in thesaurus.entries[entry].official:
                official[stem] = max(official.get(stem, 0.0), weight)
    in_passages = {
        stem: (weights[stem] + official.get(stem, 0.0)) * index.idfs[stem]
        for stem in dict.fromkeys((*weights, *official))
        if isinstance(stem, str) and stem in index.idfs
    }
    content = (stems(w for w in words if w not in STOP_WORDS) for words, _ in texts)
    return QueryTerms(weights, in_passages, load_word_vectors().text_vector(*content), labels)


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
    the dispute's. Pages below the thresholds are left out. Without a threshold, as for pages known
    by their titles, only words count: every page is similar in topic a little. *similarities* is an
    embedder's similarity by URL, 0 to 1, where known.
    """
    terms = read_query_terms(index, dispute)
    scores = [0.0] * len(index.pages)
    for key, weight in terms.weights.items():
        for number, gain in index.gains[key].items():
            scores[number] += weight * gain
    numbers = range(len(scores)) if wanted is None else wanted
    if has_threshold:
        for number in sorted(numbers, key=scores.__getitem__, reverse=True)[:COMPARED_PAGES]:
            cosine = sum(map(mul, terms.text_vector, index.pages[number].text_vector))
            scores[number] += VECTOR_FACTOR * cosine
        # Neither the domain nor an embedder tells that some page fits, only which fits best.
        if max((scores[number] for number in numbers), default=0.0) < LEAST_BEST:
            return ()
    for number in numbers:
        page = index.pages[number].page
        scores[number] += NEAREST * similarities.get(page.url, 0.0)
        scores[number] *= _domain_factor(page, domain)
    least = THRESHOLD if has_threshold else 0.0
    best = sorted(numbers, key=scores.__getitem__, reverse=True)[:limit]
    return tuple(
        Candidate(
            page=index.pages[number].page,
            passages=_best_passages(index.pages[number], terms.in_passages),
            score=scores[number],
            explain=partial(_reasons, index, terms, number, domain, scores[number]),
        )
        for number in best
        if scores[number] > 0 and scores[number] >= least
    )


def _domain_factor(page: CandidatePage, domain: str) -> float:
    return SAME_DOMAIN_FACTOR if page.domain == domain != DEFAULT_DOMAIN else 1.0


def _best_passages(page: PageTerms, weights: Mapping[str, float]) -> tuple[int, ...]:
    """The passages with a word of the dispute, best first.

    The first is the best together with its two neighbours, since the subject is where those fit
    too; the others follow by their own scores.
    """
    scores = [0.0] * (len(page.page.passages) + 1)
    for stem, weight in weights.items():
        for number, gain in page.passages.get(stem, {}).items():
            scores[number] += weight * gain
    found = [number for number, score in enumerate(scores) if score > 0]
    found.sort(key=lambda at: -scores[at])
    first = max(found, key=lambda at: scores[at - 1] + scores[at] + scores[at + 1], default=-1)
    return tuple(sorted(found, key=lambda number: number != first))


def _reasons(
    index: CandidateIndex, terms: QueryTerms, number: int, domain: str, score: float
) -> tuple[CandidateReason, ...]:
    """The parts of the *score* of one page, greatest first."""
    reasons = [
        CandidateReason(
            "word" if isinstance(key, str) else "thesaurus", terms.labels[key], weight * gain
        )
        for key, weight in terms.weights.items()
        if (gain := index.gains[key].get(number))
    ]
    factor = _domain_factor(index.pages[number].page, domain)
    meaning = score / factor - sum(reason.score for reason in reasons)
    reasons.append(CandidateReason("meaning", "its subject", meaning))
    if factor > 1:
        reasons.append(CandidateReason("domain", domain, score - score / factor))
    return tuple(sorted(reasons, key=lambda reason: -reason.score))


SEPARATOR = " … "
"""Between parts of a page that do not follow one another."""


class ChosenPage(NamedTuple):
    """A page to retrieve and its ranking, by title and topics while its text has no digest yet."""

    request: SnippetRequest
    candidate: Candidate | None = None
    digest: str = ""

    @property
    def is_read(self) -> bool:
        """Whether the page was ranked by its text."""
        return bool(self.digest)


class OfferedPage(NamedTuple):
    """A page to cite, and the regions where it applies; empty means all."""

    snippet: Snippet
    nations: frozenset[str]
    fits_clearly: bool


def choose_pages(
    indexed: IndexedPages,
    dispute: Dispute,
    domain: str,
    nations: frozenset[str],
    similarities: Mapping[str, float] = NO_SIMILARITIES,
) -> tuple[ChosenPage, ...]:
    """The pages to retrieve, best first: relevant ones, then those whose text is unknown.

    Of the latter, pages whose title or topics match the dispute come first, then those of its
    domain. The choice never depends on which snippets are cached. Only pages that apply in one of
    *nations* count, without any all of them. *similarities* is explained at `rank_candidates`.
    """
    limit = indexed.catalog.retrieval.references
    usable = _usable_pages(indexed, domain, nations)
    read = [number for number in usable if indexed.pages[number][1].record]
    unread = [number for number in usable if not indexed.pages[number][1].record]

    def chosen(candidate: Candidate) -> ChosenPage:
        request, page = indexed.by_key[_key(candidate.page)]
        return ChosenPage(request, candidate, page.digest)

    relevant = rank_candidates(
        indexed.index, dispute, domain, limit=limit, wanted=read, similarities=similarities
    )
    pages = [*map(chosen, relevant)]
    if unread and len(pages) < limit:
        likely = rank_candidates(
            indexed.index, dispute, domain, limit=limit, wanted=unread, has_threshold=False
        )
        known = {_key(candidate.page) for candidate in likely}
        others = (indexed.pages[number][0] for number in unread)
        pages += map(chosen, likely)
        pages += [ChosenPage(o) for o in others if o.domain == domain and o.key not in known]
    return tuple(pages[:limit])


def offer_pages(
    library: PageLibrary,
    dispute: Dispute,
    domain: str,
    retrieved: Sequence[tuple[ChosenPage, Snippet]],
    nations: frozenset[str],
    *,
    similarities: Mapping[str, float] = NO_SIMILARITIES,
) -> tuple[OfferedPage, ...]:
    """The *retrieved* pages that are relevant, best first; ranked again if any text has changed."""
    by_key = {
        chosen.request.key: (chosen, snippet, library.page(chosen.request, snippet.text))
        for chosen, snippet in retrieved
    }
    ranked = [chosen.candidate for chosen, _ in retrieved if chosen.candidate]
    if any(not c.digest or c.digest != page.digest for c, _, page in by_key.values()):
        usable = [p for c, _, p in by_key.values() if _is_usable(p, nations)]
        index = library.compiled(usable)
        ranked = list(
            rank_candidates(index, dispute, domain, limit=len(usable), similarities=similarities)
        )
    offered = []
    for candidate in ranked:
        chosen, snippet, page = by_key[_key(candidate.page)]
        settings = chosen.request.settings
        text = reference_text(snippet.text, candidate, settings.passages, settings.max_words)
        snippet = replace(snippet, text=text)
        offered.append(OfferedPage(snippet, page.nations, candidate.fits_clearly))
    return tuple(offered)


def reference_text(lead: str, candidate: Candidate, passages: int, max_words: int) -> str:
    """*lead* and the best *passages* of the candidate, in the page's order, joined by ` … `.

    With more than one, each is filled up to *max_words* with what follows and precedes it under the
    same heading, since what answers a question often stands beside the words that found it.
    """
    told = [text for _, text in candidate.page.passages]

    size = min(40, 2 * max_words - 1)  # so many words have at least so many characters
    beginning = lead[:size].rstrip(".")

    def is_lead(number: int) -> bool:
        text = told[number]
        if text[:size].rstrip(".") not in lead and beginning not in text:  # nearly always
            return False
        cut = cut_text(told[number], max_words).removesuffix("...")
        return cut in lead or bool(lead and lead.removesuffix("...") in told[number])

    taken: set[int] = set()
    windows: list[range] = []
    for number in candidate.passages:
        if len(windows) < passages and number not in taken and not is_lead(number):
            window = _window(candidate, number, taken, max_words) if passages > 1 else [number]
            windows.append(range(min(window), max(window) + 1))
            taken.update(window)
    windows.sort(key=lambda window: window.start)
    texts = (" ".join(told[at] for at in window if not is_lead(at)) for window in windows)
    return SEPARATOR.join(filter(None, [lead, *(cut_text(text, max_words) for text in texts)]))


def _window(candidate: Candidate, number: int, taken: set[int], max_words: int) -> Sequence[int]:
    """*number* and its free neighbours under the same heading, as many as *max_words* allow."""
    passages = candidate.page.passages
    window = [number]
    words = len(passages[number][1].split())
    for step in (1, -1):
        at = number + step
        while 0 <= at < len(passages) and at not in taken:
            heading, text = passages[at]
            words += len(text.split())
            if heading != passages[number][0] or words > max_words:
                break
            window.append(at)
            at += step
    return window


def _usable_pages(indexed: IndexedPages, domain: str, nations: frozenset[str]) -> list[int]:
    """The pages that may be offered, in order and once each, preferably of *domain*."""
    first: dict[tuple[str, str], int] = {}
    for number, (request, page) in enumerate(indexed.pages):
        # Addresses that differ only in the fragment are one page, unless the selectors differ.
        text = request.source.url.partition("#")[0], request.source.selector
        if (text not in first or request.domain == domain) and _is_usable(page, nations):
            first[text] = number
    return sorted(first.values())


def _is_usable(page: LibraryPage, nations: frozenset[str]) -> bool:
    """Whether the page is not withdrawn and applies in one of *nations*; none means anywhere."""
    is_elsewhere = nations and page.nations and nations.isdisjoint(page.nations)
    return not is_elsewhere and not page.is_withdrawn


def _key(page: CandidatePage) -> PageKey:
    return page.domain, page.url
