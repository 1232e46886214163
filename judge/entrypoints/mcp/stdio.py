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
from judge.bootstrap.services import Services, open_services
from judge.entrypoints.event_log import warm
from judge.entrypoints.mcp.server import build_server
from judge.errors import ConfigurationError
from judge.settings import Settings
from judge.types.search import OPERATOR

OpenServices = Callable[[], AbstractAsyncContextManager[Services]]

STDOUT, STDERR = 1, 2
"""File descriptors."""

DRAIN_TIMEOUT_S = 60.0
"""For pending requests once stdin has ended; requests to the client then get no reply."""

NOT_JSON = "This line is no JSON; each message is one line of it, in UTF-8."
NOT_A_MESSAGE = (
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
    opener = partial(open_services, settings, journal)
    try:
        asyncio.run(serve_streams(opener, is_structured=is_structured))
    except* BrokenPipeError:
        pass  # The client died during a reply; there is nobody left to serve.


async def serve_streams(opener: OpenServices, *, is_structured: bool = True) -> None:
    """Serve the client on stdin and stdout; whatever else is printed goes to stderr."""
    with _exclusive_stdout() as stdout:
        async with (
            opener() as services,
            _warm_up(services),
            stdio_server(stdout=anyio.wrap_file(stdout)) as (lines, output),
            _server_streams(lines, output) as (read_stream, write_stream),
        ):
            server = build_server(
                services, lambda _: OPERATOR, wants_text=lambda _: not is_structured
            )
            await server.run(read_stream, write_stream, server.create_initialization_options())


class _PendingRequests:
    """The ids of the client's requests that have no reply yet."""

    def __init__(self) -> None:
        self._ids: set[RequestId | None] = set()
        self._changed = anyio.Event()

    def receive(self, message: JSONRPCMessage) -> None:
        """Add a request; remove one that is cancelled, which gets no reply."""
        match message:
            case JSONRPCRequest(id=request_id):
                self._ids.add(request_id)
            case JSONRPCNotification(method="notifications/cancelled", params=params):
                self.remove(cancelled_request_id_from_params(params))

    def remove(self, request_id: RequestId | None) -> None:
        """Remove a request that was answered or cancelled."""
        self._ids.discard(request_id)
        self._changed.set()

    async def wait_until_empty(self) -> None:
        """Return once no request is pending."""
        while self._ids:
            self._changed = anyio.Event()
            await self._changed.wait()


@asynccontextmanager
async def _server_streams(
    lines: ObjectReceiveStream[SessionMessage | Exception], output: ObjectSendStream[SessionMessage]
) -> AsyncIterator[
    tuple[ObjectReceiveStream[SessionMessage | Exception], ObjectSendStream[SessionMessage]]
]:
    """The server's read stream, with the messages among *lines*, and its write stream to *output*.

    Other lines are answered with an error. The read stream ends only when *lines* have ended and no
    request is pending: at its end the server cancels its requests.
    """
    read_stream_writer, read_stream = anyio.create_memory_object_stream[
        SessionMessage | Exception
    ]()
    write_stream, write_stream_reader = anyio.create_memory_object_stream[SessionMessage]()
    pending = _PendingRequests()

    async def forward_messages() -> None:
        async with read_stream_writer:
            async for line in lines:
                if error := _error_reply(line):
                    await output.send(SessionMessage(error))
                elif not isinstance(line, Exception):
                    pending.receive(line.message)
                    await read_stream_writer.send(line)
            with anyio.move_on_after(DRAIN_TIMEOUT_S):
                await pending.wait_until_empty()

    async def forward_replies() -> None:
        async with output:
            async for reply in write_stream_reader:
                await output.send(reply)
                if isinstance(reply.message, JSONRPCResponse | JSONRPCError):
                    pending.remove(reply.message.id)

    async with anyio.create_task_group() as group:
        group.start_soon(forward_messages)
        group.start_soon(forward_replies)
        yield read_stream, write_stream
        group.cancel_scope.cancel()


def _error_reply(line: SessionMessage | Exception) -> JSONRPCError | None:
    """The reply to a line that is no message; none to an empty line."""
    if isinstance(line, SessionMessage) and not _has_lost_its_id(line.message):
        return None
    first = line.errors()[0] if isinstance(line, ValidationError) else {"type": "", "input": ""}
    if first["type"] != "json_invalid":
        data = ErrorData(code=INVALID_REQUEST, message=NOT_A_MESSAGE)
    elif str(first["input"]).strip():
        data = ErrorData(code=PARSE_ERROR, message=NOT_JSON)
    else:
        return None
    return JSONRPCError(jsonrpc="2.0", id=None, error=data)


def _has_lost_its_id(message: JSONRPCMessage) -> bool:
    """Whether *message* is a request with an id such as 1.5, which the SDK ignores, or without."""
    return isinstance(message, JSONRPCNotification) and not message.method.startswith(
        "notifications/"
    )


@contextmanager
def _exclusive_stdout() -> Iterator[TextIO]:
    """The real stdout; in the block, file descriptor 1 is redirected to stderr.

    Else output of a library, an extension or a child process would corrupt the protocol.
    """
    sys.stdout.flush()
    with os.fdopen(os.dup(STDOUT), "w", encoding="utf-8", newline="\n") as stdout:
        os.dup2(STDERR, STDOUT)
        try:
            yield stdout
        finally:
            sys.stdout.flush()
            stdout.flush()
            os.dup2(stdout.fileno(), STDOUT)


@asynccontextmanager
async def _warm_up(services: Services) -> AsyncIterator[None]:
    """Warm the services up in the background, so that the first call does not wait."""
    warming = asyncio.create_task(warm(services, event="mcp.error"))
    try:
        yield
    finally:
        warming.cancel()
        await asyncio.wait([warming])
