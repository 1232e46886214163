"""Write docs/help.md: the help of every command, as the command line prints it."""

from collections.abc import Iterator
from pathlib import Path

import click

from judge.entrypoints.cli.main import judge

TARGET = Path(__file__).parent.parent / "docs" / "help.md"

WIDTH = 90

HEAD = """\
# Commands

This page is written by `make docs` from the commands themselves.
"""


def main() -> None:
    """Write the page."""
    TARGET.write_text(render(), encoding="utf-8")


def render() -> str:
    """The page: each command with its help, groups before their commands."""
    return "\n".join([HEAD, *_sections(judge, "judge", None)])


def _sections(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    context = command.make_context(
        name, [], parent=parent, resilient_parsing=True, terminal_width=WIDTH
    )
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            if found is not None:
                yield from _sections(found, below, context)


if __name__ == "__main__":
    main()
