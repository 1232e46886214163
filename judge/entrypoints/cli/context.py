"""What every command is handed as click's `obj`: how servers are started, where events go."""

from collections.abc import Callable
from dataclasses import dataclass

import click

from judge.entrypoints.cli.plain_text import one_line


@dataclass(frozen=True, slots=True)
class TerminalJournal:
    """A Journal on stderr; silent unless *is_verbose*."""

    is_verbose: bool

    def note(self, event: str, **fields: str | float | bool) -> None:
        """Show *event* with its fields on one line."""
        if self.is_verbose:
            pairs = " ".join(f"{name}={value}" for name, value in fields.items())
            click.echo(one_line(f"{event} {pairs}"), err=True)


SILENT = TerminalJournal(is_verbose=False)


@dataclass(frozen=True, slots=True)
class CommandContext:
    """What a command needs from outside the command line; `judge/__main__.py` has the functions."""

    serve_http: Callable[..., None]
    """Serves with settings on *host*, *port* with *workers*; returns when it is stopped."""
    serve_stdio: Callable[..., None]
    """Serves MCP with settings, *is_structured* or not; returns when stdin ends."""
    journal: TerminalJournal = SILENT
    """Shows events as they happen, where that was asked for."""
