"""The app at `/mcp`, loaded when somebody first speaks the protocol: half a second and 25 MB."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge.bootstrap import Services
    from judge.entrypoints.mcp.streamable_http import AsgiApp


@asynccontextmanager
async def open_late(services: "Services") -> AsyncIterator["AsgiApp"]:
    """An ASGI app that opens `open_streamable_http` when it is first asked.

    A task of its own keeps that open, since it has to be closed in the task that opened it. What
    keeps it from opening is raised to whoever asks; the next one tries anew.
    """
    is_wanted = asyncio.Event()
    opened: asyncio.Future[AsgiApp] = asyncio.Future()

    async def keep_open() -> None:
        nonlocal opened
        while True:
            await is_wanted.wait()
            try:
                name = "judge.entrypoints.mcp.streamable_http"
                module = await asyncio.to_thread(import_module, name)
                async with module.open_streamable_http(services) as app:
                    opened.set_result(app)
                    await asyncio.Event().wait()
            except Exception as error:  # noqa: BLE001 - whoever asked is told
                is_wanted.clear()
                failed, opened = opened, asyncio.Future()
                if not failed.done():
                    failed.set_exception(error)

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        is_wanted.set()
        app = await asyncio.shield(opened)
        await app(scope, receive, send)

    keeping = asyncio.create_task(keep_open())
    try:
        yield answer
    finally:
        keeping.cancel()
        await asyncio.wait([keeping])
