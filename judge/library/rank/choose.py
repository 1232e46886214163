"""Chooses which approved pages the model is offered, and which text of each.

rank all pages by their known text -> retrieve the best -> offer those relevant to the dispute
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from judge.library.dispute import Dispute
from judge.library.extract.page_passages import cut_text
from judge.library.pages.approved_pages import IndexedPages, LibraryPage, PageLibrary
from judge.library.pages.page_records import PageKey, SnippetRequest
from judge.library.rank.candidate_index import CandidatePage
from judge.library.rank.candidates import NO_SIMILARITIES, Candidate, rank_candidates
from judge.types.references import Snippet

SEPARATOR = " … "
"""Between parts of a page that do not follow one another."""


class ChosenPage(NamedTuple):
    """A page to retrieve and its ranking, which is by title and topics while its text is unknown.

    `candidate` is None when nothing of them matched; `digest` identifies the known text.
    """

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
    """The *retrieved* pages that are relevant to the dispute, best first.

    All are ranked again if the text of any has changed since it was chosen.
    """
    by_key = {
        chosen.request.key: (chosen, snippet, library.page(chosen.request, snippet.text))
        for chosen, snippet in retrieved
    }
    ranked = [chosen.candidate for chosen, _ in retrieved if chosen.candidate]
    if any(not c.digest or c.digest != page.digest for c, _, page in by_key.values()):
        usable = [p for c, _, p in by_key.values() if _is_usable(c.request, p, nations)]
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
        offered.append(OfferedPage(snippet, _nations(chosen.request, page), candidate.fits_clearly))
    return tuple(offered)


def reference_text(lead: str, candidate: Candidate, passages: int, max_words: int) -> str:
    """*lead* and the best *passages* of the candidate, in the page's order, joined by ` … `.

    With more than one, each is filled up to *max_words* with what follows and precedes it under the
    same heading, since what answers a question often stands beside the words that found it.
    """
    told = [text for _, text in candidate.page.passages]
    is_lead = [
        cut_text(text, max_words).removesuffix("...") in lead
        or bool(lead and lead.removesuffix("...") in text)
        for text in told
    ]
    taken: set[int] = set()
    windows: list[range] = []
    for number in candidate.passages:
        if len(windows) < passages and number not in taken and not is_lead[number]:
            window = _window(candidate, number, taken, max_words) if passages > 1 else [number]
            windows.append(range(min(window), max(window) + 1))
            taken.update(window)
    windows.sort(key=lambda window: window.start)
    texts = (" ".join(told[at] for at in window if not is_lead[at]) for window in windows)
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
    """The numbers of the pages that may be offered, in order.

    Each page is there once; one in two domains as configured in *domain*.
    """
    first: dict[tuple[str, str], int] = {}
    for number, (request, page) in enumerate(indexed.pages):
        # Addresses that differ only in the fragment are one page, unless the selectors differ.
        text = request.source.url.partition("#")[0], request.source.selector
        is_first = text not in first or request.domain == domain
        if is_first and _is_usable(request, page, nations):
            first[text] = number
    return sorted(first.values())


def _is_usable(request: SnippetRequest, page: LibraryPage, nations: frozenset[str]) -> bool:
    """Whether the page is not withdrawn and applies in one of *nations*; none means anywhere."""
    applies_in = _nations(request, page)
    is_near = not applies_in or not nations or bool(applies_in & nations)
    return is_near and not page.is_withdrawn


def _nations(request: SnippetRequest, page: LibraryPage) -> frozenset[str]:
    """The nations configured and those found on the page; empty means all."""
    return page.nations | frozenset(request.source.nations)


def _key(page: CandidatePage) -> PageKey:
    return page.domain, page.url
