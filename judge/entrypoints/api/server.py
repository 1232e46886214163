"""Runs the HTTP server: worker processes behind one port, each with uvicorn, app and services.

check the settings -> bind the port -> start workers -> announce the address

The parent loads nothing that only workers need: it starts at once and stays small.
"""

import contextlib
import gc
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from judge.adapters.journal import LogJournal
from judge.entrypoints.api.middleware.client_address import is_loopback
from judge.entrypoints.api.supervisor import BACKLOG, SHUTDOWN_MARGIN_S, Supervisor
from judge.errors import ConfigurationError
from judge.settings import Settings, share_metrics_in

if TYPE_CHECKING:
    from judge.entrypoints.api.routes.mcp import OpenMcp


def serve(
    settings: Settings, *, host: str, port: int, workers: int, open_mcp: "OpenMcp | None" = None
) -> None:
    """Serve until SIGTERM, SIGINT or SIGHUP; what is in flight then is finished first.

    Port 0 takes a free one. *open_mcp* is opened in each worker, and answers at `/mcp`. Raises
    ConfigurationError, before anything is started, when the settings cannot work or the port is
    taken; SystemExit when the workers keep ending.
    """
    if workers > 1 and settings.redis_url is None:
        raise ConfigurationError(
            f"--workers {workers} needs a cache that the workers share. "
            "Set REDIS_URL, or use one worker."
        )
    is_public = not is_loopback(host)
    with _listening(host, port) as listener, _metrics_directory(workers) as directory:

        def work(is_replacement: bool, report_ready: Callable[[], None]) -> None:  # noqa: FBT001
            # Imported here so that the parent stays small. Almost everything made meanwhile stays,
            # and collecting garbage in it took a tenth of the start; the app enables it later.
            gc.disable()
            # httpx loads its command line if rich is there, as it is with Litestar: 25 ms, 3 MB.
            sys.modules["httpx._main"] = None  # type: ignore[assignment]
            from judge.entrypoints.api.worker import serve_in_worker  # noqa: PLC0415

            serve_in_worker(
                settings,
                listener,
                report_ready,
                metrics_directory=directory,
                is_public=is_public,
                open_mcp=open_mcp,
                is_replacement=is_replacement,
            )

        has_worked = Supervisor(
            work=work,
            count=workers,
            finish_timeout_s=settings.deadline_s + 2 * SHUTDOWN_MARGIN_S,
            journal=LogJournal(sys.stderr),
            on_stop=listener.close,  # late clients are refused, not left waiting
            on_first_ready=partial(_announce, settings, host, listener, is_public=is_public),
            on_end=partial(_compact_metrics, directory) if directory else lambda _: None,
        ).run()
        if not has_worked:
            _say("Judge stops: its worker processes keep ending. The lines above may say why.")
            raise SystemExit(1)


def _announce(settings: Settings, host: str, listener: socket.socket, *, is_public: bool) -> None:
    """Print what the settings leave out or open up, and the address that it listens on."""
    if settings.redis_url is None:
        _say("REDIS_URL is not set: using a bounded cache inside this process.")
    if is_public and not (settings.api_keys or settings.admin_keys):
        _say(
            f"Anyone who can reach {host} may ask for judgements. Documents, search, code, MCP and "
            "scopes answer 403 until JUDGE_API_KEYS or JUDGE_ADMIN_KEYS is set."
        )
    shown = f"[{host}]" if ":" in host else host
    _say(f"Judge is listening on http://{shown}:{listener.getsockname()[1]}")


@contextlib.contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens; raises ConfigurationError when it cannot.

    It listens before there are workers, so that early clients wait instead of being refused.
    """
    with contextlib.ExitStack() as stack:
        try:
            [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )
            listener = stack.enter_context(socket.socket(family, kind, protocol))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except (OSError, OverflowError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ConfigurationError(
                f"Cannot listen on {host} port {port}: {reason}. Stop what uses it, or choose "
                "another with --host and --port."
            ) from None
        yield listener


@contextlib.contextmanager
def _metrics_directory(workers: int) -> Iterator[str]:
    """The folder where workers share their counts; empty for one. Raises ConfigurationError."""
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
        share_metrics_in(directory)
        yield directory


def _compact_metrics(directory: str, pid: int) -> None:
    """Drop the gauges of the ended process *pid*, and the unused space of its counts."""
    from prometheus_client.multiprocess import mark_process_dead  # noqa: PLC0415

    mark_process_dead(pid, directory)  # type: ignore[no-untyped-call]
    for path in Path(directory).glob(f"*_{pid}.db"):
        with contextlib.suppress(OSError), path.open("r+b") as file:
            # It begins with the number of bytes used, itself included.
            used = int.from_bytes(file.read(4), sys.byteorder)
            file.truncate(max(8, used))


def _say(line: str) -> None:
    with contextlib.suppress(OSError):  # A full disk under the log is no reason not to serve.
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
