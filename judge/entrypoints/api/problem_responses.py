"""Every error as an HTTP response: the shared table of problems, and what only HTTP has."""

import math
from collections.abc import Mapping
from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.types import Receive, Scope, Send

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


def unauthorized(*, has_wrong_key: bool) -> RequestRefused:
    """A key is needed, and none or a wrong one was sent."""
    detail = "A key is needed: send `Authorization: Bearer` with a key of this service."
    if has_wrong_key:
        detail = "This key is not known here. Check it, or ask whoever runs the service for one."
    challenge = {"WWW-Authenticate": 'Bearer realm="judge"'}
    return RequestRefused("unauthorized", detail, headers=challenge)


def rate_limited(wait_s: float) -> RequestRefused:
    """The caller has asked too often; the next request is welcome in *wait_s* seconds."""
    wait = max(1, math.ceil(wait_s))
    detail = f"Too many requests. The next one is welcome in {wait} s."
    return RequestRefused("rate-limited", detail, headers={"Retry-After": str(wait)})


def problem_of(error: Exception) -> Problem:
    """The problem for *error*; nothing of an unexpected exception is shown."""
    match error:
        case JudgeError():
            return problems.problem_of(error)
        case RequestRefused():
            return error.problem
        case HTTPException() if error.status_code in STATUS_SLUGS:
            return _problem_of_litestar(error)
        case _:
            return of_kind("internal-error")


def _problem_of_litestar(error: HTTPException) -> Problem:
    slug = STATUS_SLUGS[error.status_code]
    if slug == "invalid-request":
        return Problem(slug, error.detail, {"errors": [FieldError("request", error.detail)]})
    allowed = (error.headers or {}).get("allow")
    return of_kind(slug, headers={"Allow": allowed} if allowed else {})


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


async def send_problem(error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with *error*, for middleware around Litestar."""
    request: Request[Any, Any, Any] = Request(scope)
    answer = problem_response(request, error).to_asgi_response(None, request)
    await answer(scope, receive, send)
