"""How the service is: liveness, readiness and metrics, and what each kind of problem means."""

import asyncio
from contextlib import suppress
from html import escape
from typing import Any

from litestar import Response, get
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from judge.adapters.metrics import Metrics
from judge.bootstrap import Services
from judge.entrypoints.api.access_policy import Access
from judge.entrypoints.api.problem_responses import KINDS, NO_STORE
from judge.errors import CacheUnavailable, IndexUnavailable

INDEX_PATIENCE_S = 1.0
"""Probes wait no longer than a second or two themselves."""

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@get("/health/live", access=Access.OPEN, sync_to_thread=False)
def live() -> Response[dict[str, str]]:
    """The process answers."""
    return Response({"status": "ok"}, headers=NO_STORE)


@get("/health/ready", access=Access.OPEN)
async def ready(state: State, services: NamedDependency[Services]) -> Response[dict[str, Any]]:
    """Whether requests should be sent here, and what is down that can be done without.

    It looks into the cache, so that Redis is missed even when nobody else asks; the model is
    never asked.
    """
    with suppress(CacheUnavailable):
        await services.retriever.cache.get_many(["health"])
    index = [] if await index_answers(services) else ["index"]
    domains = services.sources.current().catalog.domains
    degraded = [*services.degraded(), *index, *(["sources"] if services.sources.problem else [])]
    status = "ok"
    if state.is_draining:
        status = "draining"
    elif not any(domain.sources for domain in domains):
        status = "unready"
    return Response(
        {"status": status, "degraded": degraded},
        status_code=200 if status == "ok" else 503,
        headers=NO_STORE,
    )


async def index_answers(services: Services) -> bool:
    """Whether the index can be searched, or there is none."""
    try:
        if services.corpus:
            async with asyncio.timeout(INDEX_PATIENCE_S):
                await services.corpus.search.index.ping()
    except (IndexUnavailable, TimeoutError):
        return False
    return True


@get("/metrics", access=Access.WATCHING, sync_to_thread=False)
def metrics(counts: NamedDependency[Metrics]) -> Response[bytes]:
    """Everything counted, in Prometheus' text format."""
    return Response(counts.render(), media_type=METRICS_TYPE, headers=NO_STORE)


@get("/problems/{slug:str}", access=Access.OPEN, sync_to_thread=False)
def explain_problem(slug: FromPath[str]) -> Response[str]:
    """What a kind of problem means and what to do, for people who follow its `type`."""
    kind = KINDS.get(slug)
    if kind is None:
        raise NotFoundException
    page = (
        '<!doctype html><html lang="en-GB"><meta charset="utf-8">'
        f"<title>{escape(kind.title)}</title><h1>{escape(kind.title)}</h1>"
        f"<p>HTTP status {kind.status}, <code>{slug}</code>.</p><p>{escape(kind.advice)}</p></html>"
    )
    return Response(page, media_type="text/html")
