"""The two transports: stdio for the client that started this process, and HTTP at `/mcp`.

HTTP is stateless: any worker can answer a request, and a client that disconnects cancels its call.
"""

import asyncio
import io
import logging
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

from mcp.server.transport_security import TransportSecuritySettings

from judge.adapters.journal import LibraryHandler, LogJournal
from judge.bootstrap.services import Services, open_services
from judge.entrypoints.event_log import warm
from judge.entrypoints.mcp.server import CallContext, build_server
from judge.errors import ConfigurationError
from judge.settings import Settings
from judge.types.search import OPERATOR, Viewer

AsgiApp = Callable[[Any, Any, Any], Awaitable[None]]

STDIN, STDOUT, STDERR = 0, 1, 2
_HALF_LETTER = re.compile(rb"(\\\\|\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w)|\\u[dD][89a-fA-F]\w\w")
"""Of the escapes in JSON: a backslash, a pair of surrogates, or (outside the group) one alone."""


def serve_stdio(settings: Settings, *, is_structured: bool = True) -> None:
    """Serve until stdin ends; raises ConfigurationError. Unless *is_structured*, send text only."""
    if not (sys.stdin and sys.stdout):
        raise ConfigurationError(
            "stdin or stdout is closed; the client that starts this speaks over both. Let it start "
            "`judge mcp`, or serve over HTTP: judge mcp --transport http"
        )
    # A thread reads stdin, and Python's own handler of Ctrl-C would wait for that thread.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    journal = LogJournal(sys.stderr)
    logging.getLogger().addHandler(LibraryHandler(journal))
    opener = partial(open_services, settings, journal)
    try:
        asyncio.run(serve_streams(opener, is_structured=is_structured))
    except* BrokenPipeError:
        pass  # The client died during a reply; there is nobody left to serve.


async def serve_streams(
    opener: Callable[[], AbstractAsyncContextManager[Services]], *, is_structured: bool = True
) -> None:
    """Serve the client on stdin and stdout; what else is printed before and after is diverted."""
    wire = os.dup(STDOUT)
    sys.stdin = io.TextIOWrapper(_Messages(io.FileIO(os.dup(STDIN))), encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), STDIN)
    _divert_stdout()
    async with opener() as services:
        warming = asyncio.create_task(warm(services, event="mcp.error"))
        try:
            server = build_server(services, lambda _: OPERATOR, is_structured=is_structured)
            os.dup2(wire, STDOUT)
            await server.run_stdio_async()
        finally:
            _divert_stdout()
            warming.cancel()
            await asyncio.wait([warming])


class _Messages(io.BufferedReader):
    """stdin, a message a line, with U+FFFD where half a letter is escaped.

    The SDK refuses a message with a lone surrogate without telling its id, so a client would wait.
    """

    def read1(self, _: int = -1) -> bytes:
        """The next line; empty at the end."""
        return _HALF_LETTER.sub(lambda one: one[1] or rb"\ufffd", self.readline())


def _divert_stdout() -> None:
    """Send what anything prints to stderr, also what is still in Python's buffer."""
    os.dup2(STDERR, STDOUT)
    sys.stdout.flush()


@asynccontextmanager
async def open_http(services: Services) -> AsyncIterator[AsgiApp]:
    """An ASGI app that speaks the protocol; `?structured=false` asks for replies as text only.

    The caller checks keys, origin and size, and sets the `viewer` in the state of each request.
    """
    async with _open_app(services) as app, _open_app(services, is_structured=False) as text_app:

        async def answer(scope: Any, receive: Any, send: Any) -> None:
            wants_text = b"structured=false" in scope["query_string"].split(b"&")
            await (text_app if wants_text else app)(scope, receive, send)

        yield answer


@asynccontextmanager
async def _open_app(services: Services, *, is_structured: bool = True) -> AsyncIterator[AsgiApp]:
    server = build_server(services, viewer, is_structured=is_structured)
    # Hosts and origins are checked before, by the rules of the HTTP server.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(stateless_http=True, transport_security=unchecked)
    async with server.session_manager.run():
        yield server.session_manager.handle_request


def viewer(context: CallContext) -> Viewer:
    """The viewer of the request; raises RuntimeError without one, so that nothing leaks."""
    if context.request is None:
        raise RuntimeError("A request over HTTP came without its head.")
    sender: Viewer = context.request.scope["state"]["viewer"]
    return sender
