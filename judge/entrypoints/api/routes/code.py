"""`GET /api/code/…`: questions about the repositories of JUDGE_CODE_ROOTS, by name."""

from typing import Any

from litestar import Request, Response, get
from litestar.di import NamedDependency
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec

from judge.bootstrap import Services
from judge.codegraph.models import CodeContextResult, LineageResult, SearchResult, WhereUsedResult
from judge.entrypoints.api.access_policy import Access
from judge.entrypoints.api.openapi.problems import KEYED, problems
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
from judge.types.request_fields import parse_fields

BY_NAME = "Only the repositories of JUDGE_CODE_ROOTS can be asked about, by name."


def _route(
    path: str, name: str, question: type[CodeQuestion], answer: type, does: str, *, more: str = ""
) -> HTTPRouteHandler:
    """The route that takes a *question* as its query string, in which each field stands once."""
    found = ResponseSpec(answer, description="The answer.", generate_examples=False)

    @get(
        f"/api/code/{path}",
        operation_id=name,
        description=f"{does}\n\n{more}{BY_NAME}",
        access=Access.PRIVATE,
        query=question,
        tags=["code"],
        responses={200: found, **problems(*KEYED, "not-found", "ambiguous")},
    )
    async def ask(
        request: Request[Any, Any, Any], services: NamedDependency[Services]
    ) -> Response[Any]:
        asked: CodeQuestion = parse_fields(question, query_fields(request))
        return Response(await ask_graph(asked, services.code), headers=NO_STORE)

    return ask


CODE_ROUTES = (
    _route("search", "searchCode", CodeSearch, SearchResult, "Find the lines that hold a text."),
    _route(
        "where-used",
        "whereUsed",
        WhereUsed,
        WhereUsedResult,
        "Find the definitions and uses of a symbol.",
    ),
    _route(
        "lineage",
        "lineage",
        LineageRequest,
        LineageResult,
        "Follow what a symbol depends on, or what depends on it.",
    ),
    _route(
        "context",
        "codeContext",
        CodeContext,
        CodeContextResult,
        "Get what an editor needs to know about a symbol.",
        more="That is its source, its docstring, its callers and callees with the lines around "
        "them, and the tests that reach it. ",
    ),
)
