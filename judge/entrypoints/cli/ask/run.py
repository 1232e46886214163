"""A judgement for the terminal: the request checked, judged once, and shown."""

import sys
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import uuid4

import click

from judge.bootstrap import open_services
from judge.entrypoints.cli.ask.as_written import WrittenVerdict
from judge.entrypoints.cli.ask.output import format_verdict
from judge.entrypoints.cli.output import format_json, look_at_terminal
from judge.entrypoints.cli.terminal_journal import TerminalJournal
from judge.entrypoints.event_log import log_judgement
from judge.errors import JudgeError
from judge.settings import Settings
from judge.types.requests import JudgeRequest
from judge.types.results import JudgeResult


@dataclass(frozen=True, slots=True)
class AskedJudgement:
    """A verdict, the time at which it was ready, and the paragraphs of it that are shown."""

    result: JudgeResult
    at: datetime
    shown: frozenset[str] = frozenset()


async def judge_once(
    settings: Settings, request: JudgeRequest, *, is_verbose: bool, form: str
) -> AskedJudgement:
    """The verdict on *request*; as text on a terminal it is shown while it is written.

    Raises the errors of `Pipeline.judge` and ConfigurationError.
    """
    async with open_services(settings, TerminalJournal(is_verbose)) as services:
        judge = partial(services.pipeline.judge, request, request_id=uuid4().hex)
        if form == "json" or not sys.stdout.isatty():
            result, shown = await judge(), frozenset[str]()
        else:
            written = WrittenVerdict(look_at_terminal(), services.clock)
            try:
                result = await judge(tell=written.show, as_written=True)
            except JudgeError:
                written.give_up()
                raise
            shown = written.paragraphs
        log_judgement(services.journal, result)
        return AskedJudgement(result, services.clock.now(), shown)


def show_verdict(judged: AskedJudgement, form: str) -> None:
    """Print the verdict as text or JSON, as far as it is not shown."""
    if form == "json":
        click.echo(format_json(judged.result))
        return
    terminal = look_at_terminal()
    text = format_verdict(
        judged.result,
        now=judged.at,
        width=terminal.width,
        is_coloured=terminal.is_lively,
        shown=judged.shown,
    )
    click.echo(text)
