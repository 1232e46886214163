"""Runs the HTTP server: worker processes behind one port, each with uvicorn, app and services.

check the settings -> bind the port -> start workers -> say that we listen
"""

import asyncio
import contextlib
import gc
import multiprocessing
import resource
import select
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import uvicorn

from judge.adapters.journal import Journals, LogJournal
from judge.bootstrap import open_services
from judge.entrypoints.api.connections import IDLE_TIMEOUT_S, BoundedConnection, BoundedState
from judge.entrypoints.api.middleware.client_address import is_loopback
from judge.entrypoints.api.workers import Workers
from judge.errors import ConfigurationError
from judge.settings import Settings, share_metrics_in

if TYPE_CHECKING:
    from judge.entrypoints.api.routes.mcp import OpenMcp

BACKLOG = 2048
"""Connections that may wait to be accepted; the kernel may allow fewer."""

ACCEPTED_AT_ONCE = 16
"""Connections that a worker takes before it looks after those it has."""

TURNS_TO_CONNECT = 4
"""Of asyncio's loop, from accepting a connection to telling the protocol; closing the socket in
between would lose it."""

MAX_CONNECTIONS = 10_000
"""Of one worker. Each costs about 5 KB while it waits."""

RESERVED_FILES = 256
"""File descriptors that are kept from connections: logs, Redis, the index, pages."""

SHUTDOWN_MARGIN_S = 5
"""How much longer than the slowest request may take a worker is given to finish."""


def serve(
    settings: Settings,
    *,
    host: str,
    port: int,
    workers: int,
    open_mcp: "OpenMcp | None" = None,
) -> None:
    """Serve until SIGTERM or SIGINT; what is in flight then is finished first.

    Port 0 takes a free one. *open_mcp* is opened in each worker, and answers at `/mcp`. Raises
    ConfigurationError, before anything is started, when the settings cannot work or the port is
    taken; SystemExit when the workers keep ending.
    """
    _check(settings, workers)
    is_public = not is_loopback(host)
    with _listening(host, port) as listener, _metrics_directory(workers) as directory:
        _say_what_matters(settings, host, is_public=is_public)
        if directory:
            share_metrics_in(directory)
        # After that, since prometheus_client reads it when it is imported.
        from prometheus_client.multiprocess import mark_process_dead  # noqa: PLC0415

        from judge.entrypoints.api.app import create_app  # noqa: PLC0415

        load = partial(
            create_app,
            settings,
            open_services=partial(open_services, begins_with_last_good=True),
            metrics_directory=directory,
            is_public=is_public,
            open_mcp=open_mcp,
        )
        gc.collect()
        gc.freeze()  # What the workers share stays shared: the collector would write to it.
        finish_s = settings.deadline_s + SHUTDOWN_MARGIN_S
        group = Workers(
            work=partial(_serve_in_worker, load, listener, int(finish_s)),
            count=workers,
            finish_s=finish_s + SHUTDOWN_MARGIN_S,
            journal=LogJournal(sys.stderr),
            on_stop=listener.close,  # or who comes late would wait for nobody
            on_first_ready=partial(_announce, host, listener.getsockname()[1]),
            on_end=mark_process_dead if directory else lambda _: None,
        )
        if not group.run():
            _say("Judge stops: its worker processes keep ending. The lines above may say why.")
            raise SystemExit(1)


