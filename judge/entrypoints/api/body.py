"""The body of a request: read within its limits, then a JudgeRequest or an error in words."""

import asyncio
from collections.abc import Mapping
from typing import Any

from litestar import Request
from litestar.types import Receive
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from judge.entrypoints.api.access import Access, visitor_of
from judge.entrypoints.api.problems import BadFields, ClientLeft, FieldError, NotJson, TooLarge
from judge.types.judging import JudgeRequest

MAX_BODY_BYTES = 64 * 1024
MAX_ERRORS = 20
"""Errors told at once; nobody reads more."""

BODY_TIMEOUT_S = 20.0
"""64 KiB take 13 s on a 40 kbit/s line; slower than that is no phone but an attack."""

MESSAGES: Mapping[str, str] = {
    "missing": "is missing; add it",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_type": "must be a text",
    "extra_forbidden": f"is not known here; known are {', '.join(JudgeRequest.model_fields)}",
    "model_type": "must be a JSON object",
    "json_invalid": "is not valid JSON: {error}",
}
"""What to say for each of pydantic's types of error that a request can have."""


async def read_judge_request(request: Request[Any, Any, Any]) -> JudgeRequest:
    """What is to be judged; raises NotJson, TooLarge, ClientLeft, BadFields.

    A scope needs more than judging does: raises Refused.
    """
    _expect_json(request.headers.get("content-type"))
    asked = parse_judge_request(await read_body(request.receive))
    if asked.scope is not None:
        # A verdict tells what it read, so whoever may not search may not name a scope either.
        visitor_of(request.scope).require(Access.PRIVATE)
    return asked


def _expect_json(content_type: str | None) -> None:
    """Refuse a body that says it is something else; one that says nothing is tried."""
    media_type = (content_type or "application/json").partition(";")[0].strip().lower()
    if media_type != "application/json" and not (
        media_type.startswith("application/") and media_type.endswith("+json")
    ):
        raise NotJson


async def read_body(receive: Receive, *, timeout_s: float = BODY_TIMEOUT_S) -> bytes:
    """The whole body; raises TooLarge, ClientLeft, and BadFields when it takes too long."""
    try:
        async with asyncio.timeout(timeout_s):
            return await _read(receive)
    except TimeoutError:
        raise BadFields([FieldError("body", "did not arrive in time; send it at once")]) from None


async def _read(receive: Receive) -> bytes:
    """The body as it is; what is announced about its length need not be true."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientLeft
        body += message["body"]
        if len(body) > MAX_BODY_BYTES:
            raise TooLarge
        if not message.get("more_body", False):
            return bytes(body)


def parse_judge_request(body: bytes) -> JudgeRequest:
    """The request in *body*, which may be any bytes; raises BadFields."""
    try:
        asked = JudgeRequest.model_validate_json(body)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        raise BadFields([_in_words(detail) for detail in details[:MAX_ERRORS]]) from None
    with_nul = [name for name, value in asked if isinstance(value, str) and "\x00" in value]
    if with_nul:
        raise BadFields([FieldError(name, "must not hold NUL characters") for name in with_nul])
    return asked


def _in_words(detail: ErrorDetails) -> FieldError:
    """*detail* as a person would say it; it never repeats what was sent but a field's name."""
    name = ".".join(str(part) for part in detail["loc"])[:100] or "body"
    message = MESSAGES[detail["type"]].format(**detail.get("ctx", {}))
    return FieldError(name, message)
