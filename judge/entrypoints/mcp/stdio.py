"""The stdio transport: one client, which started this process. stdout carries JSON-RPC alone."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from functools import partial
from typing import TextIO

import anyio
from mcp.server.stdio import stdio_server

from judge.adapters.journal import LibraryHandler, LogJournal
from judge.bootstrap import Services, open_services
from judge.entrypoints.event_log import warm
from judge.entrypoints.mcp.server import build_server
from judge.settings import Settings
from judge.types.search import OPERATOR

OpenServices = Callable[[], AbstractAsyncContextManager[Services]]

STDOUT, STDERR = 1, 2
"""Descriptors."""


def serve_stdio(settings: Settings, *, is_structured: bool = True) -> None:
    """Serve until stdin ends; raises ConfigurationError when the services cannot be opened.

    Events go to stderr. Unless *is_structured*, the client reads nothing but texts.
    """
    # A thread waits for stdin, and Python's own way out of Ctrl-C would wait for that thread.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    journal = LogJournal(sys.stderr)
    logging.getLogger().addHandler(LibraryHandler(journal))
    opened = partial(open_services, settings, journal)
    asyncio.run(serve_streams(opened, is_structured=is_structured))


async def serve_streams(open_them: OpenServices, *, is_structured: bool = True) -> None:
    """Serve the client on stdin and stdout; whatever else is printed goes to stderr."""
    with _stdout_alone() as wire:
        async with (
            open_them() as services,
            _warming(services),
            stdio_server(stdout=anyio.wrap_file(wire)) as (read, write),
        ):
            server = build_server(
                services, lambda _: OPERATOR, wants_text=lambda _: not is_structured
            )
            await server.run(read, write, server.create_initialization_options())


@contextmanager
def _stdout_alone() -> Iterator[TextIO]:
    """What leads to stdout, for one writer; meanwhile descriptor 1 leads to stderr.

    A print of a library, of an extension or of a child would break the protocol.
    """
    sys.stdout.flush()
    with os.fdopen(os.dup(STDOUT), "w", encoding="utf-8", newline="\n") as wire:
        os.dup2(STDERR, STDOUT)
        try:
            yield wire
        finally:
            sys.stdout.flush()
            wire.flush()
            os.dup2(wire.fileno(), STDOUT)


@asynccontextmanager
async def _warming(services: Services) -> AsyncIterator[None]:
    """Do ahead, beside the block, what the first call would wait for."""
    warming = asyncio.create_task(warm(services, event="mcp.error"))
    try:
        yield
    finally:
        warming.cancel()
        await asyncio.wait([warming])
