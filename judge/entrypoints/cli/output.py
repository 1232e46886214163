"""Output: the kind of terminal there is, tables, JSON and the progress bar."""

import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from io import StringIO
from typing import Any

import click
from pydantic_core import to_jsonable_python
from rich import box
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress
from rich.table import Table
from rich.text import Text

from judge.entrypoints.cli.options import is_terminal
from judge.entrypoints.cli.plain_text import one_line

MIN_WIDTH, PIPED_WIDTH, MAX_WIDTH = 40, 80, 100
"""Columns of running text; longer lines are hard to read."""

MAX_LISTED, MAX_SHOWN = 3, 120
"""Entries of a list and characters of a text that are shown in a cell of a table."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """The columns for running text and for tables, and whether there are colours and bars.

    The defaults are for a pipe, where no row is wrapped, so that grep and awk see it whole.
    """

    width: int = PIPED_WIDTH
    table_width: int = 10_000
    is_styled: bool = False


def detect_terminal() -> Terminal:
    """The terminal on stdout; without one, or with NO_COLOR set, output is not styled."""
    if not is_terminal():
        return Terminal()
    columns = max(shutil.get_terminal_size().columns, MIN_WIDTH)
    return Terminal(min(columns, MAX_WIDTH), columns, is_styled=not Console().no_color)


def say(message: str) -> None:
    """Tell the person at the terminal something that is not part of the result."""
    click.echo(message, err=True)


def format_json(value: Any) -> str:
    """*value*, which may hold our dataclasses, as JSON; times end in `Z` as in HTTP replies."""
    # ASCII, so that nothing in it can steer a terminal.
    return json.dumps(to_jsonable_python(value), indent=2)


def format_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """*rows* under *headings*, fitted to stdout; nothing in a cell can steer the terminal."""
    terminal = detect_terminal()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text("-" if cell is None else one_line(str(cell))) for cell in row))
    out = StringIO()
    console = Console(
        file=out,
        width=terminal.table_width,
        force_terminal=terminal.is_styled,
        color_system="standard" if terminal.is_styled else None,
    )
    console.print(table)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def format_report(report: Mapping[str, Any]) -> Iterator[str]:
    """The facts of *report*, one a line, then a table of each list of objects in it."""
    lists = {key: v for key, v in report.items() if isinstance(v, list | tuple)}
    lists = {key: v for key, v in lists.items() if not (v and isinstance(v[0], str))}
    if facts := [one_line(f"{key}: {_cell(report[key])}") for key in report if key not in lists]:
        yield "\n".join(facts)
    for key, entries in lists.items():
        if rows := [_fields(entry) for entry in entries]:
            names = sorted(rows[0], key=lambda name: name != "name")
            title, *headings = (name.replace("_", " ").capitalize() for name in (key, *names))
            cells = ([_cell(row[name]) for name in names] for row in rows)
            yield f"{title}\n{format_table(headings, cells)}"


def _fields(entry: Any) -> Mapping[str, Any]:
    if isinstance(entry, Mapping):
        return entry
    return {field.name: getattr(entry, field.name) for field in fields(entry)}


def _cell(value: Any) -> object:
    """*value* in a cell of a table: its parts, and of a long text or list the beginning."""
    if value is None or isinstance(value, bool):
        return "-" if value is None else "yes" if value else "no"
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return f"{value:g}"
    has_words = "__str__" in vars(type(value))
    if isinstance(value, Mapping) or (is_dataclass(value) and not has_words):
        text = ", ".join(str(_cell(part)) for part in _fields(value).values() if part)
    elif isinstance(value, list | tuple):
        count = f", … ({len(value)})" * (len(value) > MAX_LISTED)
        return ", ".join(str(_cell(part)) for part in value[:MAX_LISTED]) + count
    else:
        text = str(value)
    is_long = len(text) > MAX_SHOWN and " " in text  # an address is shown whole
    return f"{text[:MAX_SHOWN]}…" if is_long else text


def show(form: str, value: Any, parts: Iterable[str] | None = None) -> None:
    """Print *value* as JSON, or *parts* or its report with empty lines between, as *form* says."""
    parts = format_report(value) if parts is None else parts
    text = format_json(value) if form == "json" else "\n\n".join(parts)
    click.echo(text, nl=bool(text))


def show_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print *rows* under *headings*, fitted to stdout."""
    click.echo(format_table(headings, rows))


@contextmanager
def progress_bar(label: str, total: int | None = None) -> Iterator[Callable[..., None]]:
    """Show a bar on stderr while the block runs, if stdout is styled; yields what advances it."""
    console = Console(stderr=True, quiet=not (detect_terminal().is_styled and sys.stderr.isatty()))
    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=console.quiet) as progress:
        task = progress.add_task(label, total=total)
        yield lambda count=1, **fields: progress.update(task, advance=count, **fields)
