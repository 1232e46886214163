"""The streamable HTTP transport, for the HTTP server to mount at `/mcp` behind its keys.

Without sessions: each request stands for itself, so any worker can answer it, and a client that
leaves cancels its call.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from litestar.exceptions import MethodNotAllowedException
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from judge.bootstrap import Services
from judge.entrypoints.mcp.calls import CallContext
from judge.entrypoints.mcp.server import build_server
from judge.types.search import Viewer

AsgiApp = Callable[[Any, Any, Any], Awaitable[None]]


def streamable_http(services: Services) -> AsgiApp:
    """An ASGI app that speaks the protocol.

    Whoever mounts it checks keys, Origin and the size of bodies, and puts into the state of each
    request who may see what of the documents, a Viewer as `viewer`.
    """
    server = build_server(services, viewer, wants_text=_wants_text)

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["method"] != "POST":
            # There are no sessions, and so there is nothing to listen to or to end.
            raise MethodNotAllowedException(headers={"allow": "POST"})
        manager = StreamableHTTPSessionManager(server, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    return answer


def viewer(context: CallContext) -> Viewer:
    """The viewer who sent the request; raises RuntimeError without one, so that nothing leaks."""
    if context.request is None:
        raise RuntimeError("A request over HTTP came without its head.")
    found: Viewer = context.request.scope["state"]["viewer"]
    return found


def _wants_text(context: CallContext) -> bool:
    """Whether the address that the client was given ends in `?structured=false`."""
    return bool(context.request and context.request.query_params.get("structured") == "false")
