"""A connection that its client cannot hold for nothing: what uvicorn leaves without a limit.

A connection waits for its client while the head or the body of a request, or the taking of a reply,
is outstanding. That lasts so long at most, and past so many connections the one that has waited
longest makes room. So silent, slow and stubborn clients only crowd out one another.
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
"""From connecting, or the first byte of a further request, to the end of the request's head."""

IDLE_TIMEOUT_S = 30
"""Between a reply and the next request."""

TAKING_TIMEOUT_S = 30.0
"""How long a reply may wait for its client to take any of it."""

LEAVING_S = 0.5
"""How long a client that has said all is still answered. One that leaves says the same, and the
call of the model that is made for nobody ends so much later."""

LAST_CALL_S = 1.0
"""How long a new connection may still send its request when the server is about to stop."""

MAX_HEAD_BYTES = 64 * 1024
"""Of a request's head, and of trailers. Browsers and proxies stop at 8 to 32 KiB."""

MAX_PIPELINED = 64
"""Requests sent ahead of their turn; what pipelines at all sends a dozen."""

_MALFORMED = "This is no HTTP request that can be understood. Check what the client sends."


class BoundedState(ServerState):
    """What the connections of one process share: how many there may be, and which ones wait."""

    def __init__(
        self,
        max_connections: int,
        *,
        head_s: float = HEAD_TIMEOUT_S,
        taking_s: float = TAKING_TIMEOUT_S,
    ) -> None:
        super().__init__()
        self.max_connections = max_connections
        self.head_s = head_s
        self.taking_s = taking_s
        self.is_stopping = False
        """Whoever is connected is answered once more."""
        self.waiting: dict[BoundedConnection, None] = {}
        """In the order in which their waits began."""

    def make_room(self) -> None:
        """Cut the connection that has waited longest, if there are too many."""
        if len(self.connections) > self.max_connections and self.waiting:
            next(iter(self.waiting)).cut()


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
        """Of names and values."""
        self._bytes_before_head = 0
        """Raw, and so the body too that came with the end of the head."""
        self._is_idle = False
        """A reply was sent, and nothing has come since."""
        self._joining: _JoiningTransport | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request; past the bound somebody has to go."""
        super().connection_made(transport)
        state = self.server_state
        self._wait(LAST_CALL_S if state.is_stopping else state.head_s)
        state.make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._stop_waiting()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        """Parse what came, if it is not too much of a head."""
        was_idle, self._is_idle = self._is_idle, False
        before = self.cycle
        self._bytes_before_head += len(data)
        self._unset_keepalive_if_required()
        try:
            self._parse(data)
        except httptools.HttpParserError:
            self.send_400_response(_MALFORMED)
        if was_idle and self.cycle is before:  # nearly every head comes whole
            self._wait(self.server_state.head_s)
        if self._timer and self._bytes_before_head > MAX_HEAD_BYTES:
            self.cut()

    def _parse(self, data: bytes) -> None:
        """Parse *data*, as if no other protocol (`Upgrade: h2c`) had been offered in it.

        uvicorn loses the body that comes with one, and Java's own client makes one by default.
        """
        while data and not self.transport.is_closing():
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                data = data[offer.args[0] :]
                if self._is_offer:
                    data = self._head_without_offer() + data
                    # The old one takes nothing more when this was to be the last request.
                    self.parser = httptools.HttpRequestParser(self)
                    self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
            else:
                return

    def _head_without_offer(self) -> bytes:
        """The head that was parsed last, written again."""
        version = self.parser.get_http_version().encode()
        lines = [b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, version)]
        lines += [b"%s: %s" % pair for pair in self.headers if pair[0] != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])

    @property
    def _is_offer(self) -> bool:
        """Whether what is parsed offers another protocol, and will be parsed again without that."""
        return self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take one header, or a trailer: those come without end unless they are counted."""
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > MAX_HEAD_BYTES:
            self.cut()
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the request. Its body may be outstanding, for as long as the handler allows."""
        if self._is_offer:
            self._head_bytes = 0
            return
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts != 1 and self.parser.get_http_version() == "1.1":  # so RFC 9112 wants it
            raise httptools.HttpParserError("there is not one Host")
        self._stop_waiting()
        self.server_state.waiting[self] = None
        super().on_headers_complete()
        self.headers = []  # for trailers, which are none: a proxy lets pass whatever they say
        self._joining = _JoiningTransport(self.transport)
        self.cycle.transport = cast("asyncio.Transport", self._joining)
        if self.server_state.is_stopping:
            self.cycle.keep_alive = False
        if len(self.pipeline) > MAX_PIPELINED:
            self.cut()

    def on_body(self, body: bytes) -> None:
        """Pass on a part of the body, which is not counted as head."""
        self._head_bytes = self._bytes_before_head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Nothing more is outstanding: from now on it is we who take time."""
        self._head_bytes = self._bytes_before_head = 0
        if self._is_offer:
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
        """Whether to go on writing: some tools close their side after the request (`socat`)."""
        if self._is_asking:
            self._wait(LEAVING_S)
        return self._is_asking

    def pause_writing(self) -> None:
        """Wait for the client to take what was sent."""
        super().pause_writing()
        self._wait(self.server_state.taking_s)

    def resume_writing(self) -> None:
        """Go on sending."""
        super().resume_writing()
        self._stop_waiting()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP with a problem, unless an answer is on its way already."""
        if self._is_asking:
            self.cycle.scope["state"]["ended_as"] = 400  # or it would count as a client that left
        if not (self._is_asking and self.cycle.response_started):
            self.transport.write(_malformed(request_id_of(cast("Any", self.scope))))
        self.transport.close()

    @property
    def _is_asking(self) -> bool:
        """Whether there is a request whose reply is not complete."""
        cycle: RequestResponseCycle | None = self.cycle  # None until the first request
        return cycle is not None and not cycle.response_complete

    def shutdown(self) -> None:
        """Finish what was begun; who has only just come may still ask."""
        if self.cycle is None and not self.transport.is_closing():
            self._wait(LAST_CALL_S)
        else:
            if self._joining:
                self._joining.flush()  # or closing would overtake the last part of a stream
            super().shutdown()

    def cut(self) -> None:
        """End the connection at once."""
        self._stop_waiting()
        self.connections.discard(self)
        self.transport.abort()

    def _wait(self, seconds: float) -> None:
        """Wait for the client, for *seconds* at most."""
        self._stop_waiting()
        self._timer = self.loop.call_later(seconds, self.cut)
        self.server_state.waiting[self] = None

    def _stop_waiting(self) -> None:
        """End the wait."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        self.server_state.waiting.pop(self, None)


class _JoiningTransport:
    """Joins what is written in one turn of the loop: the head of a reply and its body, as a rule.

    Each write of its own is a system call that wakes the client, a tenth of a millisecond.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._held = b""

    def write(self, data: bytes) -> None:
        """Hold *data* until more comes, or the loop turns."""
        if self._held:
            data, self._held = self._held + data, b""
            self._transport.write(data)
        elif data:
            self._held = data
            asyncio.get_running_loop().call_soon(self.flush)

    def close(self) -> None:
        """Close the connection once all is sent."""
        self.flush()
        self._transport.close()

    def is_closing(self) -> bool:
        """Whether the connection is closed or about to be."""
        return self._transport.is_closing()

    def flush(self) -> None:
        """Send what is held."""
        if self._held:
            held, self._held = self._held, b""
            self._transport.write(held)


def _malformed(request_id: str) -> bytes:
    """The whole reply to what is no HTTP."""
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
