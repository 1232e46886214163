"""`/api/search` over the indexed documents, and `/api/code/…` over JUDGE_CODE_ROOTS by name."""

from inspect import cleandoc
from typing import Annotated, Any, Literal

from codegraph.models import CodeContextResult, LineageResult, SearchResult, WhereUsedResult
from litestar import MediaType, Request, Response, get, post
from litestar.di import NamedDependency
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import BodyKwarg
from pydantic import Field, StringConstraints

from judge.bootstrap.corpus import Corpus
from judge.bootstrap.services import Services
from judge.entrypoints.api.access_policy import Access
from judge.entrypoints.api.openapi import KEYED, problems
from judge.entrypoints.api.problem_responses import NO_STORE
from judge.entrypoints.api.request_body import query_fields
from judge.entrypoints.code_requests import (
    CodeContext,
    CodeQuestion,
    CodeSearch,
    LineageRequest,
    WhereUsed,
    ask_graph,
)
from judge.entrypoints.response_models import SearchResponse, chunks
from judge.library.scopes.scopes import SearchFilters, format_scope
from judge.library.search.answer_format import format_answer
from judge.library.search.service import MAX_QUERY, MAX_RESULTS, SearchParameters
from judge.types.request_fields import StrictModel, parse_fields
from judge.types.requests import ScopeText
from judge.types.search import EVERYWHERE

Query = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUERY)]


class SearchRequest(StrictModel):
    """What is looked for, and where; @mentions may also stand in the query."""

    query: Query = Field(serialization_alias="q")  # as an address calls it
    context: ScopeText | None = None
    limit: int = Field(10, ge=1, le=MAX_RESULTS)
    offset: int = Field(0, ge=0, le=10_000)  # further would be copying the index
    filters: SearchFilters | None = None
    include_metadata: bool = True
    format: Literal["json", "answer"] = "json"


EXAMPLE = {"query": "who pays for the boiler @collection:leases", "limit": 3}


@post(
    "/api/search",
    status_code=200,
    access=Access.PRIVATE,
    text_too=True,
    tags=["search"],
    response_description="What is relevant, best first.",
    responses=problems(
        *KEYED, "bad-scope", "too-large", "unsupported-media-type", "index-unavailable"
    ),
)
async def search(
    data: Annotated[SearchRequest, BodyKwarg(examples=[Example(value=EXAMPLE)])],
    services: NamedDependency[Services],
) -> Response[SearchResponse]:
    """Search the indexed documents.

    `context`, and @mentions in the query, say where: `@collection:a,b`, `@document:id`,
    `@folder:2024/q1`, `@tag:x`, `@modified:last-week`, `(@… OR @…)`; `-` excludes, `@*` is
    everything. `hint` says what of a scope held nothing.
    """
    return await _answer(data, services.corpus)


@get(
    "/api/search",
    access=Access.PRIVATE,
    query=SearchRequest,
    text_too=True,
    tags=["search"],
    response_description="What is relevant, best first.",
    responses=problems(*KEYED, "bad-scope", "index-unavailable"),
)
async def search_by_address(
    request: Request[Any, Any, Any], services: NamedDependency[Services]
) -> Response[SearchResponse]:
    """Search the indexed documents by an address alone."""
    fields = query_fields(request)
    if "query" not in fields:
        fields = {"query" if name == "q" else name: value for name, value in fields.items()}
    return await _answer(parse_fields(SearchRequest, fields), services.corpus)


async def _answer(request: SearchRequest, corpus: Corpus) -> Response[Any]:
    """What was found, as JSON or as text."""
    outcome = await corpus.search.search(
        SearchParameters(
            request.query,
            context=request.context,
            filters=request.filters or EVERYWHERE,
            limit=request.limit,
            offset=request.offset,
        )
    )
    hits = outcome.results.hits
    if request.format == "answer":
        return Response(format_answer(hits), media_type=MediaType.TEXT, headers=NO_STORE)
    body: SearchResponse = {
        "query": request.query,
        "context": request.context,
        "chunks": list(chunks(hits, outcome.query, with_metadata=request.include_metadata)),
        "total_found": outcome.results.total,
        "search_time_ms": outcome.elapsed_ms,
        "filters_applied": format_scope(outcome.scope),
    }
    if outcome.hint:
        body["hint"] = outcome.hint
    if outcome.results.warnings:
        body["warnings"] = outcome.results.warnings
    return Response(body, headers=NO_STORE)


def _route(
    path: str, operation_id: str, question: type[CodeQuestion], answer: type
) -> HTTPRouteHandler:
    """The route that answers a *question*, whose fields are its query string, with an *answer*."""
    success = ResponseSpec(answer, description="The answer.", generate_examples=False)

    @get(
        f"/api/code/{path}",
        operation_id=operation_id,
        description=f"{cleandoc(question.__doc__ or '')}\n\n"
        "Only the repositories of JUDGE_CODE_ROOTS can be asked about, by name.",
        access=Access.PRIVATE,
        query=question,
        tags=["code"],
        responses={200: success, **problems(*KEYED, "not-found", "ambiguous")},
    )
    async def ask(
        request: Request[Any, Any, Any], services: NamedDependency[Services]
    ) -> Response[Any]:
        parsed: CodeQuestion = parse_fields(question, query_fields(request))
        return Response(await ask_graph(parsed, services.code), headers=NO_STORE)

    return ask


CODE_ROUTES = (
    _route("search", "searchCode", CodeSearch, SearchResult),
    _route("where-used", "whereUsed", WhereUsed, WhereUsedResult),
    _route("lineage", "lineage", LineageRequest, LineageResult),
    _route("context", "codeContext", CodeContext, CodeContextResult),
)
