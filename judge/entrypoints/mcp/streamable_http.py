"""The streamable HTTP transport, for the HTTP server to mount at `/mcp` behind its keys.

Without sessions: each request stands for itself, so any worker can answer it, and a client that
leaves cancels its call.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from judge.bootstrap import Services
from judge.entrypoints.mcp.server import CallContext, build_server
from judge.types.search import Viewer

AsgiApp = Callable[[Any, Any, Any], Awaitable[None]]


@asynccontextmanager
async def open_streamable_http(services: Services) -> AsyncIterator[AsgiApp]:
    """An ASGI app that speaks the protocol, for as long as the block runs.

    Whoever mounts it checks keys, Origin and the size of bodies, and puts into the state of each
    request who may see what of the documents, a Viewer as `viewer`.
    """
    manager = StreamableHTTPSessionManager(build_server(services, _viewer), stateless=True)
    async with manager.run():
        yield manager.handle_request


def _viewer(context: CallContext) -> Viewer:
    """Who sent the request; raises where that cannot be told, lest everything is shown."""
    if context.request is None:
        raise RuntimeError("A request over HTTP came without its head.")
    viewer: Viewer = context.request.scope["state"]["viewer"]
    return viewer
