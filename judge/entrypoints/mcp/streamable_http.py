"""The streamable HTTP transport, which the HTTP server mounts at `/mcp` behind its access checks.

It is stateless: any worker can answer a request, and a client that disconnects cancels its call.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from litestar.exceptions import MethodNotAllowedException
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from judge.bootstrap.services import Services
from judge.entrypoints.mcp.calls import CallContext
from judge.entrypoints.mcp.server import build_server
from judge.types.search import Viewer

AsgiApp = Callable[[Any, Any, Any], Awaitable[None]]


def streamable_http(services: Services) -> AsgiApp:
    """An ASGI app that speaks the protocol.

    The caller checks keys, Origin and body size before, and sets `viewer` in the state of each
    request: the Viewer that decides what documents are visible.
    """
    server = build_server(services, viewer, wants_text=_wants_text)

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["method"] != "POST":
            # Without sessions there is no stream to listen to (GET) and none to end (DELETE).
            raise MethodNotAllowedException(headers={"allow": "POST"})
        manager = StreamableHTTPSessionManager(server, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    return answer


def viewer(context: CallContext) -> Viewer:
    """The viewer of the request; raises RuntimeError without one, so that nothing leaks."""
    if context.request is None:
        raise RuntimeError("A request over HTTP came without its head.")
    sender: Viewer = context.request.scope["state"]["viewer"]
    return sender


def _wants_text(context: CallContext) -> bool:
    """Whether the URL of the request has `?structured=false`."""
    return bool(context.request and context.request.query_params.get("structured") == "false")
