"""`/mcp`: an ASGI app mounted behind the keys, limits and log of this one.

Which app that is `judge/__main__.py` says, since the entrypoints do not import one another.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import asgi
from litestar.types import HTTPScope, Receive, Send

from judge.bootstrap import Services
from judge.entrypoints.api.access_policy import Access, principal_of
from judge.entrypoints.api.middleware.client_address import host_of, is_loopback
from judge.entrypoints.api.problem_responses import Refused
from judge.entrypoints.api.request_body import read_body
from judge.entrypoints.check_requests import MAX_BYTES

OpenMcp = Callable[
    [Services], AbstractAsyncContextManager[Callable[[Any, Any, Any], Awaitable[None]]]
]
"""Opens the app that answers, for as long as the services are open."""


@asgi("/mcp", access=Access.PRIVATE, copy_scope=True)
async def mcp(scope: HTTPScope, receive: Receive, send: Send) -> None:
    """Hand a request on; raises Refused and BadFields."""
    state = scope["litestar_app"].state
    check_origin(scope["headers"], state.services.settings.cors_origins)
    scope["state"]["viewer"] = principal_of(scope).viewer
    body = await read_body(scope, receive, max_bytes=MAX_BYTES)
    await state.mcp(scope, _replayed(body, receive), send)


def check_origin(headers: Iterable[tuple[bytes, bytes]], allowed: Sequence[str]) -> None:
    """Raise Refused for a web page that is neither *allowed* nor of this machine, key or no key.

    The protocol asks for it: a browser may know a key that the page does not.
    """
    for name, value in headers:
        origin = value.decode("latin-1")
        if name == b"origin" and origin not in allowed and not is_loopback(host_of(origin)):
            raise Refused(
                "forbidden",
                "Pages of this origin may not call /mcp. Whoever runs the service can name it in "
                "JUDGE_CORS_ORIGINS.",
            )


def _replayed(body: bytes, receive: Receive) -> Receive:
    """*receive* as if nobody had read the body."""
    waiting: list[Any] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Any:
        return waiting.pop() if waiting else await receive()

    return receive_again
