"""The journal of a command: events are shown when that was asked for."""

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
