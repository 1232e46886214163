"""The HTTP door as an ASGI app: routes, the error table, and services opened in its lifespan."""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import cache
from typing import Any

from litestar import Litestar, Request, Response
from litestar.datastructures import State
from litestar.di import Provide
from litestar.handlers import HTTPRouteHandler
from litestar.serialization import encode_json
from litestar.status_codes import HTTP_500_INTERNAL_SERVER_ERROR

from judge.adapters.metrics import Metrics
from judge.bootstrap import Services
from judge.entrypoints.api.access_policy import access_policy_of, guard
from judge.entrypoints.api.middleware.access import AccessMiddleware, Limits
from judge.entrypoints.api.middleware.browsers import CorsMiddleware
from judge.entrypoints.api.middleware.client_address import parse_networks
from judge.entrypoints.api.middleware.requests import RequestMiddleware
from judge.entrypoints.api.openapi.document import derive_document
from judge.entrypoints.api.problem_responses import problem_response
from judge.entrypoints.api.request_body import MAX_BODY_BYTES, BoundedRequest
from judge.entrypoints.api.routes.code import lineage, search_code, where_used
from judge.entrypoints.api.routes.documents import add_document, remove_document
from judge.entrypoints.api.routes.judge import judge, list_domains
from judge.entrypoints.api.routes.judge_stream import HEARTBEAT_S, judge_stream
from judge.entrypoints.api.routes.mcp import OpenMcp, mcp
from judge.entrypoints.api.routes.playground import playground, playground_file
from judge.entrypoints.api.routes.schema import (
    schema_document,
    schema_page,
    schema_script,
    schema_style,
)
from judge.entrypoints.api.routes.search import search, search_by_address
from judge.entrypoints.api.routes.status import explain_problem, live, metrics, ready
from judge.entrypoints.event_log import log_error
from judge.entrypoints.problems import ProblemDetails
from judge.ports import Journal
from judge.settings import Settings
from judge.types.limits import parse_rate_limit

ROUTES: tuple[HTTPRouteHandler, ...] = (
    judge,
    judge_stream,
    list_domains,
    search_code,
    where_used,
    lineage,
    search,
    search_by_address,
    add_document,
    remove_document,
    live,
    ready,
    metrics,
    explain_problem,
    playground,
    playground_file,
    schema_page,
    schema_script,
    schema_style,
    schema_document,
)

WARM_UP_PATIENCE_S = 2.0
"""How long the first request may be kept waiting at the door rather than inside."""


def openapi_document() -> dict[str, Any]:
    """The OpenAPI document of all routes."""
    return derive_document(ROUTES, DEPENDENCIES)


@cache
def _document() -> bytes:
    """The same, as it is sent."""
    return encode_json(openapi_document())


def _services(state: State) -> Services:
    """What the lifespan opened."""
    services: Services = state.services
    return services


def _counts(state: State) -> Metrics:
    counts: Metrics = state.counts
    return counts


def _heartbeat_s(state: State) -> float:
    heartbeat_s: float = state.heartbeat_s
    return heartbeat_s


DEPENDENCIES = {
    "services": Provide(_services, sync_to_thread=False),
    "counts": Provide(_counts, sync_to_thread=False),
    "heartbeat_s": Provide(_heartbeat_s, sync_to_thread=False),
    "document": Provide(_document, sync_to_thread=False),
}

OpenServices = Callable[[], AbstractAsyncContextManager[Services]]


def create_app(
    open_services: OpenServices,
    *,
    settings: Settings,
    journal: Journal,
    counts: Metrics,
    heartbeat_s: float = HEARTBEAT_S,
    is_public: bool = True,
    open_mcp: OpenMcp | None = None,
) -> Litestar:
    """The app; its lifespan opens the services and closes them.

    `/metrics` shows *counts*, so *journal* should be telling them too. *heartbeat_s* is how often
    a stream gives a sign of life. *is_public* says that others than this machine can reach the app;
    then what reads documents or code is closed unless there are keys. *open_mcp* opens what answers
    at `/mcp`.
    """
    app = Litestar(
        (*ROUTES, mcp) if open_mcp else ROUTES,
        lifespan=[_lifespan(open_services, open_mcp)],
        dependencies=DEPENDENCIES,
        state=State({"counts": counts, "heartbeat_s": heartbeat_s}),
        request_class=BoundedRequest,
        exception_handlers={Exception: _answer_with_problem(journal)},
        guards=[guard],
        request_max_body_size=MAX_BODY_BYTES,
        openapi_config=None,
        logging_config=None,
        debug=False,
    )
    limits = Limits(
        limit=parse_rate_limit(settings.rate_limit),
        limiter=lambda: app.state.services.limiter,
        proxies=parse_networks(settings.trusted_proxies),
        origins=settings.cors_origins,
    )
    kept = AccessMiddleware(
        app.asgi_handler, access_policy_of(settings, is_public=is_public), limits
    )
    app.asgi_handler = RequestMiddleware(CorsMiddleware(kept, settings.cors_origins), journal)
    return app


def _lifespan(
    open_services: OpenServices, open_mcp: OpenMcp | None
) -> Callable[[Litestar], AbstractAsyncContextManager[None]]:
    """Services for as long as the app runs; on the way out it says that it is draining."""

    @asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            services = await stack.enter_async_context(open_services())
            if open_mcp:
                app.state.mcp = await stack.enter_async_context(open_mcp(services))
            app.state.services = services
            app.state.is_draining = False
            warming = asyncio.create_task(_warm(services))
            await asyncio.wait([warming], timeout=WARM_UP_PATIENCE_S)
            # What is loaded by now stays: the collector need not look through it ever again.
            gc.collect()
            gc.freeze()
            try:
                yield
            finally:
                app.state.is_draining = True
                warming.cancel()
                await asyncio.wait([warming])

    return lifespan


async def _warm(services: Services) -> None:
    """Do ahead what the first requests would wait for; they will wait if that fails or is slow."""
    try:
        await services.warm()
    except Exception as error:  # noqa: BLE001 - no reason not to serve
        log_error(services.journal, error)


def _answer_with_problem(
    journal: Journal,
) -> Callable[[Request[Any, Any, Any], Exception], Response[ProblemDetails]]:
    """The handler of all exceptions; those that should not be are noted."""

    def answer(request: Request[Any, Any, Any], error: Exception) -> Response[ProblemDetails]:
        response = problem_response(request, error)
        if response.status_code == HTTP_500_INTERNAL_SERVER_ERROR:
            log_error(journal, error)
        return response

    return answer
