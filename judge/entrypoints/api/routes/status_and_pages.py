"""How the service is: liveness, readiness and metrics; and the pages for people and their files."""

import asyncio
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import Annotated, Any, Final, Literal

from litestar import MediaType, Request, Response, get
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, PathParameter

from judge.bootstrap.services import Services
from judge.entrypoints.api.access_policy import Access
from judge.entrypoints.api.http_messages import NO_STORE
from judge.entrypoints.api.openapi import problems
from judge.errors import IndexUnavailable
from judge.problems import KINDS
from judge.types.search import EVERYWHERE


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
    Readiness, description="There are no sources, or it is shutting down.", generate_examples=False
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
            await services.corpus.search.catalogue.contains(EVERYWHERE)
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


TYPES: Final = {
    "html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml",
}  # fmt: skip
"""By file extension; Litestar adds the charset of texts."""

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    # After an update the files must fit one another.
    "Cache-Control": "no-cache",
}
WIDGET_HEADERS: Final = {
    # Any site may run it, as a plain script or a module; JUDGE_CORS_ORIGINS says whose pages may
    # call the interface.
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
    # It depends on nothing but the interface, which only grows.
    "Cache-Control": "public, max-age=3600, stale-while-revalidate=86400",
}

PAGES: Final = {
    "/": ("playground", "index.html"),
    "/widget.js": ("playground", "widget.js"),
    "/schema": ("api/schema_page", "schema.html"),
    "/schema/schema.js": ("api/schema_page", "schema.js"),
    "/schema/schema.css": ("api/schema_page", "schema.css"),
}
"""Path -> a folder of the entrypoints, and the file in it."""


@get(
    [*PAGES, "/playground/{name:str}"],
    access=Access.OPEN,
    include_in_schema=False,
    sync_to_thread=False,
)
def static_file(
    request: Request[Any, Any, Any], services: NamedDependency[Services], name: FromPath[str] = ""
) -> Response[bytes]:
    """A page for people, or one of the files that it is made of."""
    path = request.scope["path_template"]
    folder, name = PAGES.get(path, ("playground", name))
    body = files_in(folder).get(name)
    if body is None:
        raise NotFoundException
    language = services.sources.current().catalog.country.language
    if path == "/" and language.startswith("en-"):  # the page itself is in English
        body = body.replace(b'<html lang="en">', f'<html lang="{language}">'.encode())
    return Response(
        body,
        media_type=TYPES[name.rpartition(".")[2]],
        headers=WIDGET_HEADERS if path == "/widget.js" else HEADERS,
    )


@get("/schema/openapi.json", access=Access.OPEN, include_in_schema=False, sync_to_thread=False)
def schema_document(state: State) -> Response[dict[str, Any]]:
    """The OpenAPI 3.1 document. Litestar cannot derive it on several threads at once."""
    return Response(state.document(), media_type="application/vnd.oai.openapi+json")


@cache
def files_in(folder: str) -> dict[str, bytes]:
    """All files of a *folder* of the entrypoints, by name; nothing else can be asked for."""
    directory = files("judge.entrypoints").joinpath(folder)
    return {file.name: file.read_bytes() for file in directory.iterdir()}


ROUTES = (live, ready, metrics, explain_problem, static_file, schema_document)
