"""Which approved pages are offered to the model, and what of each.

rank all pages by what is known of them -> retrieve the best -> offer those that bear on the dispute
"""

import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from judge.judging.dispute import Dispute
from judge.judging.pages.candidates import NO_MEANING, Candidate, rank_candidates
from judge.judging.pages.library import IndexedPages, LibraryPage, PageLibrary, UsablePages
from judge.judging.pages.page_records import PageKey, SnippetRequest
from judge.judging.pages.page_terms import CandidatePage
from judge.judging.pages.plain import cut_text
from judge.types.references import Snippet

ASSUMED_NATION = "england"
"""Whose law is meant by a dispute that names no nation: most of our users live there."""

SEPARATOR = " … "
"""Between a page's lead and the passage of it that bears more on the dispute."""


class ChosenPage(NamedTuple):
    """A page to retrieve, and how it was ranked by what it said; None for one of unknown text."""

    request: SnippetRequest
    candidate: Candidate | None = None
    digest: str = ""
    guess: Candidate | None = None
    """How one of unknown text was ranked by its title and topics, if they were touched."""


class OfferedPage(NamedTuple):
    """A page to cite, and the nations where it applies: none for all of them."""

    snippet: Snippet
    nations: frozenset[str]


def choose_pages(
    indexed: IndexedPages,
    dispute: Dispute,
    domain: str,
    nations: frozenset[str],
    nearness: Mapping[str, float] = NO_MEANING,
) -> tuple[ChosenPage, ...]:
    """The pages to retrieve, best first: those that fit, then those of unknown text that may.

    Of the latter those whose title or topics the dispute touches come first, then those of its
    domain. The choice never depends on which snippets are cached. *nearness* as `rank_candidates`
    has it.
    """
    limit = indexed.catalog.retrieval.references
    read, unread = _usable(indexed, domain, nations)
    fitting = rank_candidates(
        indexed.index, dispute, domain, limit=limit, wanted=read, nearness=nearness
    )
    chosen = []
    for one in fitting:
        request, page = indexed.by_key[_key(one.page)]
        chosen.append(ChosenPage(request, one, page.digest))
    if unread and len(chosen) < limit:
        likely = rank_candidates(
            indexed.index, dispute, domain,
            limit=limit, wanted=sorted(unread), has_threshold=False,
        )  # fmt: skip
        touched = [ChosenPage(indexed.by_key[_key(one.page)][0], guess=one) for one in likely]
        others = (indexed.pages[number][0] for number in unread)
        known = {page.request.key for page in touched}
        chosen += touched
        chosen += [ChosenPage(o) for o in others if o.domain == domain and o.key not in known]
    return tuple(chosen[:limit])


def offer_pages(
    library: PageLibrary,
    dispute: Dispute,
    domain: str,
    retrieved: Sequence[tuple[ChosenPage, Snippet]],
    nations: frozenset[str],
    *,
    nearness: Mapping[str, float] = NO_MEANING,
) -> tuple[OfferedPage, ...]:
    """Of the *retrieved* pages those that bear on the dispute, best first.

    Pages that are known now by other words than those they were chosen by are ranked once more.
    """
    found = {chosen.request.key: (chosen, snippet) for chosen, snippet in retrieved}
    pages = {key: library.page(chosen.request, s.text) for key, (chosen, s) in found.items()}
    ranked = [chosen.candidate for chosen, _ in retrieved if chosen.candidate]
    if any(not one.digest or one.digest != pages[one.request.key].digest for one, _ in retrieved):
        usable = [
            pages[key]
            for key, (chosen, _) in found.items()
            if _is_usable(chosen.request, pages[key], nations)
        ]
        index = library.compiled(usable)
        ranked = list(rank_candidates(index, dispute, domain, limit=len(usable), nearness=nearness))
    offered = []
    for candidate in ranked:
        chosen, snippet = found[_key(candidate.page)]
        request = chosen.request
        text = _quoted(snippet.text, candidate, request.settings.max_words)
        # `replace` takes three times as long, for each page of each dispute.
        quoted = Snippet(
            snippet.url, snippet.title, text, snippet.fetched_at, snippet.updated, snippet.is_stale
        )
        offered.append(OfferedPage(quoted, _nations(request, pages[request.key])))
    return tuple(offered)


def _usable(indexed: IndexedPages, domain: str, nations: frozenset[str]) -> UsablePages:
    """The pages that may be offered, each once; of one in two domains, that of *domain*."""
    if (domain, nations) not in indexed.usable:
        first: dict[tuple[str, str], int] = {}
        for number, (request, page) in enumerate(indexed.pages):
            # With another fragment it is the same page, unless that goes with another selector.
            text = request.source.url.partition("#")[0], request.source.selector
            is_first = text not in first or request.domain == domain
            if is_first and _is_usable(request, page, nations):
                first[text] = number
        read = [number for number in first.values() if indexed.pages[number][1].is_read]
        unread = [number for number in first.values() if not indexed.pages[number][1].is_read]
        indexed.usable[domain, nations] = UsablePages(sorted(read), unread)
    return indexed.usable[domain, nations]


def _is_usable(request: SnippetRequest, page: LibraryPage, nations: frozenset[str]) -> bool:
    """Whether the page is in force, and in a nation that is named or, if none is, assumed."""
    applies_in = _nations(request, page)
    is_near = not applies_in or bool(applies_in & (nations or {ASSUMED_NATION}))
    return is_near and not page.is_withdrawn


def _nations(request: SnippetRequest, page: LibraryPage) -> frozenset[str]:
    """The nations configured and those found on the page; none for all."""
    return page.nations | frozenset(request.source.nations)


def _key(page: CandidatePage) -> PageKey:
    return page.domain, page.url


def _quoted(lead: str, candidate: Candidate, max_words: int) -> str:
    """*lead* and, where another passage bears more on the dispute, that one too."""
    if candidate.passage < 0:
        return lead
    return _with_passage(lead, candidate.page.passages[candidate.passage][1], max_words)


@functools.lru_cache(maxsize=2048)
def _with_passage(lead: str, text: str, max_words: int) -> str:
    """Remembered: the same few passages are quoted all day, and looked up by this very text."""
    passage = cut_text(text, max_words)
    is_lead = passage.removesuffix("...") in lead or lead.removesuffix("...") in text
    return lead if is_lead else f"{lead}{SEPARATOR}{passage}"
