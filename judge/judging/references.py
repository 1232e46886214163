"""Collects what a verdict may cite: approved pages and passages of the scope, numbered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from judge.errors import BadScope
from judge.library.country import Country, find_abroad, find_regions
from judge.library.dispute import Dispute
from judge.library.pages.page_records import CachedPage
from judge.library.pages.retriever import SnippetRetriever
from judge.library.rank.candidates import (
    NO_SIMILARITIES,
    ChosenPage,
    OfferedPage,
    choose_pages,
    offer_pages,
)
from judge.library.rank.page_embeddings import PageEmbeddings
from judge.library.search.service import CitablePassageFinder
from judge.library.sources.catalog import SourceCatalog
from judge.text.untrusted import safe_text
from judge.types.references import CitablePassages, Reference, RetrievalSettings, Snippet
from judge.types.requests import JudgeRequest

Arrange = Callable[[Sequence[Snippet]], Sequence[Snippet]]
"""Reorders or changes the snippets before they are numbered."""


@dataclass(frozen=True, slots=True)
class CollectedReferences:
    """The references, and what the reader should know about them."""

    references: tuple[Reference, ...]
    left_out: int
    """How many pages fit and could not be read."""
    passage_warnings: tuple[str, ...]
    assumed_region: str
    """Whose law was assumed; "" when the dispute names a region or it makes no difference."""
    set_in: str
    """The other country where the dispute is set, or ""."""
    doubtful: frozenset[int]
    """The numbers of pages that fit, but not clearly."""


NO_REFERENCES = CollectedReferences((), 0, (), "", "", frozenset())


@dataclass(frozen=True, slots=True)
class ReferenceCollector:
    """Finds what may be cited; `passages` is None without a document index."""

    retriever: SnippetRetriever
    passages: CitablePassageFinder | None = None
    arrange: Arrange = tuple
    """Changes nothing, except in variants of golden cases, which reorder or poison snippets."""
    embeddings: PageEmbeddings | None = None
    """Adds the similarity of embeddings to the ranking of pages; None without an embedder."""

    async def find_passages(
        self, request: JudgeRequest, settings: RetrievalSettings
    ) -> CitablePassages:
        """The best passages of the request's scope, none when it has no scope.

        Raises BadScope and IndexUnavailable.
        """
        if request.scope is None:
            return CitablePassages()
        if self.passages is None:
            raise BadScope("Nothing is indexed here, so a scope cannot be used. Leave it out.")
        dispute = f"{request.query}\n{request.context}"
        return await self.passages.find(dispute, request.scope, settings.passages_per_scope)

    async def collect(
        self,
        dispute: Dispute,
        domain: str,
        passages: CitablePassages,
        catalog: SourceCatalog,
        *,
        cites_pages: bool = True,
    ) -> CollectedReferences:
        """The relevant pages, then *passages*; a page that cannot be fetched is left out."""
        named = find_regions(catalog.country, dispute)
        nations = catalog.country.regions_of_law(named)
        indexed = await self.retriever.indexed(catalog)
        similarities = (
            await e.similarities(dispute.folded) if (e := self.embeddings) else NO_SIMILARITIES
        )
        chosen: tuple[ChosenPage, ...] = ()
        if cites_pages:
            chosen = choose_pages(indexed, dispute, domain, nations, similarities)
        pages = await self.retriever.retrieve([page.request for page in chosen])
        retrieved = [(c, p.snippet) for c, p in zip(chosen, pages) if p.snippet is not None]
        offered = offer_pages(
            self.retriever.library, dispute, domain, retrieved, nations, similarities=similarities
        )
        snippets = self.arrange([*(page.snippet for page in offered), *passages.snippets])
        references = number_references(snippets)
        doubtful = {page.snippet.url for page in offered if not page.fits_clearly}
        return CollectedReferences(
            references=references,
            left_out=sum(_is_left_out(c, page, domain) for c, page in zip(chosen, pages)),
            passage_warnings=passages.warnings,
            assumed_region="" if named else _assumed_region(catalog.country, offered),
            set_in=find_abroad(catalog.country, dispute, named),
            doubtful=frozenset(one.number for one in references if one.url in doubtful),
        )


def number_references(snippets: Sequence[Snippet]) -> tuple[Reference, ...]:
    """The snippets as references 1 to n, with texts made safe; those left empty are dropped."""
    texts = [(snippet, safe_text(snippet.text)) for snippet in snippets]
    return tuple(
        Reference(
            number=number,
            kind=snippet.kind,
            url=snippet.url,
            title=snippet.title,
            text=text,
            fetched_at=snippet.fetched_at.replace(microsecond=0),
            updated=snippet.updated,
            stale=snippet.is_stale,
        )
        for number, (snippet, text) in enumerate(((s, t) for s, t in texts if t), start=1)
    )


def _is_left_out(chosen: ChosenPage, page: CachedPage, domain: str) -> bool:
    """Whether a page could not be read that fits, or may fit since it has the same domain."""
    may_fit = chosen.is_read or chosen.request.domain == domain
    return may_fit and page.snippet is None and not page.is_withdrawn


def _assumed_region(country: Country, offered: Sequence[OfferedPage]) -> str:
    """The region that was assumed, if a page that is offered does not apply in every region."""
    is_partial = any(p.nations and not p.nations >= set(country.regions) for p in offered)
    return country.assumed if is_partial else ""
