"""Runs the HTTP server: Granian's processes, each with the app and services of its own.

check the settings -> refuse a port that is taken -> start workers -> say that we listen
"""

import asyncio
import contextlib
import multiprocessing
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from granian.constants import Interfaces, Loops
from granian.server import Server

from judge.adapters.journal import Journals
from judge.bootstrap import open_services
from judge.entrypoints.api.middleware.client_address import is_loopback
from judge.errors import ConfigurationError
from judge.settings import Settings, share_metrics_in

if TYPE_CHECKING:
    from judge.entrypoints.api.routes.mcp import OpenMcp

BACKLOG = 1024
"""Connections that may wait, and requests that one worker takes on at once."""

SHUTDOWN_MARGIN_S = 5
"""How much longer than the slowest request may take a worker is given to finish."""

START_TIMEOUT_S = 60.0


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
    taken; SystemExit when a worker dies.
    """
    _check(settings, workers)
    port = _free_port(host, port)
    if settings.redis_url is None:
        _say("REDIS_URL is not set: using a bounded cache inside this process.")
    is_public = not is_loopback(host)
    if is_public and not (settings.api_keys or settings.admin_keys):
        _say(
            f"Anyone who can reach {host} may ask for judgements. Documents, search, code, MCP and "
            "scopes answer 403 until JUDGE_API_KEYS or JUDGE_ADMIN_KEYS is set."
        )
    with _metrics_directory(workers) as directory:
        if directory:
            share_metrics_in(directory)
        # After that, since prometheus_client reads it when it is imported.
        from judge.entrypoints.api.app import app_from_environment, create_app  # noqa: PLC0415

        server = Server(
            f"{app_from_environment.__module__}:{app_from_environment.__name__}",
            address=host,
            port=port,
            interface=Interfaces.ASGI,
            workers=workers,
            loop=Loops.asyncio,
            websockets=False,
            backlog=BACKLOG,
            backpressure=BACKLOG,
            log_enabled=False,
            respawn_failed_workers=True,
            workers_kill_timeout=int(settings.deadline_s) + SHUTDOWN_MARGIN_S,
        )
        if sys.platform == "linux":
            # A spawned worker of Granian 2.8 often aborts, with a trace on stderr, when all is done
            # and Python comes down around its threads; a forked one skips that.
            multiprocessing.set_start_method("fork", force=True)
        server.on_startup(partial(_announce_when_listening, host, port))
        load = partial(
            create_app,
            settings,
            metrics_directory=directory,
            is_public=is_public,
            open_mcp=open_mcp,
        )
        try:
            server.serve(target_loader=load, wrap_loader=False)
        except SystemExit:
            _say("Judge stops: its worker processes keep ending. The lines above may say why.")
            raise


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


def _free_port(host: str, port: int) -> int:
    """*port*, or a free one for 0; raises ConfigurationError when it cannot be listened on.

    The workers share the port by SO_REUSEPORT, which would quietly share it with another server
    of the same user too.
    """
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            bound: int = probe.getsockname()[1]
            return bound
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(
            f"Cannot listen on {host} port {port}: {reason}. Stop what uses it, or choose another "
            "with --host and --port."
        ) from None


@contextlib.contextmanager
def _metrics_directory(workers: int) -> Iterator[str]:
    """Where several workers share their counts; empty for one."""
    if workers == 1:
        yield ""
        return
    with tempfile.TemporaryDirectory(prefix="judge-metrics-") as directory:
        yield directory


def _announce_when_listening(host: str, port: int) -> None:
    """Say so once the first worker accepts connections, without holding up the start."""
    threading.Thread(target=_announce, args=(host, port), daemon=True).start()


def _announce(host: str, port: int) -> None:
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(host, host)  # noqa: S104
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            socket.create_connection((reachable, port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            shown = f"[{host}]" if ":" in host else host
            _say(f"Judge is listening on http://{shown}:{port}")
            return


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
