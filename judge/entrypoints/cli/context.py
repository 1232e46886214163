"""The object that every command gets as click's `obj`: how to start servers, where events go."""

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
    """What a command needs from other entrypoints; `judge/__main__.py` passes the functions in."""

    serve_http: Callable[..., None]
    """Serves with settings on *host*, *port* with *workers*; returns when it is stopped."""
    serve_stdio: Callable[..., None]
    """Serves MCP with settings, *is_structured* or not; returns when stdin ends."""
    journal: TerminalJournal = SILENT
    """Shows events as they happen if --verbose was given."""
