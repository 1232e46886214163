"""The command line: which commands there are, and how every failure is reported.

Commands are declared in modules that import little; see `runs` for where the work of each is.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from io import TextIOWrapper

import click

from judge.entrypoints.cli.code.commands import code
from judge.entrypoints.cli.commands import ask, check, completion, demo, doctor, mcp, search, serve
from judge.entrypoints.cli.golden.commands import golden
from judge.entrypoints.cli.index import index
from judge.entrypoints.cli.options import (
    ANSWERED,
    COULD_NOT_ANSWER,
    INTERRUPTED,
    CommandContext,
    TerminalJournal,
)
from judge.entrypoints.cli.plain_text import format_problem
from judge.entrypoints.cli.sources.commands import sources
from judge.errors import JudgeError

COMMANDS = (demo, serve, ask, check, sources, index, search, code, golden, mcp, doctor, completion)
"""In the order in which people meet them."""


class OrderedGroup(click.Group):
    """A group that lists its commands in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, not sorted."""
        del ctx
        return list(self.commands)


@click.command(
    cls=OrderedGroup,
    commands=COMMANDS,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
    epilog="Exit codes: 0 answered; 1 answered, with a warning or a negative finding; 2 could "
    "not answer. Results go to stdout, everything else to stderr.",
)
@click.version_option(package_name="judge", prog_name="judge")
@click.option("-v", "--verbose", is_flag=True, help="Show events on stderr as they happen.")
@click.pass_context
def judge(context: click.Context, *, verbose: bool) -> None:
    """Ask whether you are being unreasonable, and get a verdict with verified citations."""
    context.obj = replace(context.obj, journal=TerminalJournal(verbose))


def run(arguments: Sequence[str], context: CommandContext) -> int:
    """Run a command and return its exit code; failures are reported on stderr.

    A command returns its own code, or None for 0.
    """
    _replace_unencodable_characters()
    try:
        code = judge.main(list(arguments), prog_name="judge", standalone_mode=False, obj=context)
    except click.ClickException as error:
        error.show()
        return COULD_NOT_ANSWER
    except click.Abort:
        _print_error("Stopped.")
        return INTERRUPTED
    except JudgeError as error:
        _print_error(format_problem(error))
        return COULD_NOT_ANSWER
    except OSError as error:  # of a file or a full disk; its text names the file
        _print_error(f"{error}.")
        return COULD_NOT_ANSWER
    except Exception as error:  # noqa: BLE001 - people are shown a sentence, not a traceback
        from judge.entrypoints.event_log import log_error

        log_error(TerminalJournal(is_verbose=True), error, event="cli.error")
        _print_error("Something went wrong. Please report the line above with the command you ran.")
        return COULD_NOT_ANSWER
    return code if isinstance(code, int) else ANSWERED


def _print_error(message: str) -> None:
    click.echo(f"judge: {message}", err=True)


def _replace_unencodable_characters() -> None:
    """Print `?` for characters that the terminal's encoding does not have, instead of crashing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
