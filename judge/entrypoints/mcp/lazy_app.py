"""The ASGI app at `/mcp`, imported at its first request: that takes half a second and 25 MB."""

import asyncio
from contextlib import AbstractAsyncContextManager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge.bootstrap.services import Services
    from judge.entrypoints.mcp.streamable_http import AsgiApp


def open_lazily(services: "Services") -> "AbstractAsyncContextManager[AsgiApp]":
    """An ASGI app that imports and creates that of `streamable_http` at its first request."""
    app: AsgiApp | None = None

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        nonlocal app
        if app is None:
            name = "judge.entrypoints.mcp.streamable_http"
            module = await asyncio.to_thread(import_module, name)
            app = module.streamable_http(services)
        await app(scope, receive, send)

    return nullcontext(answer)
