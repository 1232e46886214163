"""`judge ask`: a verdict as text; a terminal shows each field once it is checked."""

from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from uuid import uuid4

import click

from judge.bootstrap.services import open_services
from judge.demo.example import CONTEXT, QUERY
from judge.entrypoints.cli.options import FOUND_SOMETHING, is_terminal, read_text
from judge.entrypoints.cli.output import Terminal, detect_terminal, say, show
from judge.entrypoints.cli.plain_text import format_help_line, one_line, wrapped
from judge.entrypoints.event_log import log_judgement
from judge.ports import Journal
from judge.settings import Settings, load_settings
from judge.types.replies import VERDICT_SENTENCES, PersonaVerdict
from judge.types.request_fields import parse_fields
from judge.types.requests import DEFAULT_DOMAIN, JudgeRequest
from judge.types.results import FieldChecked, JudgeResult, ReferencesReady, Restarted, Step


def run_ask(
    journal: Journal, *, context: str, form: str, **fields: str | bool | None
) -> Awaitable[int]:
    """Judge a dispute; the exit code. Raises the errors of `judge_and_show` and BadFields."""
    request = parse_fields(JudgeRequest, {"context": read_text(context), **fields})
    return judge_and_show(load_settings(), request, form, journal)


async def judge_the_example(settings: Settings, journal: Journal) -> None:
    """Show the example dispute of `judge demo` on stderr and print its verdict."""
    width = detect_terminal().width
    say(wrapped(f"The dispute: {CONTEXT}", width))
    say(wrapped(f"The question: {QUERY}", width) + "\n")
    request = JudgeRequest(context=CONTEXT, query=QUERY)
    await judge_and_show(settings, request, "text", journal)
    say("\nThe pages were served for this one verdict; `judge demo` keeps them open to read.")


async def judge_and_show(
    settings: Settings, request: JudgeRequest, form: str, journal: Journal
) -> int:
    """Print the verdict on *request*, as text on a terminal while it is written; the exit code."""
    layout = VerdictLayout(detect_terminal())
    printed: set[str] = set()  # the paragraphs on the terminal that are still valid

    def show_step(step: Step) -> None:
        match step:
            case ReferencesReady():
                say(f"References: {len(step.references)}; asking the model.")
            case FieldChecked():
                paragraph = layout.field(step.name, step.value)
                printed.add(paragraph)
                click.echo(f"{paragraph}\n")
            case Restarted():
                why = "broke a rule and is asked again" if step.defects else "begins anew"
                what = "; what stands above no longer holds" if printed else ""
                say(f"The answer {why}{what}.")
                printed.clear()
            case _:
                pass

    async with open_services(settings, journal) as services:
        judge = partial(services.pipeline.judge, request, request_id=uuid4().hex)
        streams = form == "text" and is_terminal()
        result = await (judge(emit=show_step, stream_fields=True) if streams else judge())
        log_judgement(services.journal, result)
    show(form, result, (part for part in layout.parts(result) if part not in printed))
    return FOUND_SOMETHING if result.warnings else 0


@dataclass(frozen=True, slots=True)
class VerdictLayout:
    """Lays out a verdict for *terminal*, without control characters of pages and models."""

    terminal: Terminal

    def parts(self, result: JudgeResult) -> Iterator[str]:
        """The paragraphs of *result* from top to bottom."""
        other = result.other_side
        urgent = bool(other and other.agrees is False)  # the first warning says so
        yield self.field("paraphrase", result.paraphrase)
        yield from self._list("Warning", result.warnings[:urgent])
        yield self.field("summary", result.summary)
        for persona in result.personas:
            yield self.field(persona.name, persona)
        if other:
            said = [
                f"{p.name}: {VERDICT_SENTENCES[p.verdict]} {p.rationale}" for p in other.personas
            ]
            yield self._section("The other side", (other.note, other.retelling), said)
        if result.evidence == "not_applicable":
            nothing = "None of what was looked at bears on this dispute, so nothing is cited."
            yield wrapped(nothing, self.terminal.width)
        yield from self._references(result)
        if not result.references and result.domain != DEFAULT_DOMAIN:
            yield wrapped(
                f"No page fits this dispute in the domain {result.domain}, or none could be read, "
                "so nothing is cited. `judge sources explain` and `judge sources check` say why.",
                self.terminal.width,
            )
        steps = [f"Read: {step.title}, {step.url}" for step in result.next_steps]
        yield from self._list("Warnings", result.warnings[urgent:])
        yield from self._list("What you can do next", steps)
        yield from self._list("Help", [format_help_line(line) for line in result.help])
        yield wrapped(_facts(result), self.terminal.width)

    def field(self, name: str, value: str | PersonaVerdict) -> str:
        """The paragraphs of one field."""
        if isinstance(value, PersonaVerdict):
            sentence = VERDICT_SENTENCES[value.verdict]
            said = "" if value.headline == sentence else sentence
            heading = f"{one_line(value.name)}: {one_line(value.headline) or 'no verdict'}"
            return self._section(heading, (said, value.rationale), value.key_points)
        text = wrapped(value, self.terminal.width)
        return f"{self._heading('Verdict')}\n{text}" if name == "summary" else text

    def _heading(self, heading: str) -> str:
        return click.style(heading, bold=True) if self.terminal.is_styled else heading

    def _section(self, heading: str, texts: Sequence[str], points: Sequence[str] = ()) -> str:
        """The *texts* that are not empty, indented, then *points*, each with a dash."""
        lines = [wrapped(text, self.terminal.width, "  ") for text in texts if text]
        lines += [wrapped(point, self.terminal.width, "  - ", "    ") for point in points]
        return "\n".join((self._heading(heading), *lines))

    def _list(self, heading: str, points: Sequence[str]) -> Iterator[str]:
        """A section of *points*, unless there are none."""
        if points:
            yield self._section(heading, (), points)

    def _references(self, result: JudgeResult) -> Iterator[str]:
        """The cited references in full, the others in a line each."""
        contradicted = {c.number for c in result.citations if c.contradicts}
        cited, others = [], []
        for reference in result.references:
            states = [f"updated {_day(reference.updated)}"] if reference.updated else []
            if reference.cited:
                states += ["stale"] * reference.stale
                states += [f"fetched {_day(reference.fetched_at)}"]
                states += ["the answer says the opposite"] * (reference.number in contradicted)
            told = f" ({', '.join(states)})" if states else ""
            head = f"[{reference.number}] {reference.title}{told}"
            lines = wrapped(head, self.terminal.width, "  ", "      ")
            if reference.cited:
                text = wrapped(reference.text, self.terminal.width, "      ")
                cited.append(f"{lines}\n      {one_line(reference.url)}\n{text}")
            else:
                others.append(lines)
        for heading, references in (("References", cited), ("Looked at, not used", others)):
            if references:
                yield "\n".join((self._heading(heading), *references))


def _day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def _facts(result: JudgeResult) -> str:
    """Domain, evidence, model, attempts and time."""
    terms = next((s.matched for s in result.domain_scores if s.domain == result.domain), ())
    why = f" ({', '.join(terms)})" if terms else ""
    return (
        f"Domain: {result.domain}{why}. Evidence: {result.evidence}. Model: {result.model}. "
        f"Attempts: {result.attempts}. Time: {result.timings_ms.total / 1000:.1f} s."
    )
