"""What a request says: its body, read within limits, then its model; and its query string."""

import asyncio
from codecs import BOM_UTF8
from typing import Any, Final

from litestar import Request
from litestar.types import HTTPScope, Receive

from judge.entrypoints.api.problem_responses import ClientLeft, Refused
from judge.types.request_fields import BadFields, FieldError, parse_json

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

        Raises Refused and BadFields.
        """
        # A page of another site cannot say that it is JSON without asking first, and so spends no
        # tokens.
        content_type = dict(self.scope["headers"]).get(b"content-type", b"")
        if not is_json(content_type.decode("latin-1")):
            raise Refused("unsupported-media-type")
        handler = self.route_handler
        body = await read_body(
            self.scope, self.receive, max_bytes=handler.opt.get(MAX_OF_ROUTE, MAX_BODY_BYTES)
        )
        field = handler.parsed_data_field
        if field is not None:
            self._json = parse_json(field.annotation, body.removeprefix(BOM_UTF8))
        return body


def is_json(content_type: str | None) -> bool:
    """Whether a body of this type is JSON; one of no type is not."""
    media_type = (content_type or "").partition(";")[0].strip().lower()
    return media_type == "application/json" or (
        media_type.startswith("application/") and media_type.endswith("+json")
    )


def query_fields(request: Request[Any, Any, Any]) -> dict[str, Any]:
    """The fields of the query string; one that stands there several times is a list."""
    sent = request.query_params.dict().items()
    return {name: values if len(values) > 1 else values[0] for name, values in sent}


async def read_body(
    scope: HTTPScope,
    receive: Receive,
    *,
    timeout_s: float = BODY_TIMEOUT_S,
    max_bytes: int = MAX_BODY_BYTES,
    advice: str = "",
) -> bytes:
    """The whole body; what is announced about its length need not be true.

    Raises Refused, with *advice* when it is too large, and BadFields when it takes too long. What
    says that it is too large is not even asked for, which spares who expects to be its sending.
    """
    advice = advice or f"The body is over {max_bytes // 1024} KiB. Shorten it."
    headers = dict(scope["headers"])
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        # It would have to be unpacked, and small ones can hide large ones.
        raise Refused("unsupported-media-type", "The body is compressed. Send it as it is.")
    if int(headers.get(b"content-length", 0)) > max_bytes:
        raise Refused("too-large", advice)
    body = bytearray()
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise ClientLeft
                body += message["body"]
                if len(body) > max_bytes:
                    raise Refused("too-large", advice)
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise BadFields([FieldError("body", "did not arrive in time; send it at once")]) from None
