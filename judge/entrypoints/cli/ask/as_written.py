"""Shows a verdict on a terminal while it is written: each field once it is told, and how late.

The fields are part of the result and stand on stdout; all that is said about them is on stderr.
"""

from collections.abc import Iterable, Sequence

import click

from judge.entrypoints.cli.ask.output import format_field
from judge.entrypoints.cli.output import Terminal, say
from judge.ports import Clock
from judge.types.replies import PersonaVerdict
from judge.types.steps import DomainDetected, FieldChecked, ReferencesReady, Restarted, Step


class WrittenVerdict:
    """What stands on *terminal* so far."""

    def __init__(self, terminal: Terminal, clock: Clock) -> None:
        self._terminal = terminal
        self._clock = clock
        self._started = clock.monotonic()
        self._shown: dict[str, FieldChecked] = {}
        self._domain = ""

    @property
    def paragraphs(self) -> frozenset[str]:
        """What was shown and did not fall, as it was set."""
        return frozenset(map(self._set, self._shown.values()))

    def show(self, step: Step) -> None:
        """Show *step*, if it is of use to a reader."""
        match step:
            case DomainDetected():
                self._domain = step.domain
            case ReferencesReady():
                count = len(step.references)
                self._say(f"domain {self._domain}, references: {count}; asking the model")
            case FieldChecked():
                self._shown[step.name] = step
                self._say(_label(step))
                click.echo(f"{self._set(step)}\n")
            case Restarted():
                fallen = [one for name, one in self._shown.items() if name not in step.keeps]
                self._say(_restart(step, fallen))
                self._shown = {name: self._shown[name] for name in step.keeps}
            case _:
                pass

    def give_up(self) -> None:
        """Say what becomes of what stands there when no verdict follows."""
        if self._shown:
            self._say(f"no more follows; complete were: {_labels(self._shown.values())}")

    def _set(self, field: FieldChecked) -> str:
        return format_field(
            field,
            now=self._clock.now(),
            width=self._terminal.width,
            is_coloured=self._terminal.is_lively,
        )

    def _say(self, message: str) -> None:
        say(f"[{self._clock.monotonic() - self._started:.1f} s] {message}")


def _restart(step: Restarted, fallen: Sequence[FieldChecked]) -> str:
    """Why it begins again, and what of the text above does not hold any more."""
    why = "the answer broke a rule and is asked again" if step.defects else "the answer begins anew"
    return f"{why}; of the above falls: {_labels(fallen)}" if fallen else why


def _labels(fields: Iterable[FieldChecked]) -> str:
    return ", ".join(map(_label, fields))


def _label(field: FieldChecked) -> str:
    return field.value.name if isinstance(field.value, PersonaVerdict) else field.name
