"""Every error as an HTTP response: the shared table of problems, and what only HTTP has."""

from collections.abc import Mapping
from typing import Any

from litestar import MediaType, Request, Response
from litestar.exceptions import HTTPException

from judge import problems
from judge.errors import JudgeError
from judge.problems import KINDS, Problem, as_body, of_kind
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


NOTHING_HERE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>There is nothing here</title>
<h1>There is nothing here</h1>
<p>The address may be misspelt, or the page gone. <a href="{home}">Ask Judge</a> instead.</p></html>
"""


def problem_response(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """*error* as a response; a browser that asks for what is not there gets a page."""
    problem = problem_of(error)
    path = request.scope["path"]
    is_browser = "text/html" in request.headers.get("accept", "")
    if problem.slug == "not-found" and is_browser and not path.startswith(("/api/", "/mcp")):
        home = "../" * (path.count("/") - 1) or "./"  # a proxy may serve us under a path
        page = NOTHING_HERE.format(home=home)
        return Response(page, status_code=404, media_type=MediaType.HTML, headers=NO_STORE)
    request_id = request.scope["state"].get("request_id", "")
    return Response(
        as_body(problem, path=path, request_id=request_id),
        status_code=problem.kind.status,
        media_type=MEDIA_TYPE,
        headers={**NO_STORE, **problem.headers},
    )
