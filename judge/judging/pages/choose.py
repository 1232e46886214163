"""Which approved pages are offered to the model, and what of each.

rank all pages by what is known of them -> retrieve the best -> offer those that bear on the dispute
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from judge.judging.dispute import Dispute
from judge.judging.pages.candidates import Candidate, rank_candidates
from judge.judging.pages.counted_pages import CandidatePage
from judge.judging.pages.library import LibraryPage, PageKey, PageLibrary, requests_of
from judge.judging.pages.page_records import SnippetRequest
from judge.judging.sources import SourceCatalog
from judge.types.judgements import Snippet

ASSUMED_NATION = "england"
"""Whose law is meant by a dispute that names no nation: most of our users live there."""

SEPARATOR = " … "
"""Between a page's lead and the passage of it that bears more on the dispute."""


@dataclass(frozen=True, slots=True)
class ChosenPage:
    """A page to retrieve, and how it was ranked; None where its text was not known."""

    request: SnippetRequest
    candidate: Candidate | None


@dataclass(frozen=True, slots=True)
class OfferedPage:
    """A page to cite, and the nations where it applies: none for all of them."""

    snippet: Snippet
    nations: frozenset[str]


def choose_pages(
    library: PageLibrary,
    catalog: SourceCatalog,
    dispute: Dispute,
    domain: str,
    nations: frozenset[str],
) -> tuple[ChosenPage, ...]:
    """The pages to retrieve, best first: those that fit, then those of unknown text that may.

    The choice depends on what pages say, never on which snippets are cached.
    """
    limit = catalog.retrieval.references
    usable = {
        _key(request): request
        for request in requests_of(catalog)
        if _is_usable(library.page(request), request, nations)
    }
    unread = {key for key, request in usable.items() if not library.page(request).is_read}
    index = library.index_of(catalog)
    fitting = rank_candidates(
        index, dispute, domain,
        limit=limit, is_wanted=lambda p: (p.domain, p.url) in usable.keys() - unread,
    )  # fmt: skip
    chosen = [ChosenPage(usable[c.page.domain, c.page.url], c) for c in fitting]
    if unread and len(chosen) < limit:
        likely = rank_candidates(
            index, dispute, domain,
            limit=limit, is_wanted=lambda p: (p.domain, p.url) in unread, has_threshold=False,
        )  # fmt: skip
        keys = [(c.page.domain, c.page.url) for c in likely]
        keys += [key for key in usable if key in unread and key[0] == domain]
        chosen += [ChosenPage(usable[key], None) for key in dict.fromkeys(keys)]
    return tuple(chosen[:limit])


def offer_pages(
    library: PageLibrary,
    dispute: Dispute,
    domain: str,
    retrieved: Sequence[tuple[ChosenPage, Snippet]],
    nations: frozenset[str],
) -> tuple[OfferedPage, ...]:
    """Of the *retrieved* pages those that bear on the dispute, best first."""
    if any(chosen.candidate is None for chosen, _ in retrieved):
        retrieved = _ranked_anew(library, dispute, domain, retrieved, nations)
    return tuple(
        OfferedPage(
            replace(snippet, text=_quoted(snippet.text, chosen.candidate)),
            _applies_in(library.page(chosen.request), chosen.request),
        )
        for chosen, snippet in retrieved
        if chosen.candidate is not None
    )


def _ranked_anew(
    library: PageLibrary,
    dispute: Dispute,
    domain: str,
    retrieved: Sequence[tuple[ChosenPage, Snippet]],
    nations: frozenset[str],
) -> list[tuple[ChosenPage, Snippet]]:
    """The *retrieved* pages by what they say, now that it is known."""
    by_key = {_key(chosen.request): (chosen, snippet) for chosen, snippet in retrieved}
    pages = [
        library.page_with_lead(chosen.request, snippet.text)
        for chosen, snippet in retrieved
        if _is_usable(library.page(chosen.request), chosen.request, nations)
    ]
    ranked = rank_candidates(library.compiled(pages), dispute, domain, limit=len(pages))
    found = []
    for candidate in ranked:
        chosen, snippet = by_key[candidate.page.domain, candidate.page.url]
        found.append((replace(chosen, candidate=candidate), snippet))
    return found


def _key(request: SnippetRequest) -> PageKey:
    return request.domain, request.source.url


def _applies_in(page: LibraryPage, request: SnippetRequest) -> frozenset[str]:
    """The nations configured and those found on the page; none for all."""
    return page.nations | frozenset(request.source.nations)


def _is_usable(page: LibraryPage, request: SnippetRequest, nations: AbstractSet[str]) -> bool:
    """Whether the page is in force, and in a nation that is named or, if none is, assumed."""
    applies_in = _applies_in(page, request)
    is_near = not applies_in or bool(applies_in & (nations or {ASSUMED_NATION}))
    return is_near and not page.is_withdrawn


def _quoted(lead: str, candidate: Candidate | None) -> str:
    """*lead* and, where another passage bears more on the dispute, that one too."""
    passage = _passage(candidate.page, candidate.passage) if candidate else ""
    start = passage.removesuffix("...")[: len(lead)]
    if not passage or passage in lead or lead.removesuffix("...") in passage or start in lead:
        return lead
    return f"{lead}{SEPARATOR}{passage}"


def _passage(page: CandidatePage, number: int) -> str:
    return page.passages[number][1] if number >= 0 else ""
