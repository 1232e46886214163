"""Messages of HTTP: a request's body and query string within limits, and errors as responses."""

import asyncio
from codecs import BOM_UTF8
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from litestar import MediaType, Request, Response
from litestar.exceptions import HTTPException
from litestar.types import HTTPScope, Receive

from judge import problems
from judge.entrypoints.event_log import log_error
from judge.errors import JudgeError
from judge.ports import Journal
from judge.problems import KINDS, Problem, as_body, of_kind
from judge.types.request_fields import BadFields, FieldError, parse_json

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


def problem_response(
    journal: Journal, request: Request[Any, Any, Any], error: Exception
) -> Response[Any]:
    """*error* as a response; a browser that asks for what is not there gets a page."""
    problem = problem_of(error)
    if problem.slug == "internal-error":
        log_error(journal, error)
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


MAX_BODY_BYTES = 64 * 1024
"""Unless a route has a `max_body_bytes` of its own in its `opt`."""
BODY_TIMEOUT_S = 20.0
"""64 KiB take 13 s on a 40 kbit/s line; no phone is slower."""


class BoundedRequest(Request[Any, Any, Any]):
    """A request whose JSON is read within our limits and refused in our words."""

    sent = b""

    async def body(self) -> bytes:
        """The body, for a handler that takes `data`; raises RequestRefused and BadFields."""
        # A page of another site cannot send JSON without a CORS preflight, and so spends no tokens.
        if not is_json(self.headers.get("content-type")):
            raise RequestRefused("unsupported-media-type")
        max_bytes = self.route_handler.opt.get("max_body_bytes", MAX_BODY_BYTES)
        self.sent = await read_body(self.scope, self.receive, max_bytes=max_bytes)
        return self.sent or b" "  # Litestar would not ask for the JSON of an empty one.

    async def json(self) -> Any:
        """The body as the model of its handler's `data`; raises BadFields."""
        field = self.route_handler.parsed_data_field
        return parse_json(field.annotation, self.sent.removeprefix(BOM_UTF8)) if field else None


def is_json(content_type: str | None) -> bool:
    """Whether a body of this type is JSON; one without a type is not."""
    media_type = (content_type or "").partition(";")[0].strip().lower()
    return media_type == "application/json" or (
        media_type.startswith("application/") and media_type.endswith("+json")
    )


def query_fields(request: Request[Any, Any, Any]) -> dict[str, Any]:
    """The fields of the query string; a repeated one is a list. Raises BadFields."""
    try:
        sent = parse_qs(request.scope["query_string"].decode(), True, errors="strict")
    except UnicodeDecodeError:  # Litestar would put question marks there
        raise BadFields([FieldError("query string", "must be text in UTF-8")]) from None
    return {name: values if len(values) > 1 else values[0] for name, values in sent.items()}


async def read_body(
    scope: HTTPScope, receive: Receive, *, max_bytes: int = MAX_BODY_BYTES, advice: str = ""
) -> bytes:
    """The whole body, if it is small enough and comes in time; raises RequestRefused, BadFields."""
    too_large = RequestRefused(
        "too-large", advice or f"The body is over {max_bytes // 1024} KiB. Shorten it."
    )
    headers = dict(scope["headers"])
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        # A small compressed body can unpack to a huge one.
        raise RequestRefused("unsupported-media-type", "The body is compressed. Send it as it is.")
    if int(headers.get(b"content-length", 0)) > max_bytes:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise ClientLeft
                body += message["body"]
                if len(body) > max_bytes:
                    raise too_large
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise BadFields([FieldError("body", "did not arrive in time; send it at once")]) from None
