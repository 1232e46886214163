"""The pages for people, at `/` and `/schema`, and the files that they are made of, read once.

The playground uses the same interface as everybody else, under a policy that lets nothing else in.
One of its files is for pages of other sites: the widget.
"""

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from judge.entrypoints.api.access_policy import Access

TYPES: Final = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}
"""What we ship, by the ending of its name; the framework adds the charset of texts."""

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SCHEMA_FILES: Final = {
    "/schema": "schema.html",
    "/schema/schema.js": "schema.js",
    "/schema/schema.css": "schema.css",
}
SCHEMA_POLICY: Final = POLICY.replace("img-src 'self' data:", "img-src data:")
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    # Kept, but asked about each time: the files must fit one another after an update.
    "Cache-Control": "no-cache",
}

WIDGET: Final = "widget.js"
WIDGET_HEADERS: Final = {
    # A page of any site may run it, as a plain script or a module; whose page may ask anything is
    # for JUDGE_CORS_ORIGINS to say.
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
    # It needs nothing to fit it but the interface, which only grows.
    "Cache-Control": "public, max-age=3600, stale-while-revalidate=86400",
}


@get(
    ["/", "/playground/{name:str}"],
    access=Access.OPEN,
    include_in_schema=False,
    sync_to_thread=False,
)
def playground(
    request: Request[Any, Any, Any], name: FromPath[str] = "index.html"
) -> Response[bytes]:
    """The page, or one of the files that it is made of."""
    return _answer(request, name, HEADERS)


@get("/widget.js", access=Access.OPEN, include_in_schema=False, sync_to_thread=False)
def widget(request: Request[Any, Any, Any]) -> Response[bytes]:
    """`<judge-form>` for pages of other sites."""
    return _answer(request, WIDGET, WIDGET_HEADERS)


@get("/schema/openapi.json", access=Access.OPEN, include_in_schema=False, sync_to_thread=False)
def schema_document(state: State) -> Response[bytes]:
    """The OpenAPI 3.1 document."""
    return Response(state.document(), media_type="application/vnd.oai.openapi+json")


@get(
    list(SCHEMA_FILES),
    access=Access.OPEN,
    include_in_schema=False,
    sync_to_thread=False,
)
def schema_page(request: Request[Any, Any, Any]) -> Response[bytes]:
    """The document for people, without any CDN, and what that page is made of."""
    name = SCHEMA_FILES[request.scope["path_template"]]
    headers = {"Content-Security-Policy": SCHEMA_POLICY} if name.endswith("html") else {}
    body = files_in("api/openapi/static")[name]
    return Response(body, media_type=_media_type(name), headers=headers)


def _answer(
    request: Request[Any, Any, Any], name: str, headers: Mapping[str, str]
) -> Response[bytes]:
    """The playground's file called *name*, or 304 when the caller has it already."""
    body = files_in("playground").get(name)
    if body is None:
        raise NotFoundException
    # Changes with the content.
    etag = f'"{sha256(body).hexdigest()[:16]}"'
    headers = {**headers, "ETag": etag}
    media_type = _media_type(name)
    known = request.headers.get("if-none-match", "")
    if etag in {tag.strip().removeprefix("W/") for tag in known.split(",")}:
        return Response(b"", status_code=304, media_type=media_type, headers=headers)
    return Response(body, media_type=media_type, headers=headers)


def _media_type(name: str) -> str:
    return TYPES[name.rpartition(".")[2]]


@cache
def files_in(folder: str) -> dict[str, bytes]:
    """All files of a *folder* of the entrypoints, by name; nothing else can be asked for."""
    found = files("judge.entrypoints").joinpath(folder)
    return {file.name: file.read_bytes() for file in found.iterdir()}
