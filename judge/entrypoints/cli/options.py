"""What commands share: their context, exit codes, options, and reading files and stdin."""

import functools
import signal
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click

from judge.entrypoints.cli.plain_text import one_line
from judge.errors import InvalidRequest

Result = TypeVar("Result")

FROM_STDIN = "-"

MAX_CHARACTERS_READ = 1_000_000
"""More than any dispute may have; an endless stream is not read further."""

ANSWERED = 0
FOUND_SOMETHING = 1
"""The exit code of an answer with a warning or a negative finding."""

COULD_NOT_ANSWER = 2
INTERRUPTED = 130
"""What shells show for a program that was stopped by Ctrl-C: 128 + SIGINT."""


@dataclass(frozen=True, slots=True)
class TerminalJournal:
    """A Journal on stderr; silent unless *is_verbose*."""

    is_verbose: bool

    def note(self, event: str, **fields: str | float | bool) -> None:
        """Show *event* with its fields on one line."""
        if self.is_verbose:
            pairs = " ".join(f"{name}={value}" for name, value in fields.items())
            click.echo(one_line(f"{event} {pairs}"), err=True)


@dataclass(frozen=True, slots=True)
class CommandContext:
    """What a command needs from other entrypoints; `judge/__main__.py` passes the functions in."""

    serve_http: Callable[..., None]
    """Serves with settings on *host*, *port* with *workers*; returns when it is stopped."""
    serve_stdio: Callable[..., None]
    """Serves MCP with settings, *is_structured* or not; returns when stdin ends."""
    journal: TerminalJournal = field(default=TerminalJournal(is_verbose=False))
    """Shows events as they happen if --verbose was given."""


_format = click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="Output format."
)
_json = click.option("--json", "form", flag_value="json", help="Short for --format json.")


def runs(work: str) -> Callable[[Callable[[], None]], Callable[..., object]]:
    """Have a command run *work*, the dotted name of a function below this package.

    The decorated function only holds the command's help. The module of *work* is imported when the
    command runs; *work* is called with the journal and all options, and returns the exit code, or a
    coroutine that does.
    """
    module, _, name = work.rpartition(".")

    def decorate(command: Callable[[], None]) -> Callable[..., object]:
        @click.pass_obj
        @functools.wraps(command)
        def run(context: CommandContext, /, **options: Any) -> object:
            _end_as_by_ctrl_c()
            function = getattr(import_module(f"{__package__}.{module}"), name)
            outcome = function(context.journal, **options)
            if not isinstance(outcome, Coroutine):
                return outcome
            import asyncio

            return asyncio.run(outcome)

        return run

    return decorate


def _end_as_by_ctrl_c() -> None:
    """Have other signals end this process as Ctrl-C does, so that what it has is kept."""

    def stop(*_: object) -> None:
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a script
            signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.raise_signal(signal.SIGINT)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup has SIGHUP ignored
            signal.signal(number, stop)


def text_or_json(command: Callable[..., Result]) -> Callable[..., Result]:
    """Add the options --format and --json; *command* gets their value as `form`."""
    return _format(_json(command))


def require_text(*arguments: str | None) -> None:
    """Raise InvalidRequest unless all *arguments* are UTF-8; other bytes are lone surrogates."""
    if any(text.encode(errors="replace").decode() != text for text in arguments if text):
        raise InvalidRequest("An argument is no text in UTF-8. Write it in other letters.")


def is_terminal() -> bool:
    """Whether stdout is a terminal; it may be closed."""
    return bool(sys.stdout and sys.stdout.isatty())


def read_text(value: str) -> str:
    """*value*, or standard input if it is `-`; raises InvalidRequest when that is not text.

    Call it before `asyncio.run`, where the first Ctrl-C would not interrupt the read.
    """
    if value != FROM_STDIN:
        return value
    if not sys.stdin:
        raise InvalidRequest("Standard input is closed. Give the text itself in the place of -.")
    try:
        return sys.stdin.read(MAX_CHARACTERS_READ + 1).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"Standard input is no text: {error}. Give text in UTF-8.") from None


def read_file(name: str, limit: int = MAX_CHARACTERS_READ, *, newline: str | None = None) -> str:
    """The text of a file, or of standard input for `-`, cut one character above *limit*."""
    if name == FROM_STDIN:
        return read_text(name)
    try:
        with Path(name).open(encoding="utf-8-sig", errors="replace", newline=newline) as file:
            return file.read(limit + 1)
    except OSError as error:
        raise InvalidRequest(
            f"{name} cannot be read: {error.strerror}. Name a text file."
        ) from None
