"""The HTTP interface as an ASGI app: routes, middleware, and services opened in its lifespan."""

import asyncio
import logging
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import cache, partial
from time import perf_counter
from typing import Any, Final
from uuid import uuid4

from litestar import Litestar, asgi
from litestar.config.cors import CORSConfig
from litestar.datastructures import State
from litestar.di import Provide
from litestar.enums import ScopeType
from litestar.exceptions import MethodNotAllowedException
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from judge.adapters.journal import Journals, LibraryHandler, LogJournal, within_request
from judge.adapters.metrics import Metrics
from judge.bootstrap.services import Services, open_services
from judge.entrypoints.api.access_policy import EXTRA_HEADERS, Access, AccessPolicy, principal_of
from judge.entrypoints.api.client_address import is_foreign
from judge.entrypoints.api.http_messages import (
    MAX_BODY_BYTES,
    BoundedRequest,
    RequestRefused,
    problem_response,
    read_body,
)
from judge.entrypoints.api.openapi import derive_document
from judge.entrypoints.api.routes import judge, search, status_and_pages
from judge.entrypoints.check_requests import MAX_BYTES
from judge.entrypoints.event_log import log_error, warm
from judge.errors import ConfigurationError
from judge.ports import Journal
from judge.settings import Settings

McpApp = Callable[[Any, Any, Any], Awaitable[None]]
OpenMcp = Callable[[Services], AbstractAsyncContextManager[McpApp]]
"""Opens the app mounted at `/mcp`, for as long as the services are open."""

ROUTES = (*judge.ROUTES, *search.ROUTES, *status_and_pages.ROUTES)

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

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


@cache
def openapi_document() -> dict[str, Any]:
    """The OpenAPI document of all routes."""
    return derive_document(ROUTES, DEPENDENCIES)


def _services(state: State, scope: Scope) -> Services:
    """The services, limited to what the principal may see; no route gets any others."""
    services: Services = state.services
    return services.visible_to(principal_of(scope).viewer)


DEPENDENCIES = {"services": Provide(_services, sync_to_thread=False)}


def create_app(
    settings: Settings,
    *,
    open_services: Callable[..., AbstractAsyncContextManager[Services]] = open_services,
    journal: Journal | None = None,
    counts: Metrics | None = None,
    metrics_directory: str = "",
    heartbeat_s: float = judge.HEARTBEAT_S,
    is_public: bool = True,
    open_mcp: OpenMcp | None = None,
) -> Litestar:
    """The app of one process; its lifespan opens the services and closes them.

    Events go to *journal*, by default to stderr and into *counts*, which `/metrics` shows and which
    the processes of one server share in *metrics_directory*. *is_public* says that other machines
    can reach the app; routes that read documents or code are then closed unless keys are set.
    """
    counts = counts or Metrics(metrics_directory)
    journal = journal or Journals(LogJournal(sys.stderr), counts)
    guard = AccessPolicy(settings, is_public=is_public, limiter=lambda: app.state.services.limiter)
    app = Litestar(
        (*ROUTES, mcp) if open_mcp else ROUTES,
        lifespan=[partial(_lifespan, partial(open_services, settings, journal), journal, open_mcp)],
        dependencies=DEPENDENCIES,
        state=State({"counts": counts, "heartbeat_s": heartbeat_s, "document": openapi_document}),
        request_class=BoundedRequest,
        exception_handlers={Exception: partial(problem_response, journal)},
        guards=[guard],
        cors_config=cors_config(settings.cors_origins),
        request_max_body_size=MAX_BODY_BYTES,
        openapi_config=None,
        logging_config=None,
        debug=False,
    )
    app.asgi_handler = logged(app.asgi_handler, journal)
    return app


def cors_config(origins: Sequence[str]) -> CORSConfig | None:
    """What pages of *origins* may send and read; never with cookies."""
    if not origins:
        return None
    return CORSConfig(
        allow_origins=[*origins],
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=[
            "authorization", "content-type", "x-request-id",
            "mcp-protocol-version", "mcp-method", "mcp-name",
        ],
        expose_headers=["RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-ID"],
    )  # fmt: skip


@asynccontextmanager
async def _lifespan(
    opener: Callable[[], AbstractAsyncContextManager[Services]],
    journal: Journal,
    open_mcp: OpenMcp | None,
    app: Litestar,
) -> AsyncIterator[None]:
    """Keep the services open, and log what libraries log; at shutdown, say first that it drains."""
    async with AsyncExitStack() as stack:
        handler = LibraryHandler(journal)
        logging.getLogger().addHandler(handler)
        stack.callback(logging.getLogger().removeHandler, handler)
        try:
            services = app.state.services = await stack.enter_async_context(opener())
        except ConfigurationError as error:  # uvicorn's own log is off
            journal.note("server.start_failed", problem=str(error))
            app.state.start_error = error
            raise
        app.state.is_draining = False
        work = [warm(services), services.read_ahead(), services.sources.watch()]
        if open_mcp:
            app.state.mcp, app.state.wants_mcp = asyncio.Future(), asyncio.Event()
            work.append(_serve_mcp(open_mcp(services), app.state))
        tasks = [asyncio.create_task(each) for each in work]
        await asyncio.wait(tasks[:1], timeout=2.0)  # so that the first request need not
        try:
            yield
        finally:
            app.state.is_draining = True
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)


async def _serve_mcp(opening: AbstractAsyncContextManager[McpApp], state: State) -> None:
    """Serve MCP from its first request on, since it loads for a second; requests get a failure."""
    await state.wants_mcp.wait()
    try:
        async with opening as app:
            state.mcp.set_result(app)
            await asyncio.Event().wait()
    except Exception as error:  # noqa: BLE001 - plain requests are served without it
        state.mcp.set_exception(error)


def logged(app: ASGIApp, journal: Journal) -> ASGIApp:
    """*app*, with `http.request` logged once for each request, with the facts about its verdict."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
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
                await app(scope, receive, send_on)
            except Exception as error:  # noqa: BLE001 - the reply has begun: its connection is lost
                log_error(journal, error)
            finally:
                journal.note(
                    "http.request",
                    method=method if method in METHODS else "other",
                    # The path itself would be an unbounded label of metrics.
                    route=scope.get("path_template", "unmatched"),
                    # A stream's head says 200 before anybody knows how it ends.
                    status=scope["state"].get("final_status", status),
                    ms=round((perf_counter() - started) * 1000, 2),
                    **joined,
                )

    return serve


@asgi("/mcp", access=Access.PRIVATE, copy_scope=True)
async def mcp(scope: HTTPScope, receive: Receive, send: Send) -> None:
    """Pass a request to the mounted app, unless a page of another origin sent it."""
    if scope["method"] != "POST":
        # Without sessions there is no stream to listen to (GET) and none to end (DELETE).
        raise MethodNotAllowedException(headers={"allow": "POST"})
    state = scope["litestar_app"].state
    origins = state.services.settings.cors_origins
    if is_foreign(scope["headers"], origins, checks_host=False):
        raise RequestRefused(
            "forbidden",
            "Pages of this origin may not call /mcp. Whoever runs the service can name it in "
            "JUDGE_CORS_ORIGINS.",
        )
    scope["state"]["viewer"] = principal_of(scope).viewer
    body = await read_body(scope, receive, max_bytes=MAX_BYTES)
    unread: list[Any] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Any:
        return unread.pop() if unread else await receive()

    state.wants_mcp.set()
    app = await asyncio.shield(state.mcp)  # as a client that leaves must not cancel it
    await app(scope, receive_again, send)
