"""What `judge golden` prints: cases, the results of a run, and the changes between two runs."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

import click

from judge.entrypoints.cli.options import FOUND_SOMETHING
from judge.entrypoints.cli.output import format_table, say, show, show_another, show_table
from judge.entrypoints.cli.plain_text import one_line
from judge.errors import NotFound
from judge.golden.case_reader import load_cases
from judge.golden.difference_text import difference_lines, failure_lines, marked
from judge.golden.differences import Difference
from judge.golden.prices import Prices, cost_of
from judge.golden.run_comparison import (
    AnswerChange,
    Change,
    answer_changes,
    body_changes,
    compare_rules,
    compare_runs,
    prompt_changes,
    verdict_moves,
)
from judge.golden.run_history import Run, find_baseline, last_run, read_results
from judge.golden.samples import (
    CaseScore,
    Sample,
    ScoredCase,
    State,
    by_case,
    counts_in_words,
    rule_counts,
)
from judge.ports import Journal
from judge.settings import load_settings
from judge.text.english import counted
from judge.types.replies import Usage


def show_cases(_: Journal, *, folder: Path, form: str) -> None:
    """Print each case with what it is about."""
    listed, rows = [], []
    for name, case in ((stored.name, stored.case) for stored in load_cases(folder)):
        fields = {"about": case.about, "recorded": case.recorded, "live": case.is_live}
        listed.append({"name": name, **fields})
        replies = "recorded" if case.recorded else "by hand"
        rows.append((name, replies, "yes" if case.is_live else "no", case.about))
    show(form, {"cases": listed}, [format_table(("Case", "Replies", "Live", "About"), rows)])


def show_run(judged: Sequence[ScoredCase], prices: Prices | None = None) -> None:
    """Print a table of the cases, then each difference; with *prices*, what a live run cost."""
    samples = [scored.sample for scored in judged]
    scores = by_case(samples)
    if prices is None:
        rows = [(score.name, score.state, ", ".join(_failed(score))) for score in scores]
        show_table(("Case", "State", "Not as expected"), rows)
    else:
        headings = ("Case", "State", "Passed", "Rate", "95 %", "Floor", "Not as expected")
        show_table(headings, [_live_row(score) for score in scores])
    for scored in judged:
        if not scored.sample.has_passed:
            click.echo(f"\n{scored.sample.case}, answer {scored.sample.number}")
            _show_lines(failure_lines(scored))
    if prices is not None:
        _show_rules(samples)
        _show_cost(samples, prices)
    _show_total(scores)


def _failed(score: CaseScore) -> list[str]:
    return list(dict.fromkeys(name for sample in score.samples for name in sample.failed))


def _live_row(score: CaseScore) -> tuple[str, ...]:
    lost = len(score.samples) - score.scored
    return (
        score.name,
        score.state,
        f"{score.passes}/{score.scored}" + (f" ({lost} unscored)" if lost else ""),
        "-" if score.rate is None else f"{score.rate:.0%}",
        f"{score.interval.low:.0%} to {score.interval.high:.0%}",
        f"{score.floor:.0%}",
        ", ".join(_failed(score)),
    )


def show_differences(differences: Iterable[Difference]) -> None:
    """Print each of *differences* on three lines, indented."""
    for difference in differences:
        _show_lines(difference_lines(difference))


def _show_lines(lines: Iterable[str]) -> None:
    for line in lines:
        indent = " " * (2 + len(line) - len(line.lstrip()))
        click.echo(f"{indent}{one_line(line)}")


def _show_rules(samples: Sequence[Sample]) -> None:
    counts = rule_counts(samples)
    firsts = sum(sample.attempts > 0 for sample in samples)
    seconds = sum(sample.attempts > 1 for sample in samples)
    if not counts:
        click.echo(f"\nNo rule was broken in {firsts} first replies.")
        return
    rows = [(c.rule, f"{c.first} of {firsts}", f"{c.second} of {seconds}") for c in counts]
    show_another(("Rule broken", "First replies", "Second replies"), rows)


def _show_cost(samples: Sequence[Sample], prices: Prices) -> None:
    usage = sum((sample.usage for sample in samples), Usage())
    cost = cost_of(samples, prices)
    price = "unknown" if cost is None else f"{cost:.4f} {prices.currency}".strip()
    click.echo(
        f"\nTokens: {usage.input_tokens} in, {usage.output_tokens} out, {usage.thinking_tokens} "
        f"thinking. Cost: {price}."
    )
    if cost is None:
        say("The cost is unknown until config/prices.toml has a price for the model.")


def _show_total(scores: Sequence[CaseScore]) -> None:
    states = [score.state for score in scores]
    counts = [f"{states.count(state)} {state}" for state in get_args(State) if state in states]
    click.echo(f"\n{counted(len(scores), 'case')}: {', '.join(counts)}.")


MAX_NAMED = 3
"""Cases that are listed by name; of more, only the number is shown."""


def runs_folder() -> Path:
    """The folder in which runs are stored."""
    return Path(load_settings().data_dir) / "golden"


def show_comparison(_: Journal, *, before: Path | None, after: Path | None) -> int:
    """Print what changed between two runs, by default the last two stored; the exit code.

    Raises NotFound if there are none.
    """
    folder = runs_folder()
    old = read_results(before) if before else []
    new = read_results(after) if after else last_run(folder)
    old = old if before else find_baseline(folder, new)
    if not old or not new:
        raise NotFound("There is no earlier run of these cases to compare with.")
    is_live = old[0].is_live or new[0].is_live
    return _show_rates(old, new) if is_live else _show_replays(old, new)


def changes_in_words(before: Run, changes: Sequence[AnswerChange]) -> str:
    """What changed since the run *before*, in one line."""
    since = f"Since the run of {_date(before)}"
    if not any(change.is_change for change in changes):
        return f"{since} nothing changed."
    prompts = counted(sum(bool(change.prompts) for change in changes), "prompt")
    answers = counted(sum(bool(change.body) for change in changes), "answer")
    outcomes = counted(sum(c.before.failed != c.after.failed for c in changes), "outcome")
    return (
        f"{since} {prompts}, {answers} and {outcomes} changed; `judge golden compare` shows them."
    )


def _show_replays(old: Run, new: Run) -> int:
    """Print the changes between two replays, whose results do not vary by chance."""
    changes = answer_changes(old, new)
    changed = [change for change in changes if change.is_change]
    if changed:
        show_table(("Case", "Outcome", "Prompt", "Answer"), map(_replay_row, changed))
        click.echo()
    click.echo(f"{counted(len(changed), 'case')} changed, {len(changes) - len(changed)} unchanged.")
    _show_prompts(changes)
    for body, cases in body_changes(changes):
        click.echo(f"\nThe answer of {_case_names(cases)}")
        show_differences(body)
    _show_versions(old, new)
    gone = sorted({sample.case for sample in old} - {sample.case for sample in new})
    for name in gone:
        click.echo(f"{name} is gone.")
    is_worse = any(c.before.has_passed and not c.after.has_passed for c in changes)
    return FOUND_SOMETHING if is_worse or gone else 0


def _replay_row(change: AnswerChange) -> tuple[str, ...]:
    states = ["passed" if s.has_passed else "failed" for s in (change.before, change.after)]
    outcome = states[0] if states[0] == states[1] else f"{states[0]}, now {states[1]}"
    parts = ["changed" if part else "unchanged" for part in (change.prompts, change.body)]
    return change.after.case, outcome, *parts


def _show_prompts(changes: Sequence[AnswerChange]) -> None:
    for parts, cases in prompt_changes(changes):
        click.echo(f"\nThe prompt of {_case_names(cases)}")
        click.echo(f"  {one_line(marked(parts))}")


def _case_names(cases: Sequence[str]) -> str:
    return ", ".join(cases) if len(cases) <= MAX_NAMED else f"{len(cases)} cases"


def _show_rates(old: Run, new: Run) -> int:
    cases = compare_runs(old, new)
    headings = ("Change", "Before", "After", "95 % of the change")
    show_table(("Case", *headings), map(_rate_row, cases))
    rules = map(_rate_row, compare_rules(old, new))
    show_another(("Rule broken by first replies", *headings), rules)
    moves = [(*key, *map(counts_in_words, pair)) for key, pair in verdict_moves(old, new).items()]
    show_another(("Case", "Verdict of", "Before", "After"), moves)
    _show_prompts(answer_changes(old, new))
    if not all(sample.answer for sample in (*old, *new)):
        click.echo("\nThe words of the answers were not kept; `--keep-answers` keeps them.")
    _show_versions(old, new)
    return FOUND_SOMETHING if any(change.direction in {"worse", "gone"} for change in cases) else 0


def _rate_row(change: Change) -> tuple[str, ...]:
    certainty = "" if change.direction not in {"better", "worse"} else (
        ", clearly" if change.is_clear else ", perhaps by chance"
    )  # fmt: skip
    interval = change.interval
    return (
        change.name,
        f"{change.direction}{certainty}",
        "-" if change.before is None else f"{change.before:.0%}",
        "-" if change.after is None else f"{change.after:.0%}",
        "-" if interval is None else f"{interval.low:+.0%} to {interval.high:+.0%}",
    )


def _show_versions(old: Run, new: Run) -> None:
    click.echo(f"\nBefore: {_date(old)}. After: {_date(new)}.")
    for name in ("model", "prompt_version", "sources_version", "sources_file"):
        was, now = _values(old, name), _values(new, name)
        if was != now:
            kind = name.removesuffix("_version").replace("_", " ")
            click.echo(f"The {kind} changed from {one_line(was)} to {one_line(now)}.")


def _values(samples: Sequence[Sample], field: str) -> str:
    return ", ".join(sorted({str(getattr(sample, field)) for sample in samples} - {""}))


def _date(run: Run) -> str:
    return f"{run[0].at:%d %B %Y %H:%M:%S} UTC" if run[0].at else "an unknown date"
