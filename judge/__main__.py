"""Picks a door: the command line, from which the HTTP server and the MCP door can be opened."""

import sys
from typing import TYPE_CHECKING

from judge.entrypoints.cli.main import run
from judge.entrypoints.cli.shell import Shell

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from judge.bootstrap import Services
    from judge.entrypoints.mcp.streamable_http import AsgiApp
    from judge.settings import Settings


def main() -> int:
    """Run the command that was typed; the exit code is 0, 1 or 2, as `judge --help` says."""
    return run(sys.argv[1:], Shell(serve_http=_serve_http, serve_stdio=_serve_stdio))


def _serve_http(settings: "Settings", *, host: str, port: int, workers: int) -> None:
    """Open the HTTP door; doors do not know one another, so this is said here."""
    # Loading the server takes longer than all of `judge --help` may.
    from judge.entrypoints.api.server import serve  # noqa: PLC0415

    serve(settings, host=host, port=port, workers=workers, open_mcp=_open_mcp)


def _open_mcp(services: "Services") -> "AbstractAsyncContextManager[AsgiApp]":
    """Open the MCP door inside the HTTP door; in its workers, so that only they load it."""
    from judge.entrypoints.mcp.streamable_http import open_streamable_http  # noqa: PLC0415

    return open_streamable_http(services)


def _serve_stdio(settings: "Settings") -> None:
    """Open the MCP door on stdin and stdout."""
    from judge.entrypoints.mcp.stdio import serve_stdio  # noqa: PLC0415

    serve_stdio(settings)


if __name__ == "__main__":
    sys.exit(main())
