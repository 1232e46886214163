"""`GET /api/code/…`: questions about the repositories of JUDGE_CODE_ROOTS, by name."""

from inspect import cleandoc
from typing import Any

from codegraph.models import CodeContextResult, LineageResult, SearchResult, WhereUsedResult
from litestar import Request, Response, get
from litestar.di import NamedDependency
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.datastructures import ResponseSpec

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
from judge.types.request_fields import parse_fields

BY_NAME = "Only the repositories of JUDGE_CODE_ROOTS can be asked about, by name."


def _route(
    path: str, operation_id: str, question: type[CodeQuestion], answer: type
) -> HTTPRouteHandler:
    """The route that answers a *question*, whose fields are its query string, with an *answer*."""
    success = ResponseSpec(answer, description="The answer.", generate_examples=False)

    @get(
        f"/api/code/{path}",
        operation_id=operation_id,
        description=f"{cleandoc(question.__doc__ or '')}\n\n{BY_NAME}",
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
