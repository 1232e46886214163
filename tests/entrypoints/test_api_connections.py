"""Limits of one connection, and of all connections of a worker."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import uvicorn

from judge.entrypoints.api.connections import (
    MAX_HEAD_BYTES,
    MAX_PIPELINED,
    BoundedConnection,
    BoundedState,
)
from tests.fakes.waiting import until

CHUNKED = b"POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"
GET = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
SHORT_S = 0.3


@dataclass
class ServerUnderTest:
    """A server whose app reads the whole body and answers with so many bytes."""

    port: int
    state: BoundedState
    scopes: list = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    go: asyncio.Event = field(default_factory=asyncio.Event)
    reply_bytes: int = 2
    parts: int = 1
    stops_at_once: bool = False
    """Whether connections are shut down in the same loop iteration that ends the reply."""

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def app(self, scope, receive, send) -> None:
        if scope["type"] == "lifespan":
            while True:
                kind = (await receive())["type"]
                await send({"type": f"{kind}.complete"})
                if kind == "lifespan.shutdown":
                    return
        self.scopes.append(scope)
        body = b""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message["body"]
            if not message["more_body"]:
                break
        self.bodies.append(body)
        await self.go.wait()
        body = b"x" * self.reply_bytes
        length = [(b"content-length", str(self.parts * len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": length})
        for part in range(1, self.parts + 1):
            await send({"type": "http.response.body", "body": body, "more_body": part < self.parts})
        for connection in self.state.connections if self.stops_at_once else ():
            connection.shutdown()


@asynccontextmanager
async def serving(max_connections: int = 100, **limits: float) -> AsyncIterator[ServerUnderTest]:
    served = ServerUnderTest(0, BoundedState(max_connections, **limits))
    served.go.set()
    config = uvicorn.Config(
        served.app,
        port=0,
        http=BoundedConnection,
        interface="asgi3",
        log_config=None,
        log_level="critical",
        ws="none",
    )
    server = uvicorn.Server(config)
    server.server_state = served.state
    running = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    served.port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.should_exit = True
        await running


async def read_until_closed(reader: asyncio.StreamReader) -> bytes:
    """Read until the server closes the connection."""
    async with asyncio.timeout(10):
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""


@pytest.mark.parametrize("parts", [1, 2, 3])
async def test_reply_that_ends_during_shutdown_arrives_whole(parts: int):
    async with serving() as served:
        served.parts, served.stops_at_once = parts, True
        reader, writer = await served.connect()
        writer.write(GET)
        _, _, body = (await read_until_closed(reader)).partition(b"\r\n\r\n")
        assert body == parts * b"xx"
        writer.close()


async def test_silent_connection_is_closed():
    async with serving(head_timeout_s=SHORT_S) as served:
        reader, writer = await served.connect()
        assert await read_until_closed(reader) == b""
        assert not served.state.connections
        writer.close()


async def test_slow_request_head_is_cut_off():
    async with serving(head_timeout_s=SHORT_S) as served:
        reader, writer = await served.connect()
        end = asyncio.create_task(read_until_closed(reader))
        while not end.done():
            writer.write(b"X")
            await asyncio.wait([end], timeout=0.02)
        assert served.scopes == []
        writer.close()


async def test_each_request_on_a_connection_has_the_same_timeout():
    async with serving(head_timeout_s=SHORT_S) as served:
        reader, writer = await served.connect()
        writer.write(GET)
        assert (await reader.readuntil(b"xx")).startswith(b"HTTP/1.1 200")
        writer.write(GET[:9])
        assert await read_until_closed(reader) == b""
        assert len(served.scopes) == 1
        writer.close()


class RecordingTransport:
    """A transport that records what is written to it."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        self.writes: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.writes.append(data)
        self.transport.write(data)

    def __getattr__(self, name: str) -> object:
        return getattr(self.transport, name)


