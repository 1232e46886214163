"""A judgement for the terminal: the request checked, judged once, and shown."""

from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

import click

from judge.bootstrap import open_services
from judge.entrypoints.cli.ask.output import format_verdict
from judge.entrypoints.cli.output import format_json, look_at_terminal
from judge.entrypoints.cli.terminal_journal import TerminalJournal
from judge.entrypoints.event_log import log_judgement
from judge.settings import Settings
from judge.types.judgements import JudgeRequest, JudgeResult


@dataclass(frozen=True, slots=True)
class AskedJudgement:
    """A verdict and the time at which it was ready."""

    result: JudgeResult
    at: datetime


async def judge_once(
    settings: Settings, request: JudgeRequest, *, is_verbose: bool
) -> AskedJudgement:
    """The verdict on *request*; raises the errors of `Pipeline.judge` and ConfigurationError."""
    async with open_services(settings, TerminalJournal(is_verbose)) as services:
        result = await services.pipeline.judge(request, request_id=uuid4().hex)
        log_judgement(services.journal, result)
        return AskedJudgement(result, services.clock.now())


def show_verdict(judged: AskedJudgement, form: str) -> None:
    """Print the verdict as text or JSON."""
    if form == "json":
        click.echo(format_json(judged.result))
        return
    terminal = look_at_terminal()
    text = format_verdict(
        judged.result, now=judged.at, width=terminal.width, is_coloured=terminal.is_lively
    )
    click.echo(text)
