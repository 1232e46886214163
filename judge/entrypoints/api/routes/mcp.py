"""`/mcp`: an ASGI app mounted behind the keys, limits and log of this one.

Which app that is `judge/__main__.py` says, since the entrypoints do not import one another.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import asgi
from litestar.types import HTTPScope, Receive, Send

from judge.bootstrap import Services
from judge.entrypoints.api.access_policy import Access, principal_of
from judge.entrypoints.api.middleware.client_address import is_from_elsewhere
from judge.entrypoints.api.problem_responses import Refused
from judge.entrypoints.api.request_body import read_body
from judge.entrypoints.check_requests import MAX_BYTES

OpenMcp = Callable[
    [Services], AbstractAsyncContextManager[Callable[[Any, Any, Any], Awaitable[None]]]
]
"""Opens the app that answers, for as long as the services are open."""


STRANGE_PAGE = (
    "Pages of this origin may not call /mcp. Whoever runs the service can name it in "
    "JUDGE_CORS_ORIGINS."
)


@asgi("/mcp", access=Access.PRIVATE, copy_scope=True)
async def mcp(scope: HTTPScope, receive: Receive, send: Send) -> None:
    """Hand a request on; raises Refused and BadFields.

    The protocol asks to refuse strange pages, key or no key: a browser may know one that its page
    does not.
    """
    state = scope["litestar_app"].state
    if is_from_elsewhere(scope["headers"], state.services.settings.cors_origins):
        raise Refused("forbidden", STRANGE_PAGE)
    scope["state"]["viewer"] = principal_of(scope).viewer
    body = await read_body(scope, receive, max_bytes=MAX_BYTES)
    await state.mcp(scope, _replayed(body, receive), send)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """*receive* as if nobody had read the body."""
    waiting: list[Any] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Any:
        return waiting.pop() if waiting else await receive()

    return receive_again