async def test_head_and_body_are_written_together():
    async with serving() as served:
        reader, writer = await served.connect()
        await until(lambda: bool(served.state.connections))
        [connection] = served.state.connections
        connection.transport = recorded = RecordingTransport(connection.transport)
        writer.write(GET + GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert (await read_until_closed(reader)).count(b"xx") == 2
        assert [one.endswith(b"\r\n\r\nxx") for one in recorded.writes] == [True, True]
        writer.close()


async def test_head_is_written_without_waiting_for_the_body():
    async with serving() as served:
        reader, writer = await served.connect()
        writer.write(
            b"POST / HTTP/1.1\r\nHost: here\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        )
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"ab")
        assert (await reader.readuntil(b"xx")).startswith(b"HTTP/1.1 200")
        writer.close()


async def test_half_closed_connection_gets_a_quick_reply():
    async with serving() as served:
        served.go.clear()
        reader, writer = await served.connect()
        writer.write(GET)
        writer.write_eof()
        await until(lambda: bool(served.bodies))
        served.go.set()
        assert (await read_until_closed(reader)).endswith(b"xx")
        writer.close()


async def test_disconnected_client_is_noticed_soon():
    async with serving() as served:
        served.go.clear()
        _, writer = await served.connect()
        writer.write(GET)
        await until(lambda: bool(served.bodies))
        writer.close()
        await until(lambda: not served.state.connections)
        served.go.set()


async def test_slow_request_is_not_cut_off():
    async with serving(head_timeout_s=SHORT_S) as served:
        served.go.clear()
        reader, writer = await served.connect()
        writer.write(GET)
        await asyncio.wait([asyncio.create_task(reader.read(1))], timeout=2 * SHORT_S)
        assert len(served.state.connections) == 1
        assert not served.state.waiting
        writer.close()
        served.go.set()


async def test_client_that_does_not_read_is_cut_off():
    async with serving(write_timeout_s=SHORT_S) as served:
        served.reply_bytes = 30_000_000
        reader, writer = await served.connect()
        writer.write(GET)
        await until(lambda: bool(served.scopes))
        await until(lambda: not served.state.connections)
        assert len(await read_until_closed(reader)) < served.reply_bytes
        writer.close()


async def test_longest_idle_connection_makes_room_for_a_new_one():
    async with serving(max_connections=3) as served:
        silent = [await served.connect() for _ in range(10)]
        reader, writer = await served.connect()
        writer.write(GET)
        assert (await reader.readuntil(b"xx")).startswith(b"HTTP/1.1 200")
        assert len(served.state.connections) <= 3
        for quiet, _ in silent[:8]:
            assert await read_until_closed(quiet) == b""
        for _, sender in [*silent, (reader, writer)]:
            sender.close()


async def test_busy_connection_is_not_closed_to_make_room():
    async with serving(max_connections=2) as served:
        served.go.clear()
        reader, writer = await served.connect()
        writer.write(GET)
        await until(lambda: bool(served.scopes))
        others = [await served.connect() for _ in range(5)]
        await until(lambda: len(served.state.connections) <= 2)
        served.go.set()
        assert (await reader.readuntil(b"xx")).startswith(b"HTTP/1.1 200")
        for _, sender in [*others, (reader, writer)]:
            sender.close()


@pytest.mark.parametrize(
    "endless",
    [
        b"GET /" + b"x" * 70_000,
        b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000,
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 70_000,
        CHUNKED + b"1\r\nx\r\n0\r\n" + b"X: y\r\n" * 70_000,
        GET * 50_000,
    ],
    ids=["path", "header", "headers", "trailers", "pipelined"],
)
async def test_endless_heads_trailers_and_pipelines_are_cut_off(endless):
    async with serving() as served:
        served.go.clear()
        reader, writer = await served.connect()
        end = asyncio.create_task(read_until_closed(reader))
        writer.write(endless)
        for _ in range(50):
            if end.done():
                break
            writer.write(b"X: " + b"y" * MAX_HEAD_BYTES + b"\r\n")
            await asyncio.wait([end], timeout=0.02)
        assert end.done()
        assert len(served.scopes) <= 1
        served.go.set()
        writer.close()


async def test_head_and_large_body_may_arrive_together():
    body = b"x" * 3 * MAX_HEAD_BYTES
    head = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n" % len(body)
    async with serving() as served:
        reader, writer = await served.connect()
        await until(lambda: served.state.connections)
        (connection,) = served.state.connections
        connection.data_received(head + body)
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.close()


async def test_trailers_are_not_headers():
    async with serving() as served:
        reader, writer = await served.connect()
        writer.write(CHUNKED + b"1\r\nx\r\n0\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n")
        assert (await reader.readuntil(b"xx")).startswith(b"HTTP/1.1 200")
        names = [name for name, _ in served.scopes[0]["headers"]]
        assert names == [b"host", b"transfer-encoding"]
        writer.close()


OFFER = b"POST /a?b HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        OFFER + b"Content-Length: 3\r\n\r\nabc",
        OFFER + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    ],
    ids=["length", "chunks"],
)
@pytest.mark.parametrize("step", [1, 7, 1000])
async def test_upgrade_offer_does_not_lose_the_body(sent: bytes, step: int):
    async with serving() as served:
        reader, writer = await served.connect()
        await until(lambda: served.state.connections)
        (connection,) = served.state.connections
        both = sent + GET
        for start in range(0, len(both), step):
            connection.data_received(both[start : start + step])
        for _ in range(2):
            assert (await reader.readuntil(b"xx")).startswith(b"HTTP/1.1 200")
        assert served.bodies == [b"abc", b""]
        assert served.scopes[0]["path"] == "/a"
        assert b"upgrade" not in dict(served.scopes[0]["headers"])
        writer.close()


