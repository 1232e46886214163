"""How the service is: liveness, readiness and metrics, and what each kind of problem means."""

import asyncio
from dataclasses import dataclass
from html import escape
from typing import Annotated, Literal

from litestar import MediaType, Response, get
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import PathParameter

from judge.bootstrap.services import Services
from judge.entrypoints.api.access_policy import Access
from judge.entrypoints.api.openapi import problems
from judge.entrypoints.api.problem_responses import NO_STORE
from judge.errors import IndexUnavailable
from judge.problems import KINDS


@dataclass(frozen=True, slots=True)
class Liveness:
    """The process answers."""

    status: Literal["ok"]


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether requests should be sent here."""

    status: Literal["ok", "draining", "unready"]
    degraded: list[str]
    """What is down that can be done without."""


@get(
    "/health/live",
    access=Access.OPEN,
    sync_to_thread=False,
    tags=["operations"],
    response_description="The process answers.",
    responses=problems(),
)
def live() -> Response[Liveness]:
    """The process answers."""
    return Response(Liveness("ok"), headers=NO_STORE)


NOT_READY = ResponseSpec(
    Readiness,
    description="Not now: there are no sources, or it is shutting down.",
    generate_examples=False,
)


@get(
    "/health/ready",
    access=Access.OPEN,
    tags=["operations"],
    response_description="Requests can be sent here.",
    responses={**problems(), 503: NOT_READY},
)
async def ready(state: State, services: NamedDependency[Services]) -> Response[Readiness]:
    """Whether to send requests here.

    It writes to the cache, so that a Redis that is down or read-only is noticed even without other
    requests; the model is never asked.
    """
    await services.retriever.cache.put_many({"health": ("", 1)})
    degraded = list(services.degraded())
    try:
        async with asyncio.timeout(1.0):  # probes themselves wait hardly longer
            await services.corpus.search.catalogue.ping()
    except (IndexUnavailable, TimeoutError):
        degraded.append("index")
    if services.sources.problem:
        degraded.append("sources")
    is_ready = any(domain.sources for domain in services.sources.current().catalog.domains)
    status = Readiness(
        "draining" if state.is_draining else "ok" if is_ready else "unready", degraded
    )
    code = 200 if status.status == "ok" else 503
    return Response(status, status_code=code, headers=NO_STORE)


@get(
    "/metrics",
    access=Access.METRICS,
    media_type=MediaType.TEXT,
    sync_to_thread=False,
    tags=["operations"],
    response_description="Everything counted.",
    responses=problems("unauthorized", "rate-limited"),
)
def metrics(state: State) -> Response[bytes]:
    """Counts in Prometheus' text format."""
    media_type = "text/plain; version=0.0.4"
    return Response(state.counts.render(), media_type=media_type, headers=NO_STORE)


@get(
    "/problems/{slug:str}",
    access=Access.OPEN,
    media_type=MediaType.HTML,
    sync_to_thread=False,
    tags=["operations"],
    response_description="A page for people who follow the `type` of a problem.",
    responses=problems("not-found", "rate-limited"),
)
def explain_problem(
    slug: Annotated[str, PathParameter(schema_extra={"enum": list(KINDS)})],
) -> Response[str]:
    """What a kind of problem means, and what to do."""
    kind = KINDS.get(slug)
    if kind is None:
        raise NotFoundException
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(kind.title)}</title><h1>{escape(kind.title)}</h1>"
        f"<p>HTTP status {kind.status}, <code>{slug}</code>.</p><p>{escape(kind.advice)}</p></html>"
    )
    return Response(page)
