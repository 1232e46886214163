"""What `judge golden compare` prints: what changed between two kept runs."""

from collections.abc import Sequence
from pathlib import Path

import click

from judge.entrypoints.cli.golden.reports import show_differences
from judge.entrypoints.cli.options import FOUND_SOMETHING
from judge.entrypoints.cli.output import counted, show_another, show_table
from judge.entrypoints.cli.plain_text import one_line
from judge.errors import NotFound
from judge.golden.answer_changes import (
    AnswerChange,
    answer_changes,
    body_changes,
    prompt_changes,
    verdict_moves,
)
from judge.golden.kept_runs import Run, last_run, read_results, run_before
from judge.golden.run_comparison import Change, compare_rules, compare_runs
from judge.golden.scores import Sample, counts_in_words
from judge.golden.text_diff import marked
from judge.ports import Journal
from judge.settings import load_settings

NAMED = 3
"""Cases that are named; of more only their number is told."""


def runs_folder() -> Path:
    """Where runs are kept."""
    return Path(load_settings().data_dir) / "golden"


def compare_kept(_: Journal, *, before: Path | None, after: Path | None) -> int:
    """Print what changed between two runs, the last ones kept unless named; the exit code.

    Raises NotFound where there are none.
    """
    folder = runs_folder()
    old = read_results(before) if before else []
    new = read_results(after) if after else last_run(folder)
    old = old if before else run_before(folder, new)
    if not old or not new:
        raise NotFound("There is no earlier run of these cases to compare with.")
    is_live = old[0].is_live or new[0].is_live
    return _show_rates(old, new) if is_live else _show_replays(old, new)


def changes_in_words(before: Run, changes: Sequence[AnswerChange]) -> str:
    """What changed since the run *before*, in a line."""
    since = f"Since the run of {_date(before)}"
    if not any(one.is_change for one in changes):
        return f"{since} nothing changed."
    prompts = counted(sum(bool(one.prompts) for one in changes), "prompt")
    answers = counted(sum(bool(one.body) for one in changes), "answer")
    outcomes = counted(sum(one.before.failed != one.after.failed for one in changes), "outcome")
    return (
        f"{since} {prompts}, {answers} and {outcomes} changed; `judge golden compare` shows them."
    )


def _show_replays(old: Run, new: Run) -> int:
    """Replays cannot vary: each is what it was, or it is not."""
    changes = answer_changes(old, new)
    moved = [one for one in changes if one.is_change]
    if moved:
        show_table(("Case", "Outcome", "Prompt", "Answer"), [_row(one) for one in moved])
        click.echo()
    click.echo(f"{counted(len(moved), 'case')} changed, {len(changes) - len(moved)} unchanged.")
    _show_prompts(changes)
    for body, cases in body_changes(changes):
        click.echo(f"\nThe answer of {_named(cases)}")
        show_differences(body)
    _show_versions(old, new)
    gone = sorted({one.case for one in old} - {one.case for one in new})
    for name in gone:
        click.echo(f"{name} is gone.")
    is_worse = any(one.before.has_passed and not one.after.has_passed for one in changes)
    return FOUND_SOMETHING if is_worse or gone else 0


def _row(one: AnswerChange) -> tuple[str, ...]:
    states = ["passed" if s.has_passed else "failed" for s in (one.before, one.after)]
    outcome = states[0] if states[0] == states[1] else f"{states[0]}, now {states[1]}"
    parts = ["changed" if part else "unchanged" for part in (one.prompts, one.body)]
    return one.after.case, outcome, *parts


def _show_prompts(changes: Sequence[AnswerChange]) -> None:
    for parts, cases in prompt_changes(changes):
        click.echo(f"\nThe prompt of {_named(cases)}")
        click.echo(f"  {one_line(marked(parts))}")


def _named(cases: Sequence[str]) -> str:
    return ", ".join(cases) if len(cases) <= NAMED else f"{len(cases)} cases"


def _show_rates(old: Run, new: Run) -> int:
    cases = compare_runs(old, new)
    headings = ("Change", "Before", "After", "95 % of the change")
    show_table(("Case", *headings), [_change_row(one) for one in cases])
    rules = [_change_row(one) for one in compare_rules(old, new)]
    show_another(("Rule broken by first replies", *headings), rules)
    moves = [
        (one.case, one.persona, counts_in_words(one.before), counts_in_words(one.after))
        for one in verdict_moves(old, new)
    ]
    show_another(("Case", "Verdict of", "Before", "After"), moves)
    _show_prompts(answer_changes(old, new))
    if not all(one.answer for one in (*old, *new)):
        click.echo("\nThe words of the answers were not kept; `--keep-answers` keeps them.")
    _show_versions(old, new)
    return FOUND_SOMETHING if any(change.direction in {"worse", "gone"} for change in cases) else 0


def _change_row(change: Change) -> tuple[str, ...]:
    certainty = "" if change.direction not in {"better", "worse"} else (
        ", clearly" if change.is_clear else ", perhaps by chance"
    )  # fmt: skip
    spread = change.spread
    return (
        change.name,
        f"{change.direction}{certainty}",
        "-" if change.before is None else f"{change.before:.0%}",
        "-" if change.after is None else f"{change.after:.0%}",
        "-" if spread is None else f"{spread.low:+.0%} to {spread.high:+.0%}",
    )


def _show_versions(old: Run, new: Run) -> None:
    click.echo(f"\nBefore: {_date(old)}. After: {_date(new)}.")
    for name in ("model", "prompt_version", "sources_version", "sources_file"):
        a, b = _seen(old, name), _seen(new, name)
        if a != b:
            kind = name.removesuffix("_version").replace("_", " ")
            click.echo(f"The {kind} changed from {one_line(a)} to {one_line(b)}.")


def _seen(samples: Sequence[Sample], name: str) -> str:
    return ", ".join(sorted({str(getattr(sample, name)) for sample in samples} - {""}))


def _date(run: Run) -> str:
    return f"{run[0].at:%d %B %Y %H:%M:%S} UTC" if run[0].at else "an unknown date"
