"""The command line: which commands there are, and how every failure is reported.

A command is loaded when it is used: command NAME is
the object NAME in NAME/commands.py beside this file.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from io import TextIOWrapper

import click

from judge.entrypoints.cli.plain_text import format_problem
from judge.entrypoints.cli.shell import Shell, TerminalJournal
from judge.errors import JudgeError

ANSWERED = 0
COULD_NOT_ANSWER = 2
INTERRUPTED = 130
"""What shells show for a program that was stopped by Ctrl-C: 128 + SIGINT."""

COMMANDS = {
    "demo": "Try Judge with no key and no network.",
    "serve": "Serve the HTTP API.",
    "ask": "Judge one dispute in the terminal.",
    "check": "Check an answer's citations against its sources.",
    "sources": "List, check, warm, explain and add the approved pages.",
    "index": "Keep your own documents in the search index.",
    "search": "Search your own documents.",
    "code": "Find your way in a repository.",
    "golden": "Replay and record golden cases.",
    "mcp": "Serve agents over the Model Context Protocol.",
    "doctor": "Check the set-up and say what to fix.",
    "completion": "Print the script that completes commands in your shell.",
}
"""Each command with its help, so that `judge --help` loads none.

A new command is one line here and one file; a test compares the help of both.
"""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, loaded now; None when there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"{__package__}.{cmd_name}.commands")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 answered; 1 answered, with a warning or a negative finding; 2 could "
    "not answer. Results are on stdout, everything else is on stderr.",
)
@click.version_option(package_name="judge", prog_name="judge")
@click.option("-v", "--verbose", is_flag=True, help="Show events as they happen, on stderr.")
@click.pass_context
def judge(context: click.Context, *, verbose: bool) -> None:
    """Ask whether you are being unreasonable, and get a verdict with verified citations."""
    context.obj = replace(context.obj, journal=TerminalJournal(verbose))


def run(arguments: Sequence[str], shell: Shell) -> int:
    """Run a command and return its exit code; every failure has been reported on stderr.

    A command returns its own code, or None for 0.
    """
    _replace_what_the_terminal_cannot_show()
    try:
        code = judge.main(list(arguments), prog_name="judge", standalone_mode=False, obj=shell)
    except click.ClickException as error:
        error.show()
        return COULD_NOT_ANSWER
    except click.Abort:
        _print_error("Stopped.")
        return INTERRUPTED
    except JudgeError as error:
        _print_error(format_problem(error))
        return COULD_NOT_ANSWER
    except Exception as error:  # noqa: BLE001 - people are shown a sentence, not a traceback
        from judge.entrypoints.event_log import log_error

        log_error(TerminalJournal(is_verbose=True), error, event="cli.error")
        _print_error("Something went wrong. Please report the line above with the command you ran.")
        return COULD_NOT_ANSWER
    return code if isinstance(code, int) else ANSWERED


def _print_error(message: str) -> None:
    click.echo(f"judge: {message}", err=True)


def _replace_what_the_terminal_cannot_show() -> None:
    """An old terminal shows `?` for a quotation mark; a crash would help nobody."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
