"""Middleware around all of Litestar: a request's id and log line, HEAD, security headers."""

import re
from time import perf_counter
from typing import Final
from uuid import uuid4

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from judge.adapters.journal import within_request
from judge.entrypoints.event_log import log_error
from judge.ports import Journal

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

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
    """Logs `http.request` once for each request to *app*, with the facts about its verdict."""

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
            scope = {**scope, "method": "GET"}
        sent = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
        request_id = sent if REQUEST_ID.fullmatch(sent) else uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        status = 0

        async def send_on(message: Message) -> None:
            """Send, with the id and the headers of every reply; the status is for the log."""
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
                own = {name.lower() for name, _ in headers}
                added = (*scope["state"].get(EXTRA_HEADERS, ()), *SECURITY_HEADERS)
                message["headers"] = [*headers, *(pair for pair in added if pair[0] not in own)]
            elif method == "HEAD" and message["type"] == "http.response.body":
                message["body"] = b""
            await send(message)

        started = perf_counter()
        with within_request(request_id) as joined:
            try:
                await self._app(scope, receive, send_on)
            except Exception as error:  # noqa: BLE001 - the reply has begun: its connection is lost
                log_error(self._journal, error)
            finally:
                self._journal.note(
                    "http.request",
                    method=method if method in METHODS else "other",
                    # The path itself would be an unbounded label of metrics.
                    route=scope.get("path_template", "unmatched"),
                    # A stream's head says 200 before anybody knows how it ends.
                    status=scope["state"].get("final_status", status),
                    ms=round((perf_counter() - started) * 1000, 2),
                    **joined,
                )
