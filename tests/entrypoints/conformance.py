"""Checks every HTTP reply that a test gets against the OpenAPI document."""

import copy
import re
from functools import cache
from typing import Any

import httpx
import jsonschema

from judge.entrypoints.api.app import openapi_document

PROBLEM = "application/problem+json"
JSON_TYPES = {"application/json", PROBLEM}
PAGES = re.compile(r"/|/widget\.js|/playground/.*|/schema(/.*)?")
"""Pages for people, which are not part of the interface."""


class NotAsDocumented(AssertionError):
    """A reply has a status, a media type or a body that the document does not promise."""


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document, a copy of our own."""
    return copy.deepcopy(openapi_document())


@cache
def _paths() -> list[tuple[re.Pattern[str], str]]:
    """A pattern for each path of the document; longer ones first."""
    return [
        (re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))), path)
        for path in sorted(document()["paths"], reverse=True)
    ]


def _operation(method: str, path: str) -> dict[str, Any] | None:
    """The operation of a request in the document; HEAD counts as GET."""
    method = "get" if method == "HEAD" else method.lower()
    for pattern, template in _paths():
        if pattern.fullmatch(path):
            return document()["paths"][template].get(method)
    return None


def check_conformance(reply: httpx.Response) -> None:
    """Raise NotAsDocumented unless *reply*, whose body is read, is as documented."""
    request = reply.request
    path = request.url.path
    if request.method == "OPTIONS" or (PAGES.fullmatch(path) and reply.status_code < 400):
        return
    operation = _operation(request.method, path)
    if operation is None and reply.is_success:
        return  # A route that the test added.
    if operation is None:
        content = {PROBLEM: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}}
        content |= {"text/html": {}} if reply.status_code == 404 else {}
    else:
        promised = operation["responses"].get(str(reply.status_code))
        if promised is None:
            raise NotAsDocumented(f"{request.method} {path} answers {reply.status_code}")
        content = promised.get("content", {})
    _check_body(reply, content)


def _check_body(reply: httpx.Response, content: dict[str, Any]) -> None:
    media_type = reply.headers.get("content-type", "").partition(";")[0]
    if not content or reply.request.method == "HEAD":
        return
    if media_type not in content:
        raise NotAsDocumented(f"{reply.request.url.path} answers with {media_type}")
    if media_type in JSON_TYPES:
        whole = {**content[media_type]["schema"], "components": document()["components"]}
        try:
            jsonschema.Draft202012Validator(whole).validate(reply.json())
        except jsonschema.ValidationError as error:
            raise NotAsDocumented(f"{reply.request.url.path}: {error.message}") from None


async def check_reply(reply: httpx.Response) -> None:
    """As `check_conformance`, for the event hooks of an httpx client."""
    await reply.aread()
    check_conformance(reply)
