"""Picks a door: the command line, from which the HTTP server can be opened."""

import sys
from typing import TYPE_CHECKING

from judge.entrypoints.cli.main import run
from judge.entrypoints.cli.shell import Shell

if TYPE_CHECKING:
    from judge.settings import Settings


def main() -> int:
    """Run the command that was typed; the exit code is 0, 1 or 2, as `judge --help` says."""
    return run(sys.argv[1:], Shell(serve_http=_serve_http))


def _serve_http(settings: "Settings", *, host: str, port: int, workers: int) -> None:
    """Open the HTTP door; doors do not know one another, so this is said here."""
    # Loading the server takes longer than all of `judge --help` may.
    from judge.entrypoints.api.server import serve  # noqa: PLC0415

    serve(settings, host=host, port=port, workers=workers)


if __name__ == "__main__":
    sys.exit(main())
