"""HTTP/1.1 connections on which no client can stall: uvicorn itself sets no such limits.

A connection waits for its client while the head or body of a request is incomplete, or a reply
unread. Waits time out, and when there are too many connections the one that has waited longest is
closed. So silent, slow and stubborn clients only crowd out one another.
"""

import asyncio
from typing import Any, cast

import httptools
from litestar.serialization import encode_json
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from judge.entrypoints.api.middleware.requests import SECURITY_HEADERS, request_id_of
from judge.entrypoints.api.problem_responses import MEDIA_TYPE
from judge.problems import Problem, as_body
from judge.types.request_fields import FieldError

HEAD_TIMEOUT_S = 10.0
"""From connecting, or the first byte of a later request, to the end of the request's head."""

IDLE_TIMEOUT_S = 30
"""Between a reply and the next request."""

WRITE_TIMEOUT_S = 30.0
"""How long a reply may wait for its client to read any of it."""

HALF_CLOSED_TIMEOUT_S = 0.5
"""How long a client that closed its sending side is still answered. A client that leaves looks the
same, so its model call goes on for so long."""

LAST_REQUEST_TIMEOUT_S = 1.0
"""How long a new connection may still send its request when the server is about to stop."""

MAX_HEAD_BYTES = 64 * 1024
"""Of a request's head, and of trailers. Browsers and proxies stop at 8 to 32 KiB."""

MAX_PIPELINED = 64
"""Requests that may queue on a connection; clients that pipeline at all send a dozen."""

_MALFORMED = "This is no HTTP request that can be understood. Check what the client sends."


class BoundedState(ServerState):
    """State that the connections of one process share: their limit, and which of them wait."""

    def __init__(
        self,
        max_connections: int,
        *,
        head_timeout_s: float = HEAD_TIMEOUT_S,
        write_timeout_s: float = WRITE_TIMEOUT_S,
    ) -> None:
        super().__init__()
        self.max_connections = max_connections
        self.head_timeout_s = head_timeout_s
        self.write_timeout_s = write_timeout_s
        self.is_stopping = False
        """Each connection is answered once more, then closed."""
        self.waiting: dict[BoundedConnection, None] = {}
        """In the order in which their waits began."""

    def make_room(self) -> None:
        """Abort the connection that has waited longest, if there are too many."""
        if len(self.connections) > self.max_connections and self.waiting:
            next(iter(self.waiting)).abort()


