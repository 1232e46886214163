"""Chooses which approved pages the model is offered, and which text of each.

rank all pages by their known text -> retrieve the best -> offer those relevant to the dispute
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from judge.library.dispute import Dispute
from judge.library.pages.approved_pages import IndexedPages, LibraryPage, PageLibrary
from judge.library.pages.page_records import PageKey, SnippetRequest
from judge.library.rank.candidate_index import CandidatePage
from judge.library.rank.candidates import NO_SIMILARITIES, Candidate, rank_candidates
from judge.library.rank.reference_text import reference_text
from judge.types.references import Snippet


class ChosenPage(NamedTuple):
    """A page to retrieve and its ranking, which is by title and topics while its text is unknown.

    `candidate` is None when nothing of them matched, `digest` that of the known text.
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
    read, unread = _usable_pages(indexed, domain, nations)
    relevant = rank_candidates(
        indexed.index, dispute, domain, limit=limit, wanted=read, similarities=similarities
    )
    chosen = []
    for candidate in relevant:
        request, page = indexed.by_key[_key(candidate.page)]
        chosen.append(ChosenPage(request, candidate, page.digest))
    if unread and len(chosen) < limit:
        likely = rank_candidates(
            indexed.index, dispute, domain,
            limit=limit, wanted=sorted(unread), has_threshold=False,
        )  # fmt: skip
        matched = [ChosenPage(indexed.by_key[_key(c.page)][0], c) for c in likely]
        others = (indexed.pages[number][0] for number in unread)
        known = {page.request.key for page in matched}
        chosen += matched
        chosen += [ChosenPage(o) for o in others if o.domain == domain and o.key not in known]
    return tuple(chosen[:limit])


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
    by_key = {chosen.request.key: (chosen, snippet) for chosen, snippet in retrieved}
    pages = {key: library.page(chosen.request, s.text) for key, (chosen, s) in by_key.items()}
    ranked = [chosen.candidate for chosen, _ in retrieved if chosen.candidate]
    if any(not c.is_read or c.digest != pages[c.request.key].digest for c, _ in retrieved):
        usable = [
            pages[key]
            for key, (chosen, _) in by_key.items()
            if _is_usable(chosen.request, pages[key], nations)
        ]
        index = library.compiled(usable)
        ranked = list(
            rank_candidates(index, dispute, domain, limit=len(usable), similarities=similarities)
        )
    offered = []
    for candidate in ranked:
        chosen, snippet = by_key[_key(candidate.page)]
        request, settings = chosen.request, chosen.request.settings
        text = reference_text(snippet.text, candidate, settings.passages, settings.max_words)
        nations_of_page = _nations(request, pages[request.key])
        offered.append(
            OfferedPage(replace(snippet, text=text), nations_of_page, candidate.fits_clearly)
        )
    return tuple(offered)


def _usable_pages(
    indexed: IndexedPages, domain: str, nations: frozenset[str]
) -> tuple[list[int], list[int]]:
    """The numbers of the pages that may be offered: those with known text, and the others.

    Each page is there once; one in two domains as configured in *domain*.
    """
    first: dict[tuple[str, str], int] = {}
    for number, (request, page) in enumerate(indexed.pages):
        # Addresses that differ only in the fragment are one page, unless the selectors differ.
        text = request.source.url.partition("#")[0], request.source.selector
        is_first = text not in first or request.domain == domain
        if is_first and _is_usable(request, page, nations):
            first[text] = number
    read = sorted(number for number in first.values() if indexed.pages[number][1].digest)
    return read, [number for number in first.values() if not indexed.pages[number][1].digest]


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
