"""The pages for people, at `/` and `/schema`, and the files that they are made of."""

from functools import cache
from importlib.resources import files
from typing import Any, Final

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from judge.bootstrap.services import Services
from judge.entrypoints.api.access_policy import Access

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
