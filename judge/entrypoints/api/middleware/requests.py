"""The outermost middleware: a request's id and log line, HEAD, security headers, unhandled errors.

Plain ASGI around all of Litestar, so that what the router refuses is logged too.
"""

import re
from dataclasses import dataclass
from time import perf_counter
from typing import Final
from uuid import uuid4

from litestar.enums import HttpMethod, ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from judge.adapters.journal import within_request
from judge.entrypoints.api.problem_responses import send_problem
from judge.entrypoints.event_log import log_error
from judge.ports import Journal

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
UNMATCHED = "unmatched"
"""Logged as the route when none matches; the path would be an unbounded label of metrics."""

EXTRA_HEADERS: Final = "headers"
"""The key in a request's state for headers to add to its reply, unless that sets them itself."""

SECURITY_HEADERS: Final = (
    # Nothing in a reply may be run, loaded or framed, unless it sets another policy.
    (
        b"content-security-policy",
        b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class RequestMiddleware:
    """Logs `http.request` once for each request to *app*, whatever becomes of it.

    For most requests it is the only line; it has the facts about the verdict too.
    """

    def __init__(self, app: ASGIApp, journal: Journal) -> None:
        self._app = app
        self._journal = journal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; web sockets are closed at once."""
        if scope["type"] != ScopeType.HTTP:
            await send({"type": "websocket.close", "code": 1000, "reason": None})
            return
        method = scope["method"]
        if method == "HEAD":
            # A copy: uvicorn reads its own scope to know that a reply to HEAD has no body.
            scope = {**scope, "method": HttpMethod.GET}
        request_id = request_id_of(scope)
        response = _LoggedResponse(send, scope, method == "HEAD")
        started = perf_counter()
        with within_request(request_id) as joined:
            try:
                await self._app(scope, receive, response.send)
            except Exception as error:  # noqa: BLE001 - nobody else is left to answer
                log_error(self._journal, error)
                if not response.status:
                    await send_problem(error, scope, receive, response.send)
            finally:
                self._journal.note(
                    "http.request",
                    method=method if method in METHODS else "other",
                    route=scope.get("path_template", UNMATCHED),
                    # A stream's head says 200 before anybody knows how it ends.
                    status=scope["state"].get("final_status", response.status),
                    ms=round((perf_counter() - started) * 1000, 2),
                    **joined,
                )


@dataclass(slots=True)
class _LoggedResponse:
    """Adds the id and the headers to a reply, drops the body for HEAD, and records the status."""

    send_on: Send
    scope: Scope
    is_head: bool
    status: int = 0
    """0 until the head is sent."""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [
                *message.get("headers", ()),
                (b"x-request-id", request_id_of(self.scope).encode()),
            ]
            own = {name.lower() for name, _ in headers}
            added = (*self.scope["state"].get(EXTRA_HEADERS, ()), *SECURITY_HEADERS)
            headers += [header for header in added if header[0] not in own]
            message["headers"] = headers
        elif self.is_head and message["type"] == "http.response.body":
            message["body"] = b""
        await self.send_on(message)


def request_id_of(scope: Scope) -> str:
    """The caller's id if it is well-formed, else a new one; the same for each call."""
    state: dict[str, str] = scope.setdefault("state", {})
    if "request_id" not in state:
        sent = (value for name, value in scope["headers"] if name == b"x-request-id")
        text = next(sent, b"").decode("latin-1")
        state["request_id"] = text if REQUEST_ID.fullmatch(text) else uuid4().hex
    return state["request_id"]
