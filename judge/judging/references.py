"""What a verdict may cite: pages of the dispute's domain and passages of its scope, numbered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from judge.errors import BadScope
from judge.judging.dispute import Dispute
from judge.judging.model_caller import Deadline
from judge.judging.nations import find_nations
from judge.judging.pages.candidates import NO_MEANING
from judge.judging.pages.choose import (
    ASSUMED_NATION,
    ChosenPage,
    OfferedPage,
    choose_pages,
    offer_pages,
)
from judge.judging.pages.meaning import PageMeaning
from judge.judging.pages.page_records import SnippetRequest
from judge.judging.pages.retriever import SnippetRetriever
from judge.judging.pages.snippet_store import CachedPage
from judge.judging.prompts.render import number_references
from judge.judging.sources import SourceCatalog
from judge.judging.sources_file.tables import NATIONS
from judge.ports import PassageFinder
from judge.types.references import CitablePassages, Reference, RetrievalSettings, Snippet
from judge.types.requests import JudgeRequest

Arrange = Callable[[Sequence[Snippet]], Sequence[Snippet]]
"""What becomes of the snippets before they are numbered."""


@dataclass(frozen=True, slots=True)
class CollectedReferences:
    """The references, and what the reader should know of how they came about.

    `left_out` counts the pages that fit and could not be read. `assumed_nation` is whose law the
    pages tell, where the dispute does not say.
    """

    references: tuple[Reference, ...]
    left_out: int
    passage_warnings: tuple[str, ...]
    assumed_nation: str | None


@dataclass(frozen=True, slots=True)
class ReferenceCollector:
    """Finds what may be cited; `passages` is None where nothing is indexed."""

    retriever: SnippetRetriever
    passages: PassageFinder | None = None
    arrange: Arrange = tuple
    """Leaves them as they are but for variants of golden cases, which turn or poison them."""
    meaning: PageMeaning | None = None
    """Joins the choice of pages by words; None without an embedder."""

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
        deadline: Deadline,
    ) -> CollectedReferences:
        """The pages that bear on the dispute, then *passages*; a page that fails is left out."""
        nations = find_nations(dispute)
        indexed = await self.retriever.indexed(catalog)
        nearness = await self.meaning.nearness(dispute.folded) if self.meaning else NO_MEANING
        chosen = choose_pages(indexed, dispute, domain, nations, nearness)
        pages = await self.retriever.retrieve(_in_half_the_time(chosen, deadline))
        retrieved = [(c, p.snippet) for c, p in zip(chosen, pages) if p.snippet is not None]
        offered = offer_pages(
            self.retriever.library, dispute, domain, retrieved, nations, nearness=nearness
        )
        snippets = self.arrange([*(page.snippet for page in offered), *passages.snippets])
        return CollectedReferences(
            references=number_references(snippets),
            left_out=sum(_is_missed(one, page, domain) for one, page in zip(chosen, pages)),
            passage_warnings=passages.warnings,
            assumed_nation=None if nations else _assumed_nation(offered),
        )


def _is_missed(chosen: ChosenPage, page: CachedPage, domain: str) -> bool:
    """Whether a page that fits, or may by its domain, could not be read."""
    may_fit = chosen.candidate is not None or chosen.request.domain == domain
    return may_fit and page.snippet is None and not page.is_withdrawn


def _in_half_the_time(chosen: Sequence[ChosenPage], deadline: Deadline) -> list[SnippetRequest]:
    """The requests of pages that take half of the time at most.

    A verdict without a slow page is better than no verdict.
    """
    half_s = deadline.total_s / 2
    return [
        request
        if request.settings.fetch_timeout_s <= half_s
        else replace(request, settings=replace(request.settings, fetch_timeout_s=half_s))
        for request in (one.request for one in chosen)
    ]


def _assumed_nation(offered: Sequence[OfferedPage]) -> str | None:
    """The nation we took for meant, if a page that is offered does not hold in all of them."""
    is_partial = any(page.nations and not page.nations >= set(NATIONS) for page in offered)
    return ASSUMED_NATION if is_partial else None
