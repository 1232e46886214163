"""The tools over the indexed documents: `search_documents`, `fetch` and `list_collections`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from judge.bootstrap import Services
from judge.entrypoints.document_requests import MAX_RESULTS, MAX_SCOPE, corpus_of
from judge.entrypoints.mcp.results import Json, fitting
from judge.entrypoints.response_models import Chunk, chunks, metadata
from judge.errors import NotFound
from judge.search.scope_matching import matches_scope
from judge.search.scopes import format_scope, parse_scope, scope_text
from judge.search.service import MAX_QUERY, SearchOutcome, SearchParameters
from judge.types.search import CollectionStats, Passage

MAX_NEIGHBOURS = 5

Context = Annotated[
    str | None,
    Field(
        max_length=MAX_SCOPE,
        description="Where to look, as @mentions: `(@collection:a,b OR @tag:x) -@folder:old`.",
    ),
]


class _DocumentRequest(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DocumentQuery(_DocumentRequest):
    """Search the user's indexed documents; the best passages come first.

    Pass the user's @mentions on in `context`, or leave them in `query`: both are understood and
    hold together. An empty answer with a `hint` means that the scope was too narrow. Read on with
    `fetch` and a result's `id`. Cite `document_title` or `metadata.source_url`.
    """

    query: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUERY),
        Field(description='What to look for; "quoted words" must occur, -word must not.'),
    ]
    context: Context = None
    limit: Annotated[
        int, Field(ge=1, le=MAX_RESULTS, description="The largest number of passages.")
    ] = 10
    include_sources: Annotated[
        bool, Field(description="Say of each passage where it stands, in `metadata`.")
    ] = True


class PassageQuery(_DocumentRequest):
    """Read a passage that a search found, with the passages before and after it."""

    id: Annotated[str, Field(min_length=1, max_length=MAX_SCOPE, description="A result's `id`.")]
    context: Annotated[
        str | None,
        Field(
            max_length=MAX_SCOPE,
            description="The scope of the user: nothing outside of it is shown.",
        ),
    ] = None
    neighbours: Annotated[
        int, Field(ge=0, le=MAX_NEIGHBOURS, description="How many passages on either side.")
    ] = 1


class CollectionsQuery(_DocumentRequest):
    """List the collections of indexed documents, which `@collection:name` can name."""


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """What was found. `total_found` counts before the limit; `search_time` is in milliseconds."""

    query: str
    context: str | None
    results: list[Chunk]
    total_found: int
    search_time: float
    filters_applied: Json
    truncated: bool
    hint: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NearbyPassage:
    """One passage of the document, in its order."""

    id: str
    position: int
    text: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class FetchedPassage:
    """The passage asked for, and all in its neighbourhood including itself."""

    id: str
    title: str
    url: str
    text: str
    document_id: str
    collection_name: str
    passages: list[NearbyPassage]
    metadata: dict[str, Any]
    truncated: bool
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Collections:
    """The collections by name."""

    collections: list[CollectionStats]
    total: int
    truncated: bool
    hint: str | None = None


async def search_documents(services: Services, asked: DocumentQuery) -> FoundPassages:
    """The relevant passages; raises EmptyQuery, BadScope and IndexUnavailable."""
    found = await corpus_of(services).search.search(
        SearchParameters(asked.query, context=asked.context, limit=asked.limit)
    )
    results = fitting(
        chunks(found.results.hits, found.question, with_metadata=asked.include_sources)
    )
    return FoundPassages(
        query=asked.query,
        context=asked.context,
        results=results,
        total_found=found.results.total,
        search_time=found.elapsed_ms,
        filters_applied=format_scope(found.scope),
        truncated=len(results) < found.results.total,
        hint=_hint(found, len(results)),
        warnings=found.results.warnings,
    )


def _hint(found: SearchOutcome, shown: int) -> str | None:
    """What the search says, and how to see what is not shown."""
    parts = [found.hint] if found.hint else []
    if left := found.results.total - shown:
        is_cut = shown < len(found.results.hits)
        wider = "narrow" if is_cut else f"raise the limit ({MAX_RESULTS} at most), or narrow"
        parts.append(f"{left} more match: {wider} the query or its scope.")
    return " ".join(parts) or None


async def fetch(services: Services, asked: PassageQuery) -> FetchedPassage:
    """The passage and its neighbours; raises NotFound, BadScope and IndexUnavailable."""
    scope = parse_scope(asked.context or "", services.clock.now())
    passages = await corpus_of(services).search.index.around(
        asked.id, before=asked.neighbours, after=asked.neighbours
    )
    wanted = asked.id.casefold()
    passage = next((one for one in passages if one.id.casefold() == wanted), None)
    if passage is None or not matches_scope(passage, scope):
        where = f" in {scope_text(scope)}" if scope.clauses else ""
        raise NotFound(
            f"There is no passage {asked.id[:200]!r}{where}. Use the `id` of a search result; ids "
            "change when a document is indexed again."
        )
    shown = _nearest_first_cut(passage, passages)
    is_cut = len(shown) < len(passages)
    return FetchedPassage(
        id=passage.id,
        title=passage.title,
        url=passage.source_url,
        text=passage.text,
        document_id=passage.document_id,
        collection_name=passage.collection,
        passages=shown,
        metadata=metadata(passage),
        truncated=is_cut,
        hint="Not all neighbours fit into one answer: ask for fewer." if is_cut else None,
    )


def _nearest_first_cut(passage: Passage, passages: Sequence[Passage]) -> list[NearbyPassage]:
    """Those of *passages* that fit, the nearest to *passage* before others, in their order."""
    by_distance = sorted(passages, key=lambda one: abs(one.position - passage.position))
    kept = fitting(_nearby(one) for one in by_distance)
    return sorted(kept, key=lambda one: one.position)


def _nearby(passage: Passage) -> NearbyPassage:
    return NearbyPassage(
        id=passage.id,
        position=passage.position,
        text=passage.text,
        start_line=passage.start_line,
        end_line=passage.end_line,
    )


async def list_collections(services: Services, asked: CollectionsQuery) -> Collections:
    """The collections with their sizes; raises IndexUnavailable."""
    del asked
    found = await corpus_of(services).catalogue.collections()
    shown = fitting(found)
    left = len(found) - len(shown)
    return Collections(
        collections=shown,
        total=len(found),
        truncated=bool(left),
        hint=f"{left} more can be named in a scope all the same." if left else None,
    )