class BoundedConnection(HttpToolsProtocol):
    """HTTP/1.1 on one connection, with every wait for the client bounded."""

    server_state: BoundedState

    def __init__(
        self,
        config: Config,
        server_state: BoundedState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        """Of header names and values."""
        self._raw_head_bytes = 0
        """Raw, including any body bytes that came with the end of the head."""
        self._is_idle = False
        """A reply was sent, and nothing has been received since."""
        self._batching: _BatchingTransport | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request; abort another connection if there are too many."""
        super().connection_made(transport)
        state = self.server_state
        self._wait(LAST_REQUEST_TIMEOUT_S if state.is_stopping else state.head_timeout_s)
        state.make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._stop_waiting()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        """Parse *data*; abort if the head is too large."""
        was_idle, self._is_idle = self._is_idle, False
        before = self.cycle
        self._raw_head_bytes += len(data)
        self._unset_keepalive_if_required()
        try:
            self._parse(data)
        except httptools.HttpParserError:
            self.send_400_response(_MALFORMED)
        if was_idle and self.cycle is before:  # most heads come in one piece
            self._wait(self.server_state.head_timeout_s)
        if self._timer and self._raw_head_bytes > MAX_HEAD_BYTES:
            self.abort()

    def _parse(self, data: bytes) -> None:
        """Parse *data* as if it offered no other protocol (`Upgrade: h2c`).

        uvicorn loses the body of a request with such an offer, which Java's own client makes.
        """
        while data and not self.transport.is_closing():
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                data = data[offer.args[0] :]
                if self._offers_upgrade:
                    data = self._head_without_upgrade() + data
                    # The old parser takes no more if this was to be the last request.
                    self.parser = httptools.HttpRequestParser(self)
                    self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
            else:
                return

    def _head_without_upgrade(self) -> bytes:
        """The last head, without its `Upgrade` header."""
        version = self.parser.get_http_version().encode()
        lines = [b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, version)]
        lines += [b"%s: %s" % pair for pair in self.headers if pair[0] != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])

    @property
    def _offers_upgrade(self) -> bool:
        """Whether this request offers another protocol, and will be parsed again without it."""
        return self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count the bytes of a header or trailer: uvicorn would take any number of them."""
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > MAX_HEAD_BYTES:
            self.abort()
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the request; its handler decides how long the body may take."""
        if self._offers_upgrade:
            self._head_bytes = 0
            return
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts != 1 and self.parser.get_http_version() == "1.1":  # RFC 9112, 3.2
            raise httptools.HttpParserError("there is not one Host")
        self._stop_waiting()
        self.server_state.waiting[self] = None
        super().on_headers_complete()
        self.headers = []  # else trailers count as headers, and proxies do not check those
        self._batching = _BatchingTransport(self.transport)
        self.cycle.transport = cast("asyncio.Transport", self._batching)
        if self.server_state.is_stopping:
            self.cycle.keep_alive = False
        if len(self.pipeline) > MAX_PIPELINED:
            self.abort()

    def on_body(self, body: bytes) -> None:
        """Pass on a part of the body; it does not count as head."""
        self._head_bytes = self._raw_head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is complete: from now on the client waits for us."""
        self._head_bytes = self._raw_head_bytes = 0
        if self._offers_upgrade:
            return
        self.server_state.waiting.pop(self, None)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if not self.pipeline:
            self._is_idle = True
            self.server_state.waiting[self] = None

    def eof_received(self) -> bool:  # type: ignore[override]
        """Whether a reply is still due: some tools (`socat`) close their side after the request."""
        if self._is_replying:
            self._wait(HALF_CLOSED_TIMEOUT_S)
        return self._is_replying

    def pause_writing(self) -> None:
        """Wait for the client to read what was sent."""
        super().pause_writing()
        self._wait(self.server_state.write_timeout_s)

    def resume_writing(self) -> None:
        """Go on sending."""
        super().resume_writing()
        self._stop_waiting()

    def send_400_response(self, msg: str) -> None:
        """Answer malformed HTTP with a problem, unless a reply has begun already."""
        if self._is_replying:
            self.cycle.scope["state"]["final_status"] = 400  # or it would log `client-left`
        if not (self._is_replying and self.cycle.response_started):
            self.transport.write(_malformed(request_id_of(cast("Any", self.scope))))
        self.transport.close()

    @property
    def _is_replying(self) -> bool:
        """Whether there is a request whose reply is not complete."""
        cycle: RequestResponseCycle | None = self.cycle  # None until the first request
        return cycle is not None and not cycle.response_complete

    def shutdown(self) -> None:
        """Finish the current request; a client that has not sent one yet still may."""
        if self.cycle is None and not self.transport.is_closing():
            self._wait(LAST_REQUEST_TIMEOUT_S)
        else:
            if self._batching:
                self._batching.flush()  # or closing would cut off the end of a stream
            super().shutdown()

    def abort(self) -> None:
        """Close the connection at once."""
        self._stop_waiting()
        self.connections.discard(self)
        self.transport.abort()

    def _wait(self, seconds: float) -> None:
        """Wait for the client; abort the connection after *seconds*."""
        self._stop_waiting()
        self._timer = self.loop.call_later(seconds, self.abort)
        self.server_state.waiting[self] = None

    def _stop_waiting(self) -> None:
        """Cancel the timer: the connection waits for its client no more."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        self.server_state.waiting.pop(self, None)


class _BatchingTransport:
    """Joins the writes of one event loop iteration: usually a reply's head and body.

    Each separate write is a system call that wakes the client, a tenth of a millisecond.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._buffer = b""

    def write(self, data: bytes) -> None:
        """Buffer *data* until more comes, or the loop's next iteration."""
        if self._buffer:
            data, self._buffer = self._buffer + data, b""
            self._transport.write(data)
        elif data:
            self._buffer = data
            asyncio.get_running_loop().call_soon(self.flush)

    def close(self) -> None:
        """Send what is buffered, then close the connection."""
        self.flush()
        self._transport.close()

    def is_closing(self) -> bool:
        """Whether the connection is closed or about to be."""
        return self._transport.is_closing()

    def flush(self) -> None:
        """Send what is buffered."""
        if self._buffer:
            data, self._buffer = self._buffer, b""
            self._transport.write(data)


def _malformed(request_id: str) -> bytes:
    """The whole reply to malformed HTTP."""
    problem = Problem(
        "invalid-request", _MALFORMED, {"errors": [FieldError("request", "is no HTTP")]}
    )
    body = encode_json(as_body(problem, path="", request_id=""))
    headers = (
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-request-id", request_id.encode()),
        (b"connection", b"close"),
        *SECURITY_HEADERS,
    )
    lines = [b"HTTP/1.1 400 Bad Request", *(b": ".join(header) for header in headers), b"", body]
    return b"\r\n".join(lines)
