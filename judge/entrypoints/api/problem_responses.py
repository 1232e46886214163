"""Every error as an HTTP response: the shared table of problems, and what only HTTP has."""

from collections.abc import Mapping
from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException

from judge import problems
from judge.errors import JudgeError
from judge.problems import KINDS, Problem, ProblemDetails, as_body, of_kind
from judge.types.request_fields import FieldError

MEDIA_TYPE = "application/problem+json"
NO_STORE = {"Cache-Control": "no-store"}

STATUS_SLUGS: Mapping[int, str] = {
    kind.status: slug for slug, kind in reversed([*KINDS.items()]) if kind.status != 503
}
"""The kind of problem for each status, for Litestar's own exceptions."""


class RequestRefused(Exception):
    """A request that is rejected: the kind of problem, and what to do next."""

    def __init__(
        self, slug: str, detail: str = "", *, headers: Mapping[str, str] | None = None
    ) -> None:
        parts = {"headers": headers or {}}
        self.problem = Problem(slug, detail, **parts) if detail else of_kind(slug, **parts)
        super().__init__(self.problem.detail)


class ClientLeft(RequestRefused):
    """The client disconnected before the answer was ready."""

    def __init__(self) -> None:
        super().__init__("client-left")


def problem_of(error: Exception) -> Problem:
    """The problem for *error*; nothing of an unexpected exception is shown."""
    match error:
        case JudgeError():
            return problems.problem_of(error)
        case RequestRefused():
            return error.problem
        case HTTPException(status_code=400, detail=detail):
            return Problem("invalid-request", detail, {"errors": [FieldError("request", detail)]})
        case HTTPException() if error.status_code in STATUS_SLUGS:
            allowed = (error.headers or {}).get("allow")
            headers = {"Allow": allowed} if allowed else {}
            return of_kind(STATUS_SLUGS[error.status_code], headers=headers)
        case _:
            return of_kind("internal-error")


def problem_response(request: Request[Any, Any, Any], error: Exception) -> Response[ProblemDetails]:
    """*error* as a response, for Litestar's exception handlers."""
    problem = problem_of(error)
    request_id = request.scope["state"].get("request_id", "")
    return Response(
        as_body(problem, path=request.scope["path"], request_id=request_id),
        status_code=problem.kind.status,
        media_type=MEDIA_TYPE,
        headers={**NO_STORE, **problem.headers},
    )
