"""The table of all tools, the models of what they take and answer, and their handlers."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal
from uuid import uuid4

from codegraph.models import CodeContextResult, LineageResult, SearchResult, WhereUsedResult
from pydantic import BaseModel, Field, StringConstraints, field_validator

from judge.bootstrap.services import Services
from judge.citations.check import CheckedAnswer
from judge.entrypoints.check_requests import CheckRequest, check
from judge.entrypoints.code_requests import (
    CodeContext,
    CodeQuestion,
    CodeSearch,
    LineageRequest,
    WhereUsed,
    ask_graph,
)
from judge.entrypoints.event_log import log_judgement
from judge.entrypoints.mcp.results import Json, size_of, without_empty
from judge.entrypoints.response_models import Chunk, chunks, metadata
from judge.errors import NotFound
from judge.library.scopes.grammar import read_context
from judge.library.scopes.scopes import format_scope, scope_text
from judge.library.search.answer_format import format_answer
from judge.library.search.service import MAX_QUERY, MAX_RESULTS, SearchParameters
from judge.text.english import counted
from judge.types.request_fields import StrictModel
from judge.types.requests import MAX_SCOPE, JudgeRequest
from judge.types.results import (
    AttemptStarted,
    DomainDetected,
    JudgeResult,
    ReferencesReady,
    Restarted,
    Step,
    SupportAsked,
)
from judge.types.search import CollectionStats, Hit, fold_name

Report = Callable[[str], Coroutine[Any, Any, None]]
"""Tells a step, in a sentence, to a client that asked for progress."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool; its description is the docstring of *arguments*, the model of what it takes."""

    name: str
    title: str
    arguments: type[BaseModel]
    output: Any
    handler: Callable[[Services, Any, Report, int], Awaitable[Any]]
    """Answers with *output*, preferably in so many bytes of JSON."""
    lists: Sequence[str] = ()
    """The lists of the answer whose ends are left off, as `truncated` says, if it is too long."""
    is_open_world: bool = False
    """Whether it fetches from the web or calls a model."""


class DisputeQuery(JudgeRequest):
    """Ask several personas whether somebody is being unreasonable in an everyday dispute.

    The verdicts cite approved pages of advice: each citation has the sentence of the page that it
    rests on (`quote`), and says when the page says the opposite (`contradicts`). References that
    are not `cited` were only looked at and may have no text here; with `evidence` of
    `not_applicable` none of them bears on the dispute. Show `help` to the person when it is not
    empty, and say so when `degraded` is true or `warnings` has entries. `hear_other_side` also
    judges the same facts as the other side would tell them; when both are told that they are right,
    the first warning says so. Takes up to half a minute.
    """


class CitationsQuery(CheckRequest):  # noqa: D101 - the request has one
    @field_validator("sources", mode="before")
    @classmethod
    def _as_objects(cls, sources: Any) -> Any:
        """A list in a text, as JSON, is that list; a source that is a text has just its words."""
        if isinstance(sources, str):
            with suppress(ValueError):
                sources = json.loads(sources)
        sources = sources if isinstance(sources, list | tuple) else [sources]
        return [{"text": one} if isinstance(one, str) else without_empty(one) for one in sources]


async def judge_dispute(
    services: Services, dispute: DisputeQuery, report: Report, room: int
) -> JudgeResult:
    """The verdict; raises the errors of `Pipeline.judge`. Cancelling it ends the model's call."""
    reports: list[asyncio.Task[None]] = []

    def report_step(step: Step) -> None:
        reports.append(asyncio.create_task(report(_in_words(step))))

    result = await services.pipeline.judge(dispute, request_id=uuid4().hex, emit=report_step)
    for reporting in reports:
        await reporting
    log_judgement(services.journal, result)
    return fitting_verdict(result, room)


def fitting_verdict(result: JudgeResult, room: int) -> JudgeResult:
    """*result*, in more than *room* bytes without snippets and the texts of uncited references."""
    if size_of(result) <= room:
        return result
    references = tuple(ref if ref.cited else replace(ref, text="") for ref in result.references)
    return replace(result, snippets=(), references=references)


def _in_words(step: Step) -> str:
    """*step* for people, without any word of the dispute."""
    match step:
        case DomainDetected():
            return f"The domain is {step.domain}; reading its pages."
        case ReferencesReady():
            return f"{counted(len(step.references), 'reference')} may be cited."
        case AttemptStarted():
            return "Asking the model." if step.number == 1 else "Asking the model once more."
        case Restarted():
            return f"The reply broke {counted(len(step.defects), 'rule')}."
        case SupportAsked():
            return f"Asking about {counted(step.citations, 'citation')}."
        case _:
            return "Reading the reply."


async def check_citations(services: Services, request: CheckRequest, *_: Any) -> CheckedAnswer:
    """As `POST /api/check`; the verdict is of the whole answer, also when `truncated`."""
    return await check(request, services)


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


@dataclass(frozen=True, slots=True)
class Collections:
    """The collections by name."""

    collections: Sequence[CollectionStats]
    total: int


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
    scope = read_context(request.context or "", services.clock.now()).scope
    search = services.corpus.search
    passages = await search.catalogue.window(
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


def _code(name: str, title: str, arguments: type[BaseModel], output: Any) -> ToolSpec:
    async def ask(services: Services, question: CodeQuestion, *_: Any) -> Json:
        return await ask_graph(question, services.code)

    return ToolSpec(name, title, arguments, output, ask, ("items",))


TOOLS: Sequence[ToolSpec] = (
    ToolSpec(
        "judge_dispute", "Judge a dispute", DisputeQuery, JudgeResult, judge_dispute,
        is_open_world=True,
    ),
    ToolSpec(
        "search_documents", "Search the documents", DocumentQuery, FoundPassages, search_documents,
        ("results",),
    ),
    ToolSpec(
        "fetch", "Read on around a passage", PassageQuery, FetchedPassage, fetch, ("passages",)
    ),
    ToolSpec(
        "list_collections", "List the collections", CollectionsQuery, Collections,
        list_collections, ("collections",),
    ),
    _code("search_code", "Search code", CodeSearch, SearchResult),
    _code("where_used", "Find uses", WhereUsed, WhereUsedResult),
    _code("lineage", "Follow dependencies", LineageRequest, LineageResult),
    _code("code_context", "Read a symbol", CodeContext, CodeContextResult),
    ToolSpec(
        "check_citations", "Check an answer's citations", CitationsQuery, CheckedAnswer,
        check_citations, ("marks", "uncited", "sources"), is_open_world=True,
    ),
)  # fmt: skip
