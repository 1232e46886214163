"""Every error as an HTTP reply: the doors' common table, and what only HTTP has."""

from collections.abc import Mapping
from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException

from judge.entrypoints import problems
from judge.entrypoints.problems import (
    KINDS,
    BadFields,
    FieldError,
    Problem,
    as_body,
    of_kind,
)
from judge.errors import JudgeError

__all__ = ["KINDS", "BadFields", "FieldError", "Problem", "as_body"]

MEDIA_TYPE = "application/problem+json"
NO_STORE = {"Cache-Control": "no-store"}

STATUS_SLUGS: Mapping[int, str] = {
    kind.status: slug for slug, kind in reversed([*KINDS.items()]) if kind.status != 503
}
"""For the framework's own errors, of which each status has one kind."""


class TooLarge(Exception):
    """The body is longer than we read."""


class NotJson(Exception):
    """The body says that it is something else."""


class ClientLeft(Exception):
    """Nobody is there any more to get the answer."""


def problem_of(error: Exception) -> Problem:
    """What to tell the caller about *error*; nothing of an error that is not ours is shown."""
    match error:
        case JudgeError():
            return problems.problem_of(error)
        case TooLarge():
            return Problem("too-large", "The body is over 64 KiB. Shorten the context.")
        case NotJson():
            return of_kind("unsupported-media-type")
        case ClientLeft():
            return of_kind("client-left")
        case HTTPException() if error.status_code in STATUS_SLUGS:
            return _problem_of_framework(error)
        case _:
            return of_kind("internal-error")


def _problem_of_framework(error: HTTPException) -> Problem:
    slug = STATUS_SLUGS[error.status_code]
    if slug == "invalid-request":
        return Problem(slug, error.detail, {"errors": [FieldError("request", error.detail)]})
    allowed = (error.headers or {}).get("allow")
    return of_kind(slug, headers={"Allow": _with_head(allowed)} if allowed else {})


def _with_head(allowed: str) -> str:
    """The methods in *allowed*, sorted; what can be got can be asked for its head."""
    methods = {method.strip() for method in allowed.split(",")}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


def problem_response(request: Request[Any, Any, Any], error: Exception) -> Response[dict[str, Any]]:
    """*error* as a reply, for Litestar's table of exception handlers."""
    problem = problem_of(error)
    request_id = request.scope["state"].get("request_id", "")
    return Response(
        as_body(problem, path=request.scope["path"], request_id=request_id),
        status_code=problem.kind.status,
        media_type=MEDIA_TYPE,
        headers={**NO_STORE, **problem.headers},
    )
