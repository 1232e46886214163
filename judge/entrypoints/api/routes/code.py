"""`GET /api/code/…`: questions about the repositories of JUDGE_CODE_ROOTS, by name."""

from typing import Any, TypeVar

from litestar import Request, Response, get
from litestar.di import NamedDependency
from pydantic import BaseModel

from judge.bootstrap import Services
from judge.entrypoints.api.access_policy import Access
from judge.entrypoints.api.problem_responses import NO_STORE
from judge.entrypoints.code_requests import CodeSearch, LineageRequest, WhereUsed
from judge.entrypoints.request_fields import parse_fields

Question = TypeVar("Question", bound=BaseModel)
AnyRequest = Request[Any, Any, Any]


@get("/api/code/search", access=Access.PRIVATE)
async def search_code(
    request: AnyRequest, services: NamedDependency[Services]
) -> Response[dict[str, Any]]:
    """The lines that hold a text."""
    answer = await _question(CodeSearch, request).ask(services.code)
    return Response(answer, headers=NO_STORE)


@get("/api/code/where-used", access=Access.PRIVATE)
async def where_used(
    request: AnyRequest, services: NamedDependency[Services]
) -> Response[dict[str, Any]]:
    """The definitions and uses of a symbol."""
    answer = await _question(WhereUsed, request).ask(services.code)
    return Response(answer, headers=NO_STORE)


@get("/api/code/lineage", access=Access.PRIVATE)
async def lineage(
    request: AnyRequest, services: NamedDependency[Services]
) -> Response[dict[str, Any]]:
    """What a symbol depends on, or what depends on it."""
    answer = await _question(LineageRequest, request).ask(services.code)
    return Response(answer, headers=NO_STORE)


def _question(model: type[Question], request: AnyRequest) -> Question:
    """The question in the query string, where each field stands once; raises BadFields."""
    fields = request.query_params.dict()
    return parse_fields(
        model, {name: values[0] if len(values) == 1 else values for name, values in fields.items()}
    )
