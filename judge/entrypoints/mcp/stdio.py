"""The stdio transport: one client, which started this process. stdout carries only JSON-RPC."""

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
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.jsonrpc_dispatcher import cancelled_request_id_from_params
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from pydantic import ValidationError

from judge.adapters.journal import LibraryHandler, LogJournal
from judge.bootstrap import Services, open_services
from judge.entrypoints.event_log import warm
from judge.entrypoints.mcp.server import build_server
from judge.errors import ConfigurationError
from judge.settings import Settings
from judge.types.search import OPERATOR

OpenServices = Callable[[], AbstractAsyncContextManager[Services]]

STDOUT, STDERR = 1, 2
"""Descriptors."""

DRAIN_TIMEOUT_S = 60.0
"""For pending requests once stdin has ended; a question to the client then gets no reply."""

NO_JSON = "This line is no JSON; each message is one line of it, in UTF-8."
NO_MESSAGE = (
    "This line is no message of JSON-RPC 2.0: an object with `jsonrpc`, `method` and, where it is "
    "a request, an `id` of text or a whole number. There are no batches."
)


def serve_stdio(settings: Settings, *, is_structured: bool = True) -> None:
    """Serve until stdin ends; raises ConfigurationError without stdin, stdout or services.

    Events go to stderr. Unless *is_structured*, replies are sent as text only.
    """
    if not (sys.stdin and sys.stdout):
        raise ConfigurationError(
            "stdin or stdout is closed; the client that starts this speaks over both. Let it start "
            "`judge mcp`, or serve over HTTP: judge mcp --transport http"
        )
    # A thread reads stdin, and Python's own handler of Ctrl-C would wait for that thread.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    journal = LogJournal(sys.stderr)
    logging.getLogger().addHandler(LibraryHandler(journal))
    opened = partial(open_services, settings, journal)
    try:
        asyncio.run(serve_streams(opened, is_structured=is_structured))
    except* BrokenPipeError:
        pass  # The client died during a reply; there is nobody left to serve.


async def serve_streams(opener: OpenServices, *, is_structured: bool = True) -> None:
    """Serve the client on stdin and stdout; whatever else is printed goes to stderr."""
    with _exclusive_stdout() as wire:
        async with (
            opener() as services,
            _warm_up(services),
            stdio_server(stdout=anyio.wrap_file(wire)) as (lines, write),
            _messages(lines, write) as (read, replies),
        ):
            server = build_server(
                services, lambda _: OPERATOR, wants_text=lambda _: not is_structured
            )
            await server.run(read, replies, server.create_initialization_options())


class _PendingRequests:
    """The ids of the client's requests that have no reply yet."""

    def __init__(self) -> None:
        self._ids: set[RequestId | None] = set()
        self._changed = anyio.Event()

    def receive(self, message: JSONRPCMessage) -> None:
        """Note a request, or that one is cancelled, which gets no reply."""
        match message:
            case JSONRPCRequest(id=request_id):
                self._ids.add(request_id)
            case JSONRPCNotification(method="notifications/cancelled", params=params):
                self.remove(cancelled_request_id_from_params(params))

    def remove(self, request_id: RequestId | None) -> None:
        """Note that a request needs no reply any more."""
        self._ids.discard(request_id)
        self._changed.set()

    async def wait_until_empty(self) -> None:
        """Return once no request is pending."""
        while self._ids:
            self._changed = anyio.Event()
            await self._changed.wait()


@asynccontextmanager
async def _messages(
    lines: ObjectReceiveStream[SessionMessage | Exception], write: ObjectSendStream[SessionMessage]
) -> AsyncIterator[
    tuple[ObjectReceiveStream[SessionMessage | Exception], ObjectSendStream[SessionMessage]]
]:
    """The messages among *lines*, and the stream for replies; other lines get an error as reply.

    The messages end only when *lines* have ended and no request is pending: the server cancels
    its requests at the end of the messages.
    """
    passed, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()
    replies, replied = anyio.create_memory_object_stream[SessionMessage]()
    pending = _PendingRequests()

    async def pass_on() -> None:
        async with passed:
            async for line in lines:
                if not isinstance(line, Exception):
                    pending.receive(line.message)
                    await passed.send(line)
                elif refusal := _refusal(line):
                    await write.send(SessionMessage(refusal))
            with anyio.move_on_after(DRAIN_TIMEOUT_S):
                await pending.wait_until_empty()

    async def send_replies() -> None:
        async with write:
            async for reply in replied:
                await write.send(reply)
                if isinstance(reply.message, JSONRPCResponse | JSONRPCError):
                    pending.remove(reply.message.id)

    async with anyio.create_task_group() as group:
        group.start_soon(pass_on)
        group.start_soon(send_replies)
        yield messages, replies
        group.cancel_scope.cancel()


def _refusal(error: Exception) -> JSONRPCError | None:
    """The reply to a line that raised *error*; none to an empty line."""
    first = error.errors()[0] if isinstance(error, ValidationError) else {"type": "", "input": ""}
    if first["type"] != "json_invalid":
        data = ErrorData(code=INVALID_REQUEST, message=NO_MESSAGE)
    elif str(first["input"]).strip():
        data = ErrorData(code=PARSE_ERROR, message=NO_JSON)
    else:
        return None
    return JSONRPCError(jsonrpc="2.0", id=None, error=data)


@contextmanager
def _exclusive_stdout() -> Iterator[TextIO]:
    """The real stdout; during the block, descriptor 1 is redirected to stderr.

    Else output of a library, an extension or a child process would corrupt the protocol.
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
async def _warm_up(services: Services) -> AsyncIterator[None]:
    """Warm the services up in the background, so that the first call does not wait."""
    warming = asyncio.create_task(warm(services, event="mcp.error"))
    try:
        yield
    finally:
        warming.cancel()
        await asyncio.wait([warming])
