"""The stdio transport: one client, which started this process. stdout carries JSON-RPC alone."""

import asyncio
import logging
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, redirect_stdout
from functools import partial

from mcp.server.stdio import stdio_server

from judge.adapters.journal import LibraryHandler, LogJournal
from judge.bootstrap import Services, open_services
from judge.entrypoints.mcp.server import build_server
from judge.entrypoints.noting import note_error
from judge.settings import Settings

OpenServices = Callable[[], AbstractAsyncContextManager[Services]]


def serve_stdio(settings: Settings) -> None:
    """Serve until stdin ends; raises ConfigurationError when the services cannot be opened.

    Events go to stderr.
    """
    # A thread waits for stdin, and Python's own way out of Ctrl-C would wait for that thread.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    journal = LogJournal(sys.stderr)
    logging.getLogger().addHandler(LibraryHandler(journal))
    asyncio.run(serve_streams(partial(open_services, settings, journal)))


async def serve_streams(open_them: OpenServices) -> None:
    """Serve the client on stdin and stdout; nothing else that is printed gets onto stdout."""
    async with AsyncExitStack() as stack:
        with redirect_stdout(sys.stderr):
            services = await stack.enter_async_context(open_them())
        warming = asyncio.create_task(_warm(services))
        stack.callback(warming.cancel)
        read, write = await stack.enter_async_context(stdio_server())
        # The transport moves descriptor 1 away; what Python keeps in a buffer would come back.
        stack.enter_context(redirect_stdout(sys.stderr))
        server = build_server(services)
        await server.run(read, write, server.create_initialization_options())


async def _warm(services: Services) -> None:
    """Do ahead what the first call would wait for; it will wait if that fails."""
    try:
        await services.warm()
    except Exception as error:  # noqa: BLE001 - no reason not to serve
        note_error(services.journal, error, event="mcp.error")
