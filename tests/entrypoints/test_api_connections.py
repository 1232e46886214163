"""Heads of requests must arrive in time; the rest of HTTP is uvicorn's."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import uvicorn

from judge.entrypoints.api import server as connections
from judge.entrypoints.api.server import BoundedConnection
from tests.fakes.waiting import until

GET = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
SHORT_S = 0.2


async def answer(scope, receive, send) -> None:
    """Read the whole body and send it back."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message["body"], message["more_body"]
    length = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": length})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def connected(
    connections_made: list[BoundedConnection] | None = None,
    app: Callable[..., Awaitable[None]] = answer,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection to a server that sends the body back; adds it to *connections_made*."""
    config = uvicorn.Config(
        app, port=0, http=BoundedConnection, lifespan="off", log_config=None, ws="none"
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    reader, writer = await asyncio.open_connection(*server.servers[0].sockets[0].getsockname())
    try:
        await until(lambda: server.server_state.connections)
        if connections_made is not None:
            connections_made.extend(server.server_state.connections)
        async with asyncio.timeout(10):
            yield reader, writer
    finally:
        writer.close()
        server.should_exit = True
        await running


@pytest.mark.parametrize("sent", [b"", GET[:-2], GET + GET[:5]], ids=["none", "half", "later"])
async def test_connection_whose_head_does_not_end_is_closed(monkeypatch, sent):
    monkeypatch.setattr(connections, "HEAD_TIMEOUT_S", SHORT_S)
    async with connected() as (reader, writer):
        writer.write(sent)
        if sent.startswith(GET):
            await reader.readuntil(b"\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""


async def test_neither_a_slow_body_nor_the_time_between_requests_is_limited():
    made: list[BoundedConnection] = []
    async with connected(made) as (reader, writer):
        for _ in range(2):
            writer.write(b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\na")
            await until(lambda: made[0].head_timer is None)
            writer.write(b"b")
            assert (await reader.readuntil(b"ab")).startswith(b"HTTP/1.1 200")
            assert made[0].head_timer is None


async def test_a_chunk_extension_is_bounded_like_a_head():
    async with connected() as (reader, writer):
        writer.write(b"POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n2;")
        writer.write(b"a" * 2**20)
        with contextlib.suppress(ConnectionResetError):
            assert (await reader.read()).startswith(b"HTTP/1.1 400")
