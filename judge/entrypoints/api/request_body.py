"""The body of a request: read within its limits, then its model or an error in words."""

import asyncio
from typing import Any, Final

from litestar import Request
from litestar.types import Receive

from judge.entrypoints.api.problem_responses import (
    BadFields,
    ClientLeft,
    FieldError,
    NotJson,
    TooLarge,
)
from judge.types.request_fields import parse_json

MAX_BODY_BYTES = 64 * 1024
MAX_OF_ROUTE: Final = "max_body_bytes"
"""The key in a route's `opt` for what its body may have instead."""

BODY_TIMEOUT_S = 20.0
"""64 KiB take 13 s on a 40 kbit/s line; slower than that is no phone but an attack."""


class BoundedRequest(Request[Any, Any, Any]):
    """A request whose JSON is read within our limits and refused in our words.

    Litestar's own way has no time limit, takes any type of body for JSON, answers 500 when the
    client leaves, and repeats pydantic's messages.
    """

    async def body(self) -> bytes:
        """The body of a handler that takes `data`, which `json` then has as its model.

        Raises NotJson, TooLarge, ClientLeft, BadFields.
        """
        expect_json(self.headers.get("content-type"))
        handler = self.route_handler
        body = await read_body(
            self.receive, max_bytes=handler.opt.get(MAX_OF_ROUTE, MAX_BODY_BYTES)
        )
        field = handler.parsed_data_field
        if field is not None:
            self._json = parse_json(field.annotation, body)
        return body


def expect_json(content_type: str | None) -> None:
    """Raise NotJson for a body that does not say that it is JSON.

    A page of another site cannot say so without asking first, and so spends no tokens.
    """
    if not is_json(content_type):
        raise NotJson


def is_json(content_type: str | None) -> bool:
    """Whether a body of this type is JSON; one of no type is not."""
    media_type = (content_type or "").partition(";")[0].strip().lower()
    return media_type == "application/json" or (
        media_type.startswith("application/") and media_type.endswith("+json")
    )


async def read_body(
    receive: Receive, *, timeout_s: float = BODY_TIMEOUT_S, max_bytes: int = MAX_BODY_BYTES
) -> bytes:
    """The whole body; raises TooLarge, ClientLeft, and BadFields when it takes too long."""
    try:
        async with asyncio.timeout(timeout_s):
            return await _read(receive, max_bytes)
    except TimeoutError:
        raise BadFields([FieldError("body", "did not arrive in time; send it at once")]) from None


async def _read(receive: Receive, max_bytes: int) -> bytes:
    """The body as it is; what is announced about its length need not be true."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientLeft
        body += message["body"]
        if len(body) > max_bytes:
            raise TooLarge(f"The body is over {max_bytes // 1024} KiB. Shorten it.")
        if not message.get("more_body", False):
            return bytes(body)
