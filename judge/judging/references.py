"""What a verdict may cite: pages of the dispute's domain and passages of its scope, numbered."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from judge.errors import BadScope
from judge.judging.dispute import Dispute
from judge.judging.model_caller import Deadline
from judge.judging.nations import find_nations
from judge.judging.pages.choose import choose_sources
from judge.judging.pages.retriever import SnippetRetriever
from judge.judging.prompts.render import number_references
from judge.judging.sources import SourceCatalog
from judge.judging.sources_file.tables import NATIONS
from judge.ports import PassageFinder
from judge.types.judgements import (
    CitablePassages,
    JudgeRequest,
    Reference,
    RetrievalSettings,
    Snippet,
    SourceSpec,
)

ASSUMED_NATION = "england"
"""Whose law is meant by a dispute that names no nation: most of our users live there."""


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
        """The pages of *domain* that fit, then *passages*; a page that fails is left out."""
        nations = find_nations(dispute.folded)
        sources = _sources(dispute, domain, catalog, nations)
        pages = await self._retrieve(domain, sources, catalog.retrieval, deadline)
        references = number_references([*pages, *passages.snippets])
        return CollectedReferences(
            references=references,
            left_out=len(sources) - sum(r.kind == "page" for r in references),
            passage_warnings=passages.warnings,
            assumed_nation=None if nations else _assumed_nation(references, sources),
        )

    async def _retrieve(
        self,
        domain: str,
        sources: Sequence[SourceSpec],
        settings: RetrievalSettings,
        deadline: Deadline,
    ) -> tuple[Snippet, ...]:
        """The snippets of *sources*, in half of the time at most.

        A verdict without a slow page is better than no verdict.
        """
        timeout_s = min(settings.fetch_timeout_s, deadline.total_s / 2)
        settings = replace(settings, fetch_timeout_s=timeout_s)
        return await self.retriever.retrieve(domain, sources, settings)


def _sources(
    dispute: Dispute, domain: str, catalog: SourceCatalog, nations: frozenset[str]
) -> tuple[SourceSpec, ...]:
    """The pages of *domain* that fit *dispute* best; none for the default domain."""
    approved = next((spec.sources for spec in catalog.domains if spec.name == domain), ())
    return choose_sources(
        approved if nations else [s for s in approved if _applies_by_default(s)],
        dispute,
        limit=catalog.retrieval.sources_per_domain,
        nations=nations,
    )


def _applies_by_default(source: SourceSpec) -> bool:
    return not source.nations or ASSUMED_NATION in source.nations


def _assumed_nation(references: Sequence[Reference], sources: Sequence[SourceSpec]) -> str | None:
    """The nation we took for meant, if a page that is quoted does not hold in all of them."""
    quoted = {reference.url for reference in references}
    partial = (s for s in sources if s.nations and not set(NATIONS) <= set(s.nations))
    return ASSUMED_NATION if any(source.url in quoted for source in partial) else None
