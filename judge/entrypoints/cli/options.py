"""What several commands have in common: the format option and standard input."""

import functools
import sys
from collections.abc import Callable, Coroutine
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click

from judge.entrypoints.cli.context import CommandContext
from judge.errors import InvalidRequest

Result = TypeVar("Result")

FROM_STDIN = "-"

MAX_CHARACTERS_READ = 1_000_000
"""More than any dispute may have; a stream without end is not read to its end."""

ANSWERED = 0
FOUND_SOMETHING = 1
"""The exit code of an answer with a warning or a negative finding."""

COULD_NOT_ANSWER = 2
INTERRUPTED = 130
"""What shells show for a program that was stopped by Ctrl-C: 128 + SIGINT."""

_format = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="For people or for programs.",
)
_json = click.option("--json", "form", flag_value="json", help="The same as --format json.")


def runs(work: str) -> Callable[[Callable[[], None]], Callable[..., object]]:
    """Have a command run *work*, the dotted name of a function below this package.

    The decorated function has nothing but the command's help. The module of *work* is loaded when
    the command is used; it is called with the journal and all options, and returns the exit code,
    or a coroutine that does.
    """
    module, _, name = work.rpartition(".")

    def decorate(command: Callable[[], None]) -> Callable[..., object]:
        @click.pass_obj
        @functools.wraps(command)
        def run(context: CommandContext, /, **options: Any) -> object:
            function = getattr(import_module(f"{__package__}.{module}"), name)
            outcome = function(context.journal, **options)
            if not isinstance(outcome, Coroutine):
                return outcome
            import asyncio

            return asyncio.run(outcome)

        return run

    return decorate


def text_or_json(command: Callable[..., Result]) -> Callable[..., Result]:
    """The options that say how a result is shown; the *command* is given `form`."""
    return _format(_json(command))


def require_text(*typed: str | None) -> None:
    """Return if all of it can be kept and shown; raises InvalidRequest.

    Bytes that are no text reach us as half letters.
    """
    if any(one.encode(errors="replace").decode() != one for one in typed if one):
        raise InvalidRequest("An argument is no text in UTF-8. Write it in other letters.")


def is_terminal() -> bool:
    """Whether stdout is one; it may be closed."""
    return bool(sys.stdout and sys.stdout.isatty())


def read_text(value: str) -> str:
    """*value*, or standard input if it is `-`; raises InvalidRequest when that is no text.

    Not for coroutines: in `asyncio.run` the first Ctrl-C would not end the waiting.
    """
    if value != FROM_STDIN:
        return value
    if not sys.stdin:
        raise InvalidRequest("Standard input is closed. Give the text itself in the place of -.")
    try:
        return sys.stdin.read(MAX_CHARACTERS_READ + 1).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"Standard input is no text: {error}. Give text in UTF-8.") from None
    except OSError as error:
        raise InvalidRequest(f"Standard input cannot be read: {error}. Give a file.") from None


def read_file(name: str, most: int = MAX_CHARACTERS_READ, *, newline: str | None = None) -> str:
    """The text of a file, or of standard input for `-`, with one character above *most* at most.

    The *newline* is that of `open`. Raises InvalidRequest where it cannot be read.
    """
    if name == FROM_STDIN:
        return read_text(name)
    try:
        with Path(name).open(encoding="utf-8-sig", errors="replace", newline=newline) as file:
            return file.read(most + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror or "") if isinstance(error, OSError) else "the name is not one"
        raise InvalidRequest(f"{name} cannot be read: {reason}. Name a text file.") from None
