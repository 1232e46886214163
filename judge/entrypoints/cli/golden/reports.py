"""What `judge golden` prints: the cases, the results of a run, comparisons and variants."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from judge.entrypoints.cli.options import FOUND_SOMETHING
from judge.entrypoints.cli.output import format_json, format_table, look_at_terminal, say
from judge.entrypoints.cli.plain_text import one_line
from judge.golden.case_reader import load_cases
from judge.golden.difference_text import difference_lines
from judge.golden.differences import Difference
from judge.golden.prices import Prices, cost_of
from judge.golden.results import read_results
from judge.golden.run_comparison import Change, compare_rules, compare_runs
from judge.golden.scores import CaseScore, Sample, ScoredCase, by_case, rule_counts, total_usage
from judge.golden.variants import VariantResult


def show_cases(folder: Path, form: str) -> None:
    """Print the cases with what they are about."""
    cases = load_cases(folder)
    if form == "json":
        listed = [
            {
                "name": stored.name,
                "about": stored.case.about,
                "recorded": stored.case.recorded,
                "live": stored.case.is_live,
            }
            for stored in cases
        ]
        click.echo(format_json({"cases": listed}))
        return
    rows = [
        (
            stored.name,
            "recorded" if stored.case.recorded else "by hand",
            "yes" if stored.case.is_live else "no",
            stored.case.about,
        )
        for stored in cases
    ]
    click.echo(format_table(("Case", "Replies", "Live", "About"), rows, look_at_terminal()))


def show_run(judged: Sequence[ScoredCase], prices: Prices | None = None) -> None:
    """Print a table of the cases, then each difference; with *prices*, what a live run cost."""
    samples = [one.sample for one in judged]
    scores = by_case(samples)
    if prices is None:
        rows = [(score.name, score.state, ", ".join(_failed(score))) for score in scores]
        table = format_table(("Case", "State", "Not as expected"), rows, look_at_terminal())
    else:
        headings = ("Case", "State", "Passed", "Rate", "95 %", "Floor", "Not as expected")
        table = format_table(headings, [_live_row(s) for s in scores], look_at_terminal())
    click.echo(table)
    for one in judged:
        _show_failure(one)
    if prices is not None:
        _show_rules(samples)
        _show_cost(samples, prices)
    _show_total(scores)


def _failed(score: CaseScore) -> list[str]:
    return list(dict.fromkeys(name for sample in score.samples for name in sample.failed))


def _live_row(score: CaseScore) -> tuple[str, ...]:
    return (
        score.name,
        score.state,
        f"{score.passes}/{score.scored}" + _unscored(score),
        "-" if score.rate is None else f"{score.rate:.0%}",
        f"{score.spread.low:.0%} to {score.spread.high:.0%}",
        f"{score.floor:.0%}",
        ", ".join(_failed(score)),
    )


def _unscored(score: CaseScore) -> str:
    lost = len(score.samples) - score.scored
    return f" ({lost} unscored)" if lost else ""


def show_differences(differences: Iterable[Difference]) -> None:
    """Print each of *differences* on three lines, indented."""
    for difference in differences:
        for line in difference_lines(difference):
            indent = " " * (2 + len(line) - len(line.lstrip()))
            click.echo(f"{indent}{one_line(line)}")


def _show_failure(one: ScoredCase) -> None:
    if one.sample.has_passed:
        return
    click.echo(f"\n{one.sample.case}, answer {one.sample.number}")
    if one.sample.reason:
        click.echo(f"  unscored: {one_line(one.sample.reason)}")
    show_differences(one.differences)
    for part in one.outcome.missing:
        click.echo(f"  The case does not have {one_line(part)}.")


def _show_rules(samples: Sequence[Sample]) -> None:
    counts = rule_counts(samples)
    firsts = sum(sample.attempts > 0 for sample in samples)
    seconds = sum(sample.attempts > 1 for sample in samples)
    if not counts:
        click.echo(f"\nNo rule was broken in {firsts} first replies.")
        return
    rows = [
        (count.rule, f"{count.first} of {firsts}", f"{count.second} of {seconds}")
        for count in counts
    ]
    click.echo("")
    headings = ("Rule broken", "First replies", "Second replies")
    click.echo(format_table(headings, rows, look_at_terminal()))


def _show_cost(samples: Sequence[Sample], prices: Prices) -> None:
    usage = total_usage(samples)
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
    counts = ", ".join(
        f"{states.count(state)} {state}"
        for state in ("passed", "failed", "unscored")
        if state in states
    )
    click.echo(f"\n{len(scores)} {'case' if len(scores) == 1 else 'cases'}: {counts}.")


def show_comparison(before: Path, after: Path) -> int:
    """Print what changed between two kept results; the exit code."""
    old, new = read_results(before), read_results(after)
    cases = compare_runs(old, new)
    rows = [_change_row(change) for change in cases]
    headings = ("Case", "Change", "Before", "After", "95 % of the change")
    click.echo(format_table(headings, rows, look_at_terminal()))
    rules = list(compare_rules(old, new))
    if rules:
        rows = [_change_row(change) for change in rules]
        headings = ("Rule broken by first replies", *headings[1:])
        click.echo(f"\n{format_table(headings, rows, look_at_terminal())}")
    for note in _other_versions(old, new):
        click.echo(note)
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


def _other_versions(old: Sequence[Sample], new: Sequence[Sample]) -> list[str]:
    def seen(samples: Sequence[Sample], name: str) -> str:
        return ", ".join(sorted({str(getattr(sample, name)) for sample in samples} - {""}))

    return [
        f"The {name.removesuffix('_version')} changed from {one_line(a)} to {one_line(b)}."
        for name in ("model", "prompt_version", "sources_version")
        for a, b in [(seen(old, name), seen(new, name))]
        if a != b
    ]


def show_variants(results: Sequence[VariantResult]) -> None:
    """Print each variant with what it changed."""
    rows = [(one.name, _outcome(one), _flips(one)) for one in results]
    click.echo(format_table(("Variant", "Outcome", "Changed"), rows, look_at_terminal()))


def _outcome(one: VariantResult) -> str:
    if one.skipped:
        return "not tried"
    if not one.must_hold:
        return "look at it"
    return "FLIPPED" if one.flips else "held"


def _flips(one: VariantResult) -> str:
    flips = (asdict(flip) for flip in one.flips)
    changes = "; ".join("{field}: {before} became {after}".format(**flip) for flip in flips)
    return changes or one.skipped
