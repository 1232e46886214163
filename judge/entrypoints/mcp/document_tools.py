"""The tools over the indexed documents: `search_documents`, `fetch` and `list_collections`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from judge.bootstrap.services import Services
from judge.entrypoints.mcp.results import Json, size_of
from judge.entrypoints.response_models import Chunk, chunks, metadata
from judge.errors import NotFound
from judge.library.scopes.grammar import parse_scope
from judge.library.scopes.scopes import format_scope, scope_text
from judge.library.search.answer_format import format_answer
from judge.library.search.service import MAX_QUERY, MAX_RESULTS, SearchParameters
from judge.types.request_fields import StrictModel
from judge.types.requests import MAX_SCOPE
from judge.types.search import CollectionStats, Hit, fold_name

Context = Annotated[
    str | None,
    Field(
        max_length=MAX_SCOPE,
        description="Where to look, as @mentions: `(@collection:a,b OR @tag:x) -@folder:old`.",
    ),
]


class DocumentQuery(StrictModel):
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
    format: Annotated[
        Literal["json", "answer"],
        Field(
            description="`answer`: the passages as numbered blocks in `answer`, to cite by the "
            'marks that end it, such as <cite i="1"/>.'
        ),
    ] = "json"


class PassageQuery(StrictModel):
    """Read a passage that a search found, with the passages before and after it.

    With `context`, nothing outside of that scope is shown.
    """

    id: Annotated[str, Field(min_length=1, max_length=MAX_SCOPE, description="A result's `id`.")]
    context: Context = None
    neighbours: Annotated[
        int, Field(ge=0, le=5, description="How many passages on either side.")
    ] = 1


class CollectionsQuery(StrictModel):
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
    answer: str | None = None
    """With `format` `answer`: the texts as numbered blocks; those in `results` are empty then."""
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
    """The requested passage; `passages` has it with its neighbours."""

    id: str
    title: str
    url: str
    text: str
    document_id: str
    collection_name: str
    passages: list[NearbyPassage]
    metadata: dict[str, Any]
    truncated: bool = False
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Collections:
    """The collections by name."""

    collections: Sequence[CollectionStats]
    total: int
    truncated: bool = False
    hint: str | None = None


async def search_documents(
    services: Services, request: DocumentQuery, _: Any, room: int
) -> FoundPassages:
    """The relevant passages; raises EmptyQuery, BadScope and IndexUnavailable."""
    outcome = await services.corpus.search.search(
        SearchParameters(request.query, context=request.context, limit=request.limit)
    )
    hits = outcome.results.hits
    answer = FoundPassages(
        query=request.query,
        context=request.context,
        results=list(chunks(hits, outcome.query, with_metadata=request.include_sources)),
        total_found=outcome.results.total,
        search_time=outcome.elapsed_ms,
        filters_applied=format_scope(outcome.scope),
        truncated=outcome.results.total > len(hits),
        hint=outcome.hint,
        warnings=outcome.results.warnings,
    )
    return _in_blocks(answer, hits, room) if request.format == "answer" else answer


def _in_blocks(answer: FoundPassages, hits: Sequence[Hit], room: int) -> FoundPassages:
    """*answer* in the answer format, with as many of *hits* as fit into *room* bytes."""
    whole = replace(
        answer,
        results=[replace(chunk, text="") for chunk in answer.results],
        answer=format_answer(hits),
    )
    if len(hits) < 2 or size_of(whole) <= room:
        return whole
    return _in_blocks(replace(answer, results=answer.results[:-1], truncated=True), hits[:-1], room)


async def fetch(services: Services, request: PassageQuery, *_: Any) -> FetchedPassage:
    """The passage and its neighbours; raises NotFound, BadScope and IndexUnavailable."""
    scope = parse_scope(request.context or "", services.clock.now())
    search = services.corpus.search
    passages = await search.catalogue.around(
        request.id, before=request.neighbours, after=request.neighbours
    )
    wanted = fold_name(request.id)
    passage = next((near for near in passages if fold_name(near.id) == wanted), None)
    if passage is None or not await search.is_inside(passage, scope):
        where = f" in {scope_text(scope)}" if scope.clauses else ""
        raise NotFound(
            f"There is no passage {request.id[:200]!r}{where}. Use the `id` of a search result; "
            "ids change when a document is indexed again."
        )
    return FetchedPassage(
        id=passage.id,
        title=passage.title,
        url=passage.path,
        text=passage.text,
        document_id=passage.document_id,
        collection_name=passage.collection,
        passages=[
            NearbyPassage(near.id, near.position, near.text, near.start_line, near.end_line)
            for near in passages
        ],
        metadata=metadata(passage),
    )


async def list_collections(services: Services, *_: Any) -> Collections:
    """The collections with their sizes; raises IndexUnavailable."""
    collections = await services.corpus.search.catalogue.collections()
    return Collections(collections=collections, total=len(collections))
