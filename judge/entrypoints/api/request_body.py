"""The body of a request, read within limits and parsed as a model, and its query string."""

import asyncio
from codecs import BOM_UTF8
from typing import Any
from urllib.parse import unquote_to_bytes

from litestar import Request
from litestar.types import HTTPScope, Receive

from judge.entrypoints.api.problem_responses import ClientLeft, RequestRefused
from judge.types.request_fields import BadFields, FieldError, parse_json

MAX_BODY_BYTES = 64 * 1024
"""Unless a route has a `max_body_bytes` of its own in its `opt`."""
BODY_TIMEOUT_S = 20.0
"""64 KiB take 13 s on a 40 kbit/s line; slower than that is no phone but an attack."""


class BoundedRequest(Request[Any, Any, Any]):
    """A request whose JSON is read within our limits and refused in our words."""

    sent = b""

    async def body(self) -> bytes:
        """The body, for a handler that takes `data`; raises RequestRefused and BadFields."""
        # A page of another site cannot send JSON without a CORS preflight, and so spends no tokens.
        if not is_json(self.headers.get("content-type")):
            raise RequestRefused("unsupported-media-type")
        max_bytes = self.route_handler.opt.get("max_body_bytes", MAX_BODY_BYTES)
        self.sent = await read_body(self.scope, self.receive, max_bytes=max_bytes)
        return self.sent or b" "  # Litestar would not ask for the JSON of an empty one.

    async def json(self) -> Any:
        """The body as the model of its handler's `data`; raises BadFields."""
        field = self.route_handler.parsed_data_field
        return parse_json(field.annotation, self.sent.removeprefix(BOM_UTF8)) if field else None


def is_json(content_type: str | None) -> bool:
    """Whether a body of this type is JSON; one without a type is not."""
    media_type = (content_type or "").partition(";")[0].strip().lower()
    return media_type == "application/json" or (
        media_type.startswith("application/") and media_type.endswith("+json")
    )


def query_fields(request: Request[Any, Any, Any]) -> dict[str, Any]:
    """The fields of the query string; a repeated one is a list.

    Raises BadFields for other encodings than UTF-8, of which Litestar would leave question marks.
    """
    try:
        unquote_to_bytes(request.scope["query_string"]).decode()
    except UnicodeDecodeError:
        raise BadFields([FieldError("query string", "must be text in UTF-8")]) from None
    sent = request.query_params.dict().items()
    return {name: values if len(values) > 1 else values[0] for name, values in sent}


async def read_body(
    scope: HTTPScope, receive: Receive, *, max_bytes: int = MAX_BODY_BYTES, advice: str = ""
) -> bytes:
    """The whole body; one announced as too large is not read.

    Raises RequestRefused, with *advice* when it is too large, and BadFields when it takes too long.
    """
    too_large = RequestRefused(
        "too-large", advice or f"The body is over {max_bytes // 1024} KiB. Shorten it."
    )
    headers = dict(scope["headers"])
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        # A small compressed body can unpack to a huge one.
        raise RequestRefused("unsupported-media-type", "The body is compressed. Send it as it is.")
    if int(headers.get(b"content-length", 0)) > max_bytes:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise ClientLeft
                body += message["body"]
                if len(body) > max_bytes:
                    raise too_large
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        raise BadFields([FieldError("body", "did not arrive in time; send it at once")]) from None
