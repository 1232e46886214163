"""Runs the command line and passes it the servers, since entrypoints do not import one another."""

import os
import signal
import sys
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING

# Importing a server takes longer than `judge --help` may take, so each is imported when it starts.
# ruff: noqa: PLC0415

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from judge.bootstrap.services import Services
    from judge.entrypoints.api.app import McpApp
    from judge.settings import Settings

INTERRUPTED = 128 + signal.SIGINT
"""The exit code of a program that was stopped by Ctrl-C, as shells report it."""


def main() -> int:
    """Run the command that was typed; the exit code is 0, 1 or 2, as `judge --help` says."""
    _open_standard_streams()
    try:
        from judge.entrypoints.cli.main import run
        from judge.entrypoints.cli.options import CommandContext
    except KeyboardInterrupt:
        return INTERRUPTED
    code = run(sys.argv[1:], CommandContext(serve_http, serve_stdio))
    if code == INTERRUPTED:
        with suppress(OSError):
            sys.stdout.flush()
        os._exit(code)  # Python would wait for threads, such as those that resolve host names.
    return code


def _open_standard_streams() -> None:
    """Open closed standard streams on /dev/null, so that no connection gets their numbers."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
    sys.stderr = sys.stderr or os.fdopen(2, "w")


def serve_http(settings: "Settings", *, host: str, port: int, workers: int) -> None:
    """Serve HTTP, and MCP at `/mcp`, until stopped; raises ConfigurationError."""
    from judge.entrypoints.api.server import serve

    serve(settings, host=host, port=port, workers=workers, open_mcp=open_mcp)


@asynccontextmanager
async def open_mcp(services: "Services") -> "AsyncIterator[McpApp]":
    """See `open_http`, which is loaded in a thread, beside the requests that are served."""
    from asyncio import to_thread

    module = await to_thread(import_module, "judge.entrypoints.mcp.server")
    async with module.open_http(services) as app:
        yield app


def serve_stdio(settings: "Settings", *, is_structured: bool) -> None:
    """Serve MCP on stdin and stdout until stdin ends; raises ConfigurationError."""
    from judge.entrypoints.mcp.server import serve_stdio

    serve_stdio(settings, is_structured=is_structured)


if __name__ == "__main__":
    sys.exit(main())