class WorkerServer(uvicorn.Server):
    """uvicorn's server on a socket that workers share; it ends when their parent does."""

    server_state: BoundedState

    def __init__(self, config: uvicorn.Config, tell_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.server_state = BoundedState(_max_connections())
        self._tell_ready = tell_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and tell so."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(BACKLOG)  # asyncio takes one number for this and ACCEPTED_AT_ONCE
        parent = multiprocessing.parent_process()
        if parent:
            asyncio.get_running_loop().add_reader(parent.sentinel, self._leave)
        self._tell_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish what is in flight, that of clients who are connected but not yet accepted too."""
        self.server_state.is_stopping = True
        arriving = select.poll()
        for listener in sockets or ():
            arriving.register(listener, select.POLLIN)
        for _ in range(BACKLOG // ACCEPTED_AT_ONCE):
            await asyncio.sleep(0)  # The loop accepts some at each turn,
            if not arriving.poll(0):
                break
        for _ in range(TURNS_TO_CONNECT):
            await asyncio.sleep(0)  # and needs a few to make connections of them.
        await super().shutdown(sockets)

    def _leave(self) -> None:
        self.should_exit = True


def _serve_in_worker(
    load: Callable[[], object],
    listener: socket.socket,
    finish_s: int,
    tell_ready: Callable[[], None],
) -> None:
    """The work of one process: the app, until SIGTERM."""
    config = uvicorn.Config(
        load,
        factory=True,
        http=BoundedConnection,
        loop="asyncio",
        ws="none",
        interface="asgi3",
        lifespan="on",
        log_config=None,
        log_level="critical",  # what it says may quote a request; our own journal tells the rest
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=ACCEPTED_AT_ONCE,
        timeout_keep_alive=IDLE_TIMEOUT_S,
        timeout_graceful_shutdown=finish_s,
    )
    WorkerServer(config, tell_ready).run([listener])


def _max_connections() -> int:
    """How many a worker may hold: each may need a file descriptor more, for its model call."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        wanted = 2 * MAX_CONNECTIONS + RESERVED_FILES
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return max(16, min(MAX_CONNECTIONS, (soft - RESERVED_FILES) // 2))


def _say_what_matters(settings: Settings, host: str, *, is_public: bool) -> None:
    """Tell whoever starts it what they may not expect."""
    if settings.redis_url is None:
        _say("REDIS_URL is not set: using a bounded cache inside this process.")
    if is_public and not (settings.api_keys or settings.admin_keys):
        _say(
            f"Anyone who can reach {host} may ask for judgements. Documents, search, code, MCP and "
            "scopes answer 403 until JUDGE_API_KEYS or JUDGE_ADMIN_KEYS is set."
        )


def _check(settings: Settings, workers: int) -> None:
    """Refuse what no worker could start with, in this process and once."""
    if workers < 1:
        raise ConfigurationError("--workers must be at least 1.")
    if workers > 1 and settings.redis_url is None:
        raise ConfigurationError(
            f"--workers {workers} needs a cache that the workers share. "
            "Set REDIS_URL, or use one worker."
        )
    asyncio.run(_open_and_close(settings))


async def _open_and_close(settings: Settings) -> None:
    """Open what a worker would, without its events: the workers log theirs."""
    async with open_services(settings, Journals()):
        pass


@contextlib.contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens; raises ConfigurationError when it cannot.

    It listens before there are workers, so that who comes early waits instead of being refused.
    """
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        listener = socket.socket(family, kind, protocol)
    except (OSError, OverflowError) as error:
        raise _cannot_listen(host, port, error) from None
    with listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except (OSError, OverflowError) as error:
            raise _cannot_listen(host, port, error) from None
        yield listener


def _cannot_listen(host: str, port: int, error: Exception) -> ConfigurationError:
    reason = getattr(error, "strerror", None) or str(error)
    return ConfigurationError(
        f"Cannot listen on {host} port {port}: {reason}. Stop what uses it, or choose another "
        "with --host and --port."
    )


@contextlib.contextmanager
def _metrics_directory(workers: int) -> Iterator[str]:
    """Where several workers share their counts; empty for one. Raises ConfigurationError."""
    if workers == 1:
        yield ""
        return
    try:
        folder = tempfile.TemporaryDirectory(prefix="judge-metrics-")
    except OSError as error:
        raise ConfigurationError(
            f"--workers {workers} needs a folder for the counts that the workers share, and no "
            f"temporary folder can be written to ({error.strerror}). Set TMPDIR to one that can, "
            "or use one worker."
        ) from None
    with folder as directory:
        yield directory


def _announce(host: str, port: int) -> None:
    shown = f"[{host}]" if ":" in host else host
    _say(f"Judge is listening on http://{shown}:{port}")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
