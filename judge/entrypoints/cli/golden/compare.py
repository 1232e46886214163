"""The work of `judge golden compare`, and how results and their changes are printed."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from judge.entrypoints.cli.options import FOUND_SOMETHING
from judge.entrypoints.cli.output import show_another, show_table
from judge.entrypoints.cli.plain_text import one_line
from judge.errors import NotFound
from judge.golden.comparison import (
    AnswerChange,
    RateChange,
    answer_changes,
    compare_cases,
    marked,
    prompt_changes,
    verdict_moves,
)
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
    changes = answer_changes(old, new)
    is_live = old[0].is_live or new[0].is_live
    is_worse = _show_rates(old, new) if is_live else _show_replays(old, new, changes)
    for parts, cases in prompt_changes(changes).items():
        click.echo(f"\nThe prompt of {', '.join(cases)}\n  {one_line(marked(parts))}")
    _show_versions(old, new)
    return FOUND_SOMETHING if is_worse else 0


def changes_in_words(before: Run, changes: Sequence[AnswerChange]) -> str:
    """What changed since the run *before*, in one line."""
    since = f"Since the run of {before[0].date}"
    if not any(change.is_change for change in changes):
        return f"{since} nothing changed."
    prompts = counted(sum(bool(change.prompt) for change in changes), "prompt")
    answers = counted(sum(bool(change.body) for change in changes), "answer")
    outcomes = counted(sum(c.before.failed != c.after.failed for c in changes), "outcome")
    return (
        f"{since} {prompts}, {answers} and {outcomes} changed; `judge golden compare` shows them."
    )


def _show_replays(old: Run, new: Run, changes: Sequence[AnswerChange]) -> bool:
    """Print the changes between two replays, which do not vary by chance; whether one is worse."""
    changed = [change for change in changes if change.is_change]
    if changed:
        show_table(("Case", "Outcome", "Prompt", "Answer"), map(_replay_row, changed))
        click.echo()
    click.echo(f"{counted(len(changed), 'case')} changed, {len(changes) - len(changed)} unchanged.")
    for change in changed:
        if change.body:
            click.echo(f"\nThe answer of {change.after.case}")
            show_differences(change.body)
    gone = sorted({result.case for result in old} - {result.case for result in new})
    for name in gone:
        click.echo(f"{name} is gone.")
    return bool(gone) or any(c.before.has_passed and not c.after.has_passed for c in changes)


def _replay_row(change: AnswerChange) -> tuple[str, ...]:
    states = ["passed" if r.has_passed else "failed" for r in (change.before, change.after)]
    outcome = states[0] if states[0] == states[1] else f"{states[0]}, now {states[1]}"
    parts = ["changed" if part else "unchanged" for part in (change.prompt, change.body)]
    return change.after.case, outcome, *parts


def _show_rates(old: Run, new: Run) -> bool:
    """Print the changes of the rates of live runs; whether one is worse."""
    cases = compare_cases(old, new)
    headings = ("Case", "Change", "Before", "After", "95 % of the change")
    show_table(headings, map(_rate_row, cases))
    show_another(("Case", "Verdict of", "Before", "After"), verdict_moves(old, new))
    if not all(result.answer for result in (*old, *new)):
        click.echo("\nThe words of the answers were not kept; `--keep-answers` keeps them.")
    return any(change.direction in {"worse", "gone"} for change in cases)


def _rate_row(change: RateChange) -> tuple[str | None, ...]:
    certainty = ", clearly" if change.is_clear else ", perhaps by chance"
    is_moved = change.direction in {"better", "worse"}
    before, after = (
        None if rate is None else f"{rate:.0%}" for rate in (change.before, change.after)
    )
    interval = change.interval and "{:+.0%} to {:+.0%}".format(*change.interval)
    return change.name, f"{change.direction}{certainty * is_moved}", before, after, interval


def _show_versions(old: Run, new: Run) -> None:
    click.echo(f"\nBefore: {old[0].date}. After: {new[0].date}.")
    for name in ("model", "prompt_version", "sources_version", "sources_file"):
        was, now = _values(old, name), _values(new, name)
        if was != now:
            kind = name.removesuffix("_version").replace("_", " ")
            click.echo(f"The {kind} changed from {one_line(was)} to {one_line(now)}.")


def _values(run: Run, field: str) -> str:
    return ", ".join(sorted({str(getattr(result, field)) for result in run} - {""}))
