"""One worker of the HTTP server: uvicorn on a socket that others share, app and services."""

import asyncio
import ctypes
import multiprocessing
import resource
import select
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import uvicorn

from judge.adapters.files.last_good import LastGood
from judge.bootstrap.services import open_services
from judge.entrypoints.api.app import create_app
from judge.entrypoints.api.connections import IDLE_TIMEOUT_S, BoundedConnection, BoundedState
from judge.entrypoints.api.routes.mcp import OpenMcp
from judge.entrypoints.api.supervisor import BACKLOG, SHUTDOWN_MARGIN_S
from judge.settings import Settings

ACCEPTED_AT_ONCE = 16
"""Connections that a worker accepts in one turn of its event loop."""

TURNS_TO_CONNECT = 4
"""Turns of asyncio's loop from accepting a connection to calling its protocol; closing the socket
in between would lose it."""

MAX_CONNECTIONS = 10_000
"""Per worker. Each costs about 5 KB while it waits."""

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
"""Parameters of mallopt, from glibc's malloc.h."""

MMAP_THRESHOLD = 320 * 1024
"""Bytes from which memory goes back to the system as it is freed. glibc would raise it to the size
freed last, up to 32 MB, which left memory fragmented. asyncio allocates 256 KiB for each read; to
map and unmap those took 12 µs, five times a judgement."""

RESERVED_FILES = 256
"""File descriptors that are kept from connections: logs, Redis, the index, pages."""


class WorkerServer(uvicorn.Server):
    """uvicorn's server on a socket that workers share; it ends when their parent does."""

    server_state: BoundedState

    def __init__(self, config: uvicorn.Config, report_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.server_state = BoundedState(_max_connections())
        self._report_ready = report_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then report that this worker is ready."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(BACKLOG)  # asyncio has set it to ACCEPTED_AT_ONCE
        parent = multiprocessing.parent_process()
        if parent:
            asyncio.get_running_loop().add_reader(parent.sentinel, self._exit_with_parent)
        self._report_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish what is in flight, also on connections that are not accepted yet."""
        self.server_state.is_stopping = True
        arriving = select.poll()
        for listener in sockets or ():
            arriving.register(listener, select.POLLIN)
        for _ in range(BACKLOG // ACCEPTED_AT_ONCE):
            await asyncio.sleep(0)  # The loop accepts some at each turn,
            if not arriving.poll(0):
                break
        for _ in range(TURNS_TO_CONNECT):
            await asyncio.sleep(0)  # and needs a few to call their protocols.
        await super().shutdown(sockets)

    def _exit_with_parent(self) -> None:
        self.should_exit = True


def serve_in_worker(
    settings: Settings,
    listener: socket.socket,
    report_ready: Callable[[], None],
    *,
    is_replacement: bool,
    is_public: bool,
    metrics_directory: str,
    open_mcp: OpenMcp | None,
) -> None:
    """Serve the app in this process until SIGTERM; raises ConfigurationError.

    *is_replacement*: another worker was ready before, so that this one starts even if the sources
    file was broken since. The rest is as for `create_app`.
    """
    _keep_memory_compact()
    last_good = LastGood(Path(settings.data_dir), may_read=is_replacement)
    app = create_app(
        settings,
        open_services=partial(open_services, last_good=last_good),
        metrics_directory=metrics_directory,
        is_public=is_public,
        open_mcp=open_mcp,
    )
    config = uvicorn.Config(
        app,
        http=BoundedConnection,
        loop="asyncio",
        ws="none",
        interface="asgi3",
        lifespan="on",
        log_config=None,
        log_level="critical",  # its messages may quote a request; our journal has the rest
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=ACCEPTED_AT_ONCE,
        timeout_keep_alive=IDLE_TIMEOUT_S,
        timeout_graceful_shutdown=int(settings.deadline_s + SHUTDOWN_MARGIN_S),
    )
    try:
        WorkerServer(config, report_ready).run([listener])
    finally:
        if start_error := app.state.get("start_error"):  # uvicorn would only say that it ended
            raise start_error


def _keep_memory_compact() -> None:
    """Have malloc return freed memory to the system; only glibc's malloc is known."""
    with suppress(AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_ARENA_MAX, 1)  # instead of one for each thread, 4 MB here
        mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD)
        mallopt(M_TRIM_THRESHOLD, 2 * MMAP_THRESHOLD)  # glibc's ratio; with less it trims each time


def _max_connections() -> int:
    """The limit of a worker: each may need a second file descriptor, for its model call."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        wanted = 2 * MAX_CONNECTIONS + RESERVED_FILES
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return max(16, min(MAX_CONNECTIONS, (soft - RESERVED_FILES) // 2))
