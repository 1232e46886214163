"""The app at `/mcp`, loaded when somebody first speaks the protocol: half a second and 25 MB."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import Context
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge.bootstrap import Services
    from judge.entrypoints.mcp.streamable_http import AsgiApp


class LateApp:
    """An ASGI app that opens the one that answers at its first request.

    A task of its own keeps that one open, since it has to be closed in the task that opened it.
    """

    def __init__(self, services: "Services") -> None:
        self._services = services
        self._opened: asyncio.Future[AsgiApp] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request; raises whatever keeps the app from opening."""
        if self._opened is None:
            self._opened = asyncio.get_running_loop().create_future()
            # In a context of its own, or its log lines would bear this request's id.
            keeping = self._keep_open(self._opened)
            self._keeping = asyncio.create_task(keeping, context=Context())
        app = await asyncio.shield(self._opened)
        await app(scope, receive, send)

    async def aclose(self) -> None:
        """Close what was opened."""
        self._closing.set()
        if self._keeping:
            await asyncio.wait([self._keeping])

    async def _keep_open(self, opened: "asyncio.Future[AsgiApp]") -> None:
        try:
            module = await asyncio.to_thread(import_module, "judge.entrypoints.mcp.streamable_http")
            async with module.open_streamable_http(self._services) as app:
                opened.set_result(app)
                await self._closing.wait()
        except Exception as error:  # noqa: BLE001 - whoever asked is told; the next one tries anew
            if not opened.done():
                opened.set_exception(error)
            self._opened = None


@asynccontextmanager
async def open_late(services: "Services") -> AsyncIterator["AsgiApp"]:
    """An ASGI app that opens `open_streamable_http` when it is first asked."""
    app = LateApp(services)
    try:
        yield app
    finally:
        await app.aclose()
