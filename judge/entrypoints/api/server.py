"""Runs the HTTP server: uvicorn with our app, in this process or in several behind one port.

check the settings -> bind the port -> start uvicorn -> announce the address
"""

import asyncio
import multiprocessing
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import h11
import uvicorn
from litestar import Litestar
from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from judge.adapters.files.watched_file import LastGood
from judge.adapters.journal import LogJournal
from judge.adapters.metrics import keep_counts_of
from judge.bootstrap.services import open_services
from judge.entrypoints.api.app import OpenMcp, create_app
from judge.entrypoints.api.client_address import is_loopback
from judge.errors import ConfigurationError
from judge.settings import Settings, share_metrics_in

SHUTDOWN_MARGIN_S = 5
"""Time to finish for a worker, after its slowest request."""

HEAD_TIMEOUT_S = 10.0
"""From connecting, or the first byte of a later request, to the end of the request's head."""


def serve(
    settings: Settings, *, host: str, port: int, workers: int, open_mcp: OpenMcp | None = None
) -> None:
    """Serve until SIGTERM or SIGINT, and finish what is in flight; raises ConfigurationError.

    Port 0 takes a free one. *open_mcp* is opened in each worker, and answers at `/mcp`.
    """
    if workers > 1 and settings.redis_url is None:
        raise ConfigurationError(
            f"--workers {workers} needs a cache that the workers share. "
            "Set REDIS_URL, or use one worker."
        )
    is_public = not is_loopback(host)
    with _listen(host, port) as listener, _shared_folder(workers) as folder:
        announce = partial(_announce, settings, host, listener, is_public=is_public)
        config = _config(settings, workers, folder, is_public=is_public, open_mcp=open_mcp)
        for number in (signal.SIGTERM, signal.SIGINT):  # uvicorn raises them again at its end
            signal.signal(number, lambda *_: sys.exit(0))
        if workers == 1:
            Worker(config, announce).run([listener])
        else:
            share_metrics_in(folder)
            Workers(announce, folder, config, [listener]).run()


def _config(settings: Settings, workers: int, folder: str, **parts: Any) -> uvicorn.Config:
    return uvicorn.Config(
        partial(_make_app, settings, folder=folder, **parts),
        factory=True,
        workers=workers,
        http=BoundedConnection,
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="critical",  # its messages may quote a request; our journal has the rest
        access_log=False,
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=64 * 1024,  # browsers and proxies stop at 8 to 32 KiB
        timeout_keep_alive=30,
        timeout_graceful_shutdown=int(settings.deadline_s + SHUTDOWN_MARGIN_S),
        timeout_worker_healthcheck=30,
    )


def _make_app(
    settings: Settings, *, folder: str, is_public: bool, open_mcp: OpenMcp | None
) -> Litestar:
    """The app of one process, which ends with its parent."""
    if parent := multiprocessing.parent_process():
        loop = asyncio.get_running_loop()
        loop.add_reader(parent.sentinel, _end_with_parent, loop, parent.sentinel)
    last_good = LastGood(Path(settings.data_dir))
    return create_app(
        settings,
        open_services=partial(open_services, last_good=last_good),
        metrics_directory=folder,
        is_public=is_public,
        open_mcp=open_mcp,
    )


def _end_with_parent(loop: asyncio.AbstractEventLoop, sentinel: int) -> None:
    loop.remove_reader(sentinel)
    signal.raise_signal(signal.SIGTERM)


class BoundedConnection(H11Protocol):
    """Closes the connection of a client that does not finish the head of its request."""

    head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self.head_timer = self.loop.call_later(HEAD_TIMEOUT_S, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Read *data*; wait for the rest if it ends within a head."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self.head_timer is None:
            self.head_timer = self.loop.call_later(HEAD_TIMEOUT_S, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _stop_waiting(self) -> None:
        if self.head_timer:
            self.head_timer.cancel()
            self.head_timer = None


class Worker(uvicorn.Server):
    """The only process: calls *announce* when it is ready."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self.announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start; raises ConfigurationError, where uvicorn would only say that it ended."""
        try:
            await super().startup(sockets)
        except SystemExit:
            raise self.config.loaded_app.state.get("start_error") or SystemExit(1) from None
        self.announce()


class Workers(Multiprocess):
    """Several processes: calls *announce* when one is ready, and replaces those that end."""

    def __init__(self, announce: Callable[[], None], folder: str, *parts: Any) -> None:
        super().__init__(*parts)
        self.announce = announce
        self.folder = folder

    def init_processes(self) -> None:
        """Start all processes and wait for the first."""
        super().init_processes()
        if self.processes[0].wait_until_ready(60.0, self.should_exit):
            self.announce()

    def keep_subprocess_alive(self) -> None:
        """Replace the processes that have ended, and drop their gauges."""
        before = {process.pid for process in self.processes}
        super().keep_subprocess_alive()
        for pid in before - {process.pid for process in self.processes}:
            LogJournal(sys.stderr).note("server.worker_ended", pid=pid or 0)
            if pid:
                keep_counts_of(pid, self.folder)

    def run(self) -> None:
        """Serve until stopped; raises ConfigurationError when a worker could not start."""
        super().run()
        if any(process.exitcode == STARTUP_FAILURE for process in self.processes):
            raise ConfigurationError("A worker could not start; the lines above say why.")

    def handle_hup(self) -> None:
        """Stop: the terminal was closed."""
        self.handle_term()


def _announce(settings: Settings, host: str, listener: socket.socket, *, is_public: bool) -> None:
    """Log what the settings leave out or open up, and the address that it listens on."""
    note = LogJournal(sys.stderr).note
    if settings.redis_url is None:
        message = "REDIS_URL is not set: using a bounded cache inside this process."
        note("server.without_redis", message=message)
    if is_public and not (settings.api_keys or settings.admin_keys):
        message = (
            f"Anyone who can reach {host} may ask for judgements. Documents, search, code, MCP and "
            "scopes answer 403 until JUDGE_API_KEYS or JUDGE_ADMIN_KEYS is set."
        )
        note("server.open", message=message)
    url_host = f"[{host}]" if ":" in host else host
    address = f"http://{url_host}:{listener.getsockname()[1]}"
    note("server.listening", address=address, message=f"Judge is listening on {address}")


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens, before there are workers: early clients wait and are not refused."""
    try:
        [(family, _, _, _, address), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        return socket.create_server(address[:2], family=family, backlog=2048)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(
            f"Cannot listen on {host} port {port}: {reason}. Stop what uses it, or choose "
            "another with --host and --port."
        ) from None


def _shared_folder(workers: int) -> AbstractContextManager[str]:
    """Where workers share their counts; empty for one. Raises ConfigurationError."""
    if workers == 1:
        return nullcontext("")
    try:
        return tempfile.TemporaryDirectory(prefix="judge-workers-")
    except OSError as error:
        raise ConfigurationError(
            f"--workers {workers} needs a folder for the counts that the workers share "
            f"({error.strerror}). Set TMPDIR to one that can be written to, or use one worker."
        ) from None
