"""The work of `judge golden compare`, and how results and their changes are printed."""

from collections.abc import Iterable
from pathlib import Path

import click

from judge.entrypoints.cli.options import FOUND_SOMETHING
from judge.entrypoints.cli.output import show_table
from judge.entrypoints.cli.plain_text import one_line
from judge.errors import NotFound
from judge.golden.comparison import CaseChange, compare_runs, paired_difference
from judge.golden.differences import Difference
from judge.golden.reports import difference_lines
from judge.golden.results import Run, find_baseline, last_run, read_results
from judge.ports import Journal
from judge.settings import load_settings
from judge.text.english import counted


def runs_folder() -> Path:
    """The folder in which runs are stored."""
    return Path(load_settings().data_dir) / "golden"


def show_lines(lines: Iterable[str]) -> None:
    """Print each line two columns further in, on one line."""
    for line in lines:
        click.echo(f"{' ' * (2 + len(line) - len(line.lstrip()))}{one_line(line)}")


def show_differences(differences: Iterable[Difference]) -> None:
    """Print each of *differences* on three lines, indented."""
    for difference in differences:
        show_lines(difference_lines(difference))


def show_comparison(_: Journal, *, before: Path | None, after: Path | None) -> int:
    """Print what changed between two runs, by default the last two stored; the exit code.

    Raises NotFound if there are none.
    """
    folder = runs_folder()
    old: Run = read_results(before) if before else ()
    new = read_results(after) if after else last_run(folder)
    old = old if before else find_baseline(folder, new)
    if not old or not new:
        raise NotFound("There is no earlier run of these cases to compare with.")
    changes = compare_runs(old, new)
    changed = [change for change in changes if change.is_change]
    if changed:
        headings = ("Case", "Change", "Before", "After", "95 % of the change", "Prompt", "Answer")
        show_table(headings, map(_row, changed))
        click.echo()
    click.echo(f"{counted(len(changed), 'case')} changed, {len(changes) - len(changed)} unchanged.")
    if new[0].is_live and (difference := paired_difference(changes)):
        click.echo(f"Over all cases: {difference}")
    for change in changed:
        if change.body:
            click.echo(f"\nThe answer of {change.name}")
            show_differences(change.body)
    prompts: dict[str, list[str]] = {}
    for change in changed:
        prompts.setdefault(change.prompt, []).append(change.name)
    for diff, names in prompts.items():
        if diff:
            click.echo(f"\nThe prompt of {', '.join(names)}\n  {one_line(diff)}")
    _show_versions(old, new)
    return FOUND_SOMETHING if any(c.direction in {"worse", "gone"} for c in changes) else 0


def changes_in_words(before: Run, after: Run) -> str:
    """What changed since the run *before*, in one line."""
    changed = [change for change in compare_runs(before, after) if change.is_change]
    since = f"Since the run of {before[0].date}"
    if not changed:
        return f"{since} nothing changed."
    prompts = counted(sum(bool(change.prompt) for change in changed), "prompt")
    answers = counted(sum(bool(change.body) for change in changed), "answer")
    rates = counted(sum(change.direction != "same" for change in changed), "outcome")
    return f"{since} {prompts}, {answers} and {rates} changed; `judge golden compare` shows them."


def _row(change: CaseChange) -> tuple[str | None, ...]:
    certainty = ""
    if change.interval and change.direction in {"better", "worse"}:
        is_clear = change.interval.low > 0 or change.interval.high < 0
        certainty = ", clearly" if is_clear else ", perhaps by chance"
    rates = (None if rate is None else f"{rate:.0%}" for rate in change.rates)
    interval = change.interval and "{:+.0%} to {:+.0%}".format(*change.interval)
    parts = ("changed" if part else "unchanged" for part in (change.prompt, change.body))
    return change.name, f"{change.direction}{certainty}", *rates, interval, *parts


def _show_versions(old: Run, new: Run) -> None:
    click.echo(f"\nBefore: {old[0].date}. After: {new[0].date}.")
    for name in ("model", "prompt_version", "sources_version", "sources_file"):
        was, now = _values(old, name), _values(new, name)
        if was != now:
            kind = name.removesuffix("_version").replace("_", " ")
            click.echo(f"The {kind} changed from {one_line(was)} to {one_line(now)}.")


def _values(run: Run, field: str) -> str:
    return ", ".join(sorted({str(getattr(result, field)) for result in run} - {""}))
