"""`GET /api/code/…`: questions about the repositories of JUDGE_CODE_ROOTS, by name."""

from typing import Any

from litestar import Request, Response, get
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec

from judge.bootstrap import Services
from judge.codegraph.models import CodeContextResult, LineageResult, SearchResult, WhereUsedResult
from judge.entrypoints.api.access_policy import Access
from judge.entrypoints.api.openapi.document import QUERY
from judge.entrypoints.api.openapi.problems import KEYED, problems
from judge.entrypoints.api.problem_responses import NO_STORE
from judge.entrypoints.code_requests import (
    CodeContext,
    CodeQuestion,
    CodeSearch,
    LineageRequest,
    WhereUsed,
    ask_graph,
)
from judge.types.request_fields import parse_fields

AnyRequest = Request[Any, Any, Any]


def responses(answer: type) -> dict[int, ResponseSpec]:
    """What a question about code can end in; *answer* is what it is sent as JSON."""
    found = ResponseSpec(answer, description="The answer.", generate_examples=False)
    return {200: found, **problems(*KEYED, "not-found", "ambiguous")}


@get(
    "/api/code/search",
    access=Access.PRIVATE,
    query=CodeSearch,
    tags=["code"],
    responses=responses(SearchResult),
)
async def search_code(request: AnyRequest, services: NamedDependency[Services]) -> Response[Any]:
    """Find the lines that hold a text.

    Only the repositories of JUDGE_CODE_ROOTS can be asked about, by name.
    """
    return await _answer(request, services)


@get(
    "/api/code/where-used",
    access=Access.PRIVATE,
    query=WhereUsed,
    tags=["code"],
    responses=responses(WhereUsedResult),
)
async def where_used(request: AnyRequest, services: NamedDependency[Services]) -> Response[Any]:
    """Find the definitions and uses of a symbol.

    Only the repositories of JUDGE_CODE_ROOTS can be asked about, by name.
    """
    return await _answer(request, services)


@get(
    "/api/code/lineage",
    access=Access.PRIVATE,
    query=LineageRequest,
    tags=["code"],
    responses=responses(LineageResult),
)
async def lineage(request: AnyRequest, services: NamedDependency[Services]) -> Response[Any]:
    """Follow what a symbol depends on, or what depends on it.

    Only the repositories of JUDGE_CODE_ROOTS can be asked about, by name.
    """
    return await _answer(request, services)


@get(
    "/api/code/context",
    access=Access.PRIVATE,
    query=CodeContext,
    tags=["code"],
    responses=responses(CodeContextResult),
)
async def code_context(request: AnyRequest, services: NamedDependency[Services]) -> Response[Any]:
    """Get what an editor needs to know about a symbol.

    That is its source, its docstring, its callers and callees with the lines around them, and the
    tests that reach it. Only the repositories of JUDGE_CODE_ROOTS can be asked about, by name.
    """
    return await _answer(request, services)


async def _answer(request: AnyRequest, services: Services) -> Response[Any]:
    """What the route's model says to the query string, where each field stands once."""
    fields = {
        name: values[0] if len(values) == 1 else values
        for name, values in request.query_params.dict().items()
    }
    question: CodeQuestion = parse_fields(request.route_handler.opt[QUERY], fields)
    return Response(await ask_graph(question, services.code), headers=NO_STORE)
