"""The work of `judge ask`: on a terminal, each field of the verdict is shown once it is checked.

The fields are the result and go to stdout; progress goes to stderr.
"""

from collections.abc import Awaitable, Iterable, Sequence
from functools import partial
from uuid import uuid4

import click

from judge.bootstrap.services import open_services
from judge.entrypoints.cli.ask.output import VerdictLayout
from judge.entrypoints.cli.options import FOUND_SOMETHING, is_terminal, read_text
from judge.entrypoints.cli.output import detect_terminal, say, show
from judge.entrypoints.event_log import log_judgement
from judge.errors import JudgeError
from judge.ports import Clock, Journal
from judge.settings import Settings, load_settings
from judge.types.replies import PersonaVerdict
from judge.types.request_fields import parse_fields
from judge.types.requests import JudgeRequest
from judge.types.results import DomainDetected, FieldChecked, ReferencesReady, Restarted, Step


def run_ask(
    journal: Journal, *, context: str, form: str, **fields: str | bool | None
) -> Awaitable[int]:
    """Judge a dispute; the exit code. Raises the errors of `judge_and_show` and BadFields."""
    request = parse_fields(JudgeRequest, {"context": read_text(context), **fields})
    return judge_and_show(load_settings(), request, form, journal)


async def judge_and_show(
    settings: Settings, request: JudgeRequest, form: str, journal: Journal
) -> int:
    """Print the verdict on *request*, as text on a terminal while it is written; the exit code.

    Raises the errors of `Pipeline.judge` and ConfigurationError.
    """
    terminal = detect_terminal()
    async with open_services(settings, journal) as services:
        judge = partial(services.pipeline.judge, request, request_id=uuid4().hex)
        layout = VerdictLayout(services.clock.now(), terminal.width, terminal.is_styled)
        written = WrittenVerdict(layout, services.clock)
        try:
            streams = form == "text" and is_terminal()
            result = await (judge(emit=written.show, stream_fields=True) if streams else judge())
        except JudgeError:
            written.give_up()
            raise
        log_judgement(services.journal, result)
    show(form, result, layout.parts(result, written.paragraphs))
    return FOUND_SOMETHING if result.warnings else 0


class WrittenVerdict:
    """The fields of a verdict that the terminal shows so far, in the given *layout*."""

    def __init__(self, layout: VerdictLayout, clock: Clock) -> None:
        self._layout = layout
        self._clock = clock
        self._started = clock.monotonic()
        self._shown: dict[str, FieldChecked] = {}
        self._domain = ""

    @property
    def paragraphs(self) -> frozenset[str]:
        """The paragraphs that are shown and still valid."""
        return frozenset(map(self._text_of, self._shown.values()))

    def show(self, step: Step) -> None:
        """Show *step*, if it is of interest to a reader."""
        match step:
            case DomainDetected():
                self._domain = step.domain
            case ReferencesReady():
                count = len(step.references)
                self._say(f"domain {self._domain}, references: {count}; asking the model")
            case FieldChecked():
                self._shown[step.name] = step
                self._say(_label(step))
                click.echo(f"{self._text_of(step)}\n")
            case Restarted():
                self._say(_restart(step, [*self._shown.values()]))
                self._shown = {}
            case _:
                pass

    def give_up(self) -> None:
        """Say that no verdict follows, and which parts shown above are complete."""
        if self._shown:
            self._say(f"no verdict follows; complete parts: {_labels(self._shown.values())}")

    def _text_of(self, field: FieldChecked) -> str:
        return self._layout.field(field.name, field.value)

    def _say(self, message: str) -> None:
        say(f"[{self._clock.monotonic() - self._started:.1f} s] {message}")


def _restart(step: Restarted, dropped: Sequence[FieldChecked]) -> str:
    """Why the answer begins again, and which parts above are no longer valid."""
    why = "the answer broke a rule and is asked again" if step.defects else "the answer begins anew"
    return f"{why}; no longer valid: {_labels(dropped)}" if dropped else why


def _labels(fields: Iterable[FieldChecked]) -> str:
    return ", ".join(map(_label, fields))


def _label(field: FieldChecked) -> str:
    return field.value.name if isinstance(field.value, PersonaVerdict) else field.name
