"""Starts the command line, and gives it the servers: entrypoints do not import one another."""

import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

# Loading a server takes longer than all of `judge --help` may, so each is imported when it starts.
# ruff: noqa: PLC0415

if TYPE_CHECKING:
    from judge.settings import Settings

INTERRUPTED = 128 + signal.SIGINT
"""The exit code that shells give a program which was stopped by Ctrl-C."""


def main() -> int:
    """Run the command that was typed; the exit code is 0, 1 or 2, as `judge --help` says."""
    _open_standard_streams()
    try:
        from judge.entrypoints.cli.context import CommandContext
        from judge.entrypoints.cli.main import run
    except KeyboardInterrupt:
        return INTERRUPTED
    code = run(sys.argv[1:], CommandContext(serve_http, serve_stdio))
    if code == INTERRUPTED:
        with suppress(OSError):
            sys.stdout.flush()
        os._exit(code)  # Python would wait for threads, such as those that look up names of hosts.
    return code


def _open_standard_streams() -> None:
    """Open those that are closed to nobody, or a connection would get their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    sys.stderr = sys.stderr or os.fdopen(2, "w")


def serve_http(settings: "Settings", *, host: str, port: int, workers: int) -> None:
    """Serve HTTP, and MCP at `/mcp`, until stopped; raises ConfigurationError."""
    from judge.entrypoints.api.server import serve
    from judge.entrypoints.mcp.lazy_app import open_lazily

    serve(settings, host=host, port=port, workers=workers, open_mcp=open_lazily)


def serve_stdio(settings: "Settings", *, is_structured: bool) -> None:
    """Serve MCP on stdin and stdout until stdin ends; raises ConfigurationError."""
    from judge.entrypoints.mcp.stdio import serve_stdio

    serve_stdio(settings, is_structured=is_structured)


if __name__ == "__main__":
    sys.exit(main())
