"""The streamable HTTP transport, for the HTTP server to mount at `/mcp` behind its keys.

Without sessions: each request stands for itself, so any worker can answer it, and a client that
leaves cancels its call.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from judge.bootstrap import Services
from judge.entrypoints.mcp.server import build_server

AsgiApp = Callable[[Any, Any, Any], Awaitable[None]]


@asynccontextmanager
async def open_streamable_http(services: Services) -> AsyncIterator[AsgiApp]:
    """An ASGI app that speaks the protocol, for as long as the block runs.

    Whoever mounts it checks keys, Origin and the size of bodies.
    """
    manager = StreamableHTTPSessionManager(build_server(services), stateless=True)
    async with manager.run():
        yield manager.handle_request
