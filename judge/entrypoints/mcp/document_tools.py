"""The tools over the indexed documents: `search_documents`, `fetch` and `list_collections`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from judge.bootstrap import Services
from judge.entrypoints.document_requests import MAX_RESULTS, corpus_of
from judge.entrypoints.mcp.calls import ToolCall
from judge.entrypoints.mcp.pagination import Json, bounded, size_of
from judge.entrypoints.response_models import Chunk, chunks, metadata
from judge.errors import NotFound
from judge.search.answer_format import format_answer
from judge.search.scopes import format_scope, parse_scope, scope_text
from judge.search.service import MAX_QUERY, SearchParameters
from judge.types.request_fields import StrictModel
from judge.types.requests import MAX_SCOPE
from judge.types.search import CollectionStats, Hit, fold_name

MAX_NEIGHBOURS = 5

ANSWER_BYTES = 11_000
"""Of the blocks in the answer format; the list of what they are takes the rest of a reply."""

BLOCK_BYTES = 40
"""Of a block besides its text and path: its number, its fences and its mark."""

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
    """With `format` of `answer`: numbered blocks, where n is the place in `results`, whose texts
    are empty then."""
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
    services: Services, asked: DocumentQuery, call: ToolCall
) -> FoundPassages:
    """The relevant passages; raises EmptyQuery, BadScope and IndexUnavailable."""
    found = await corpus_of(services).search.search(
        SearchParameters(asked.query, context=asked.context, limit=call.shown + asked.limit)
    )
    hits: Sequence[Hit] = found.results.hits
    answer = None
    if asked.format == "answer":
        blocks = _fitting_blocks(hits[call.shown :])
        hits = hits[: call.shown + len(blocks)]
        answer = format_answer(blocks)
    results = list(chunks(hits, found.question, with_metadata=asked.include_sources))
    left = found.results.total - len(hits)
    return FoundPassages(
        query=asked.query,
        context=asked.context,
        results=[replace(chunk, text="") for chunk in results] if answer else results,
        total_found=found.results.total,
        search_time=found.elapsed_ms,
        filters_applied=format_scope(found.scope),
        truncated=left > 0,
        answer=answer,
        hint=found.hint,
        warnings=found.results.warnings,
    )


def _fitting_blocks(hits: Sequence[Hit]) -> list[Hit]:
    """Those of *hits* whose texts fit into one answer together; one at least, where there is one.

    Texts are cut where one alone would not fit.
    """
    room, fitting = ANSWER_BYTES, list[Hit]()
    for hit in hits:
        text = bounded(hit.passage.text, ANSWER_BYTES)
        room -= size_of(text) + size_of(hit.passage.path) + BLOCK_BYTES
        if room < 0 and fitting:
            break
        fitting.append(replace(hit, passage=replace(hit.passage, text=text)))
    return fitting


async def fetch(
    services: Services, asked: PassageQuery, _: ToolCall | None = None
) -> FetchedPassage:
    """The passage and its neighbours; raises NotFound, BadScope and IndexUnavailable."""
    scope = parse_scope(asked.context or "", services.clock.now())
    search = corpus_of(services).search
    passages = await search.catalogue.around(
        asked.id, before=asked.neighbours, after=asked.neighbours
    )
    wanted = fold_name(asked.id)
    passage = next((one for one in passages if fold_name(one.id) == wanted), None)
    if passage is None or not await search.is_inside(passage, scope):
        where = f" in {scope_text(scope)}" if scope.clauses else ""
        raise NotFound(
            f"There is no passage {asked.id[:200]!r}{where}. Use the `id` of a search result; ids "
            "change when a document is indexed again."
        )
    return FetchedPassage(
        id=passage.id,
        title=passage.title,
        url=passage.path,
        text=passage.text,
        document_id=passage.document_id,
        collection_name=passage.collection,
        passages=[
            NearbyPassage(one.id, one.position, one.text, one.start_line, one.end_line)
            for one in passages
        ],
        metadata=metadata(passage),
    )


async def list_collections(services: Services, _: CollectionsQuery, __: ToolCall) -> Collections:
    """The collections with their sizes; raises IndexUnavailable."""
    found = await corpus_of(services).search.catalogue.collections()
    return Collections(collections=found, total=len(found))
