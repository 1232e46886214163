"""`/schema`: the OpenAPI document, and a page of our own that shows it without any CDN."""

from functools import cache
from importlib.resources import files
from typing import Final

from litestar import Response, get
from litestar.di import NamedDependency

from judge.entrypoints.api.access_policy import Access

JSON_TYPE: Final = "application/vnd.oai.openapi+json"
PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@get("/schema/openapi.json", access=Access.OPEN, include_in_schema=False, sync_to_thread=False)
def schema_document(document: NamedDependency[bytes]) -> Response[bytes]:
    """The OpenAPI 3.1 document."""
    return Response(document, media_type=JSON_TYPE)


@get("/schema", access=Access.OPEN, include_in_schema=False, sync_to_thread=False)
def schema_page() -> Response[bytes]:
    """The document for people."""
    headers = {"Content-Security-Policy": PAGE_POLICY}
    return Response(_static("schema.html"), media_type="text/html", headers=headers)


@get("/schema/schema.js", access=Access.OPEN, include_in_schema=False, sync_to_thread=False)
def schema_script() -> Response[bytes]:
    """What fills the page."""
    return Response(_static("schema.js"), media_type="text/javascript")


@get("/schema/schema.css", access=Access.OPEN, include_in_schema=False, sync_to_thread=False)
def schema_style() -> Response[bytes]:
    """What the page looks like."""
    return Response(_static("schema.css"), media_type="text/css")


@cache
def _static(name: str) -> bytes:
    return (files("judge.entrypoints.api.openapi") / "static" / name).read_bytes()