@pytest.mark.parametrize(
    "sent",
    [
        OFFER.replace(b"Upgrade\r", b"close, Upgrade\r") + b"Content-Length: 3\r\n\r\nabc",
        OFFER.replace(b"HTTP/1.1", b"HTTP/1.0") + b"Content-Length: 3\r\n\r\nabc",
    ],
    ids=["close", "HTTP/1.0"],
)
async def test_upgrade_offer_is_allowed_on_the_last_request(sent: bytes):
    async with serving() as served:
        reader, writer = await served.connect()
        writer.write(sent)
        assert (await read_until_closed(reader)).startswith(b"HTTP/1.1 200")
        assert served.bodies == [b"abc"]
        writer.close()


async def test_connect_is_refused():
    async with serving() as served:
        reader, writer = await served.connect()
        writer.write(b"CONNECT here:80 HTTP/1.1\r\nHost: here:80\r\n\r\n" + GET)
        assert (await read_until_closed(reader)).startswith(b"HTTP/1.1 400")
        assert served.scopes == []
        writer.close()


async def test_pipelined_requests_are_answered_in_order():
    async with serving() as served:
        reader, writer = await served.connect()
        writer.write(GET * MAX_PIPELINED)
        for _ in range(MAX_PIPELINED):
            assert (await reader.readuntil(b"xx")).startswith(b"HTTP/1.1 200")
        writer.close()


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1\r\nBroken header\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: here\r\nHost: there\r\n\r\n",
        CHUNKED.replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
        CHUNKED + b"zz\r\nabc\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: -1\r\n\r\n",
        b"GET \xff\xfe HTTP/1.1\r\n\r\n",
        b"GET http:// HTTP/1.1\r\n\r\n",
    ],
)
async def test_malformed_request_is_answered_with_a_problem(nonsense):
    async with serving() as served:
        reader, writer = await served.connect()
        writer.write(nonsense)
        head, _, body = (await read_until_closed(reader)).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400")
        assert b"application/problem+json" in head
        assert json.loads(body)["type"] == "/problems/invalid-request"
        assert re.search(rb"\r\nx-request-id: [0-9a-f]{32}\r\n", head)
        assert b"\r\nx-content-type-options: nosniff\r\n" in head
        writer.close()


async def test_http_1_0_needs_no_host():
    async with serving() as served:
        reader, writer = await served.connect()
        writer.write(b"GET / HTTP/1.0\r\n\r\n")
        assert (await read_until_closed(reader)).startswith(b"HTTP/1.1 200")
        writer.close()


async def test_malformed_header_after_the_request_id_keeps_that_id():
    async with serving() as served:
        reader, writer = await served.connect()
        writer.write(b"GET / HTTP/1.1\r\nX-Request-ID: mine\r\nContent-Length: x\r\n\r\n")
        assert b"\r\nx-request-id: mine\r\n" in await read_until_closed(reader)
        writer.close()


async def test_malformed_request_after_a_reply_has_its_own_id():
    async with serving() as served:
        reader, writer = await served.connect()
        writer.write(GET.replace(b"\r\n\r\n", b"\r\nX-Request-ID: mine\r\n\r\n"))
        assert await reader.readuntil(b"xx")
        writer.write(b"\x00nonsense\r\n\r\n")
        reply = await read_until_closed(reader)
        assert reply.startswith(b"HTTP/1.1 400")
        assert b"x-request-id: mine" not in reply
        writer.close()


async def test_malformed_chunks_end_the_request_with_400():
    async with serving() as served:
        reader, writer = await served.connect()
        writer.write(CHUNKED)
        await until(lambda: bool(served.scopes))
        writer.write(b"5\r\nabcdefgh")
        assert (await read_until_closed(reader)).startswith(b"HTTP/1.1 400")
        assert served.scopes[0]["state"]["final_status"] == 400
        writer.close()


async def test_new_connection_is_answered_during_shutdown():
    async with serving() as served:
        reader, writer = await served.connect()
        await until(lambda: bool(served.state.connections))
        served.state.is_stopping = True
        for connection in list(served.state.connections):
            connection.shutdown()
        writer.write(GET)
        reply = await read_until_closed(reader)
        assert reply.startswith(b"HTTP/1.1 200")
        assert b"connection: close" in reply
        writer.close()
