"""`/mcp`: an ASGI app mounted behind the keys, limits and log of this one.

`judge/__main__.py` hands it in, since the entrypoints do not import one another.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import asgi
from litestar.exceptions import MethodNotAllowedException
from litestar.types import HTTPScope, Receive, Send

from judge.bootstrap.services import Services
from judge.entrypoints.api.access_policy import Access, principal_of
from judge.entrypoints.api.middleware.client_address import has_foreign_origin
from judge.entrypoints.api.problem_responses import RequestRefused
from judge.entrypoints.api.request_body import read_body
from judge.entrypoints.check_requests import MAX_BYTES

OpenMcp = Callable[
    [Services], AbstractAsyncContextManager[Callable[[Any, Any, Any], Awaitable[None]]]
]
"""Opens the app mounted at `/mcp`, for as long as the services are open."""

FOREIGN_ORIGIN = (
    "Pages of this origin may not call /mcp. Whoever runs the service can name it in "
    "JUDGE_CORS_ORIGINS."
)


@asgi("/mcp", access=Access.PRIVATE, copy_scope=True)
async def mcp(scope: HTTPScope, receive: Receive, send: Send) -> None:
    """Pass a request to the mounted app; raises RequestRefused and BadFields.

    MCP asks to refuse pages of other origins even with a key: a browser may send one that its page
    does not know.
    """
    if scope["method"] != "POST":
        # Without sessions there is no stream to listen to (GET) and none to end (DELETE).
        raise MethodNotAllowedException(headers={"allow": "POST"})
    state = scope["litestar_app"].state
    if has_foreign_origin(scope["headers"], state.services.settings.cors_origins):
        raise RequestRefused("forbidden", FOREIGN_ORIGIN)
    scope["state"]["viewer"] = principal_of(scope).viewer
    body = await read_body(scope, receive, max_bytes=MAX_BYTES)
    await state.mcp(scope, _replayed(body, receive), send)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """*receive*, with the *body* that was read given once more."""
    unread: list[Any] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Any:
        return unread.pop() if unread else await receive()

    return receive_again
