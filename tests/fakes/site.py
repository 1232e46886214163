"""A small web site on loopback with scripted pages, faults and delays, which counts requests.

It runs on a thread of its own, so that sync and async tests, and programs in other processes, can
all use it:

    with FakeSite() as site:
        site.page("/repairs", "<p>The landlord must repair the boiler.</p>")
        ...fetch site.url("/repairs")...
        assert site.hits["/repairs"] == 1
"""

import asyncio
import contextlib
import gzip
import ssl
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Self

HTML = "text/html; charset=utf-8"
TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True)
class Request:
    """One request received; header names are in lower case."""

    method: str
    target: str
    headers: dict[str, str]

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


@dataclass(frozen=True, slots=True)
class Reply:
    """A response of the site.

    `raw` is sent as it is, and the connection closed. With `pause_s` the body comes in pieces of
    `piece` bytes, with a pause after each. `length` overrides Content-Length; "" leaves it out.
    """

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", HTML),)
    delay_s: float = 0.0
    piece: int = 0
    pause_s: float = 0.0
    length: str | None = None
    raw: bytes | None = None

    def head(self) -> bytes:
        length = str(len(self.body)) if self.length is None else self.length
        headers = [*self.headers, *([("Content-Length", length)] if length else [])]
        lines = [f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"]
        lines += [f"{name}: {value}" for name, value in headers]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


Script = Reply | Callable[[Request], Reply]


@dataclass(slots=True)
class FakeSite:
    """The site; `hits` counts requests by path, `requests` lists them, in order of arrival.

    `connections` counts all that were opened, `open_connections` those still open.
    """

    tls: ssl.SSLContext | None = None
    hits: Counter[str] = field(default_factory=Counter)
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    open_connections: int = 0
    port: int = 0
    _scripts: dict[str, Script] = field(default_factory=dict)
    _gates: dict[str, asyncio.Event] = field(default_factory=dict)
    _loop: asyncio.AbstractEventLoop | None = None
    _thread: threading.Thread | None = None
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    # Scripting

    def page(self, path: str, html: str, *, delay_s: float = 0.0, modified: str = "") -> str:
        """Serve *html* at *path*; gives the address."""
        headers = [("Content-Type", HTML)]
        headers += [("Last-Modified", modified)] if modified else []
        return self.script(path, Reply(html.encode(), headers=tuple(headers), delay_s=delay_s))

    def gzipped(self, path: str, html: str) -> str:
        """Serve *html* at *path*, compressed."""
        headers = (("Content-Type", HTML), ("Content-Encoding", "gzip"))
        return self.script(path, Reply(gzip.compress(html.encode()), headers=headers))

    def redirect(self, path: str, location: str, status: int = 302) -> str:
        """Redirect *path* to *location*."""
        return self.script(path, Reply(status=status, headers=(("Location", location),)))

    def robots(self, text: str, status: int = 200) -> None:
        """Serve *text* as robots.txt; before this call it is a 404."""
        reply = Reply(text.encode(), status, headers=(("Content-Type", "text/plain"),))
        self.script("/robots.txt", reply)

    def fail(self, path: str, status: int = 500) -> str:
        """Answer *path* with an error status."""
        return self.script(path, Reply(b"<p>Sorry.</p>", status))

    def script(self, path: str, script: Script) -> str:
        """Answer *path* with a Reply, or with the result of a function of the Request."""
        self._scripts[path] = script
        return self.url(path)

    def hold(self, path: str) -> None:
        """Delay every answer for *path* until it is released."""
        self._gates[path] = asyncio.Event()

    def release(self, path: str) -> None:
        """Send the delayed answers for *path*."""
        assert self._loop
        self._loop.call_soon_threadsafe(self._gates.pop(path).set)

    # Observing

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host}{path}"

    async def arrived(self, path: str, count: int = 1) -> None:
        """Return once *path* was requested *count* times."""
        async with asyncio.timeout(TIMEOUT_S):
            while self.hits[path] < count:  # noqa: ASYNC110 - counted on another thread
                await asyncio.sleep(0.002)

    async def until_disconnected(self) -> None:
        """Return once nobody is connected."""
        async with asyncio.timeout(TIMEOUT_S):
            while self.open_connections:  # noqa: ASYNC110 - counted on another thread
                await asyncio.sleep(0.002)

    # Running

    def start(self) -> Self:
        """Open the site on a free port and return it."""
        opened: Future[int] = Future()
        self._thread = threading.Thread(target=asyncio.run, args=(self._run(opened),), daemon=True)
        self._thread.start()
        self.port = opened.result(TIMEOUT_S)
        return self

    def stop(self) -> None:
        """Close the site and every connection to it."""
        assert self._loop
        assert self._thread
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(TIMEOUT_S)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.start)

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.stop)

    async def _run(self, opened: "Future[int]") -> None:
        self._loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self.tls)
        opened.set_result(server.sockets[0].getsockname()[1])
        await self._stopping.wait()
        # Let connections being accepted start before the server closes, or their sockets stay open.
        self._loop.remove_reader(server.sockets[0].fileno())
        await asyncio.sleep(0)
        server.close()
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in others:
                task.cancel()
            await asyncio.wait(others)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open_connections += 1
        connection = asyncio.create_task(self._serve(reader, writer))
        # Keep a reference: without one, the garbage collector takes a task that waits for a reader.
        self._tasks.add(connection)
        # Not in the task itself, which may be cancelled before it starts.
        connection.add_done_callback(lambda connection: self._leave(connection, writer))

    def _leave(self, connection: asyncio.Task[None], writer: asyncio.StreamWriter) -> None:
        self._tasks.discard(connection)
        writer.transport.abort()
        self.open_connections -= 1

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            while await self._answer(await _read_request(reader), writer):
                pass

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        """Send the scripted reply; False when the connection is over."""
        self.requests.append(request)
        self.hits[request.path] += 1
        if gate := self._gates.get(request.path):
            await gate.wait()
        script = self._scripts.get(request.path, Reply(b"<p>Not here.</p>", 404))
        reply = script(request) if callable(script) else script
        await asyncio.sleep(reply.delay_s)
        if reply.raw is not None:
            writer.write(reply.raw)
            await writer.drain()
            writer.close()
            await writer.wait_closed()
            return False
        writer.write(reply.head())
        await _send(reply, writer)
        return reply.length is None or reply.status == HTTPStatus.NOT_MODIFIED


async def _read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip().split("\r\n")
    method, target, _ = first.split(" ")
    pairs = (line.split(":", 1) for line in lines)
    return Request(method, target, {name.lower(): value.strip() for name, value in pairs})


async def _send(reply: Reply, writer: asyncio.StreamWriter) -> None:
    piece = reply.piece or max(1, len(reply.body))
    for start in range(0, len(reply.body), piece):
        writer.write(reply.body[start : start + piece])
        await writer.drain()
        await asyncio.sleep(reply.pause_s)
