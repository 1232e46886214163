"""What `judge golden` prints of cases and of the results of a run."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

import click

from judge.entrypoints.cli.output import counted, format_json, say, show_another, show_table
from judge.entrypoints.cli.plain_text import one_line
from judge.golden.case_reader import load_cases
from judge.golden.difference_text import difference_lines, failure_lines
from judge.golden.differences import Difference
from judge.golden.prices import Prices, cost_of
from judge.golden.scores import CaseScore, Sample, ScoredCase, State, by_case, rule_counts
from judge.ports import Journal
from judge.types.replies import Usage


def show_cases(_: Journal, *, folder: Path, form: str) -> None:
    """Print the cases with what they are about."""
    cases = load_cases(folder)
    found = [(one.name, one.case.about, one.case.recorded, one.case.is_live) for one in cases]
    if form == "json":
        keys = ("name", "about", "recorded", "live")
        listed = [dict(zip(keys, values, strict=True)) for values in found]
        click.echo(format_json({"cases": listed}))
        return
    rows = [
        (name, "recorded" if is_recorded else "by hand", "yes" if is_live else "no", about)
        for name, about, is_recorded, is_live in found
    ]
    show_table(("Case", "Replies", "Live", "About"), rows)


def show_run(judged: Sequence[ScoredCase], prices: Prices | None = None) -> None:
    """Print a table of the cases, then each difference; with *prices*, what a live run cost."""
    samples = [one.sample for one in judged]
    scores = by_case(samples)
    if prices is None:
        rows = [(score.name, score.state, ", ".join(_failed(score))) for score in scores]
        show_table(("Case", "State", "Not as expected"), rows)
    else:
        headings = ("Case", "State", "Passed", "Rate", "95 %", "Floor", "Not as expected")
        show_table(headings, [_live_row(score) for score in scores])
    for one in judged:
        if not one.sample.has_passed:
            click.echo(f"\n{one.sample.case}, answer {one.sample.number}")
            _show_lines(failure_lines(one))
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
        f"{score.spread.low:.0%} to {score.spread.high:.0%}",
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
    rows = [(one.rule, f"{one.first} of {firsts}", f"{one.second} of {seconds}") for one in counts]
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
    counts = [f"{states.count(one)} {one}" for one in get_args(State) if one in states]
    click.echo(f"\n{counted(len(scores), 'case')}: {', '.join(counts)}.")
