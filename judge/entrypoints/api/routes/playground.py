"""The playground: one static page at `/` and the files it is made of, read once.

It uses the same interface as everybody else, under a policy that lets nothing else in. One of the
files is for pages of other sites: the widget.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from judge.entrypoints.api.access_policy import Access

PAGE: Final = "index.html"
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


@dataclass(frozen=True, slots=True)
class StaticFile:
    """One file as it is sent; *etag* changes with its content."""

    body: bytes
    media_type: str
    etag: str


@get("/", access=Access.OPEN, include_in_schema=False, sync_to_thread=False)
def playground(request: Request[Any, Any, Any]) -> Response[bytes]:
    """The page."""
    return _answer(request, PAGE)


@get("/playground/{name:str}", access=Access.OPEN, include_in_schema=False, sync_to_thread=False)
def playground_file(request: Request[Any, Any, Any], name: FromPath[str]) -> Response[bytes]:
    """One of the files that the page is made of."""
    return _answer(request, name)


@get("/widget.js", access=Access.OPEN, include_in_schema=False, sync_to_thread=False)
def widget(request: Request[Any, Any, Any]) -> Response[bytes]:
    """`<judge-form>` for pages of other sites."""
    return _answer(request, WIDGET, WIDGET_HEADERS)


def _answer(
    request: Request[Any, Any, Any], name: str, headers: Mapping[str, str] = HEADERS
) -> Response[bytes]:
    """The file called *name*, or 304 when the caller has it already."""
    file = static_files().get(name)
    if file is None:
        raise NotFoundException
    headers = {**headers, "ETag": file.etag}
    known = request.headers.get("if-none-match", "")
    if file.etag in {tag.strip().removeprefix("W/") for tag in known.split(",")}:
        return Response(b"", status_code=304, media_type=file.media_type, headers=headers)
    return Response(file.body, media_type=file.media_type, headers=headers)


@cache
def static_files() -> dict[str, StaticFile]:
    """Everything that is served, by name; nothing else can be asked for."""
    folder = files("judge.entrypoints") / "playground"
    return {file.name: _read(file.name, file.read_bytes()) for file in folder.iterdir()}


def _read(name: str, body: bytes) -> StaticFile:
    etag = f'"{sha256(body).hexdigest()[:16]}"'
    return StaticFile(body, TYPES[name.rpartition(".")[2]], etag)
