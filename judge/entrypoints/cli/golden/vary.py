"""The work of `judge golden vary`: judge variants of cases, and show and count what changed."""

from collections.abc import Sequence
from pathlib import Path

import click
from pydantic import TypeAdapter

from judge.entrypoints.cli.golden.run import cases_for, open_config
from judge.entrypoints.cli.options import FOUND_SOMETHING
from judge.entrypoints.cli.output import progress_bar, say, show_another, show_table
from judge.errors import DeadlineExceeded, ModelUnavailable
from judge.golden.case_files import StoredCase, write_output
from judge.golden.case_runner import RunConfig
from judge.golden.results import counts_in_words, wilson
from judge.golden.scoring import gather_limited
from judge.golden.vary import OTHER_SIDE, VariantResult, VariedCase, vary
from judge.ports import Journal

LIVE_REPEAT = 5
"""How often each variant is judged live by default, to tell a habit of the model from a slip."""

_VARIED = TypeAdapter(VariedCase)


async def run_variants(
    journal: Journal,
    *,
    folder: Path,
    names: Sequence[str],
    repeat: int | None,
    max_flips: int,
    out: Path | None,
    is_live: bool,
) -> int:
    """Judge the variants of the cases named, or of all, and show what changed; the exit code."""
    if repeat and not is_live:
        raise click.UsageError("--repeat goes with --live: a replay is the same each time.")
    cases = cases_for(folder, names, is_live=is_live)
    varied: dict[str, VariedCase] = {}
    try:
        async with open_config(folder, journal, is_live=is_live) as config:
            await _vary_all(cases, config, repeat or LIVE_REPEAT if is_live else 1, varied)
    finally:  # Results that were paid for are written and shown even after Ctrl-C.
        done = [varied[stored.name] for stored in cases if stored.name in varied]
        flips = sum(result.has_flipped for case in done for result in case.results)
        if done:
            _report(done, out, f"{flips} flipped; at most {max_flips} may.")
    if not done:
        raise ModelUnavailable("No case got an answer as it stands.")
    return FOUND_SOMETHING if flips > max_flips else 0


async def _vary_all(
    cases: Sequence[StoredCase], config: RunConfig, repeat: int, varied: dict[str, VariedCase]
) -> None:
    """Fill *varied* as cases are done, leaving out those that get no answer unchanged."""

    async def vary_one(stored: StoredCase) -> None:
        try:
            varied[stored.name] = await vary(stored, config, repeat=repeat)
        except (ModelUnavailable, DeadlineExceeded):
            say(f"{stored.name} got no answer as it stands, so its variants were not tried.")
        advance()

    with progress_bar("Varying", len(cases)) as advance:
        await gather_limited(vary_one, cases)


def _report(varied: Sequence[VariedCase], out: Path | None, total: str) -> None:
    """Write the results to *out*, if it is given, and show them even if that fails."""
    try:
        if out:
            write_output(out, b"".join(_VARIED.dump_json(case) + b"\n" for case in varied))
    finally:
        _show_variants(varied)
        _show_sides(varied)
        click.echo(f"\n{total}")


def _show_variants(varied: Sequence[VariedCase]) -> None:
    """For each variant, in how many cases the outcome held; then each flip, and what it was."""
    outcomes: dict[str, list[str]] = {}
    for case in varied:
        for result in case.results:
            outcomes.setdefault(result.name, []).append(_outcome(result))
    states = ("held", "flipped", "not tried")
    rows = [(name, *map(found.count, states)) for name, found in outcomes.items()]
    show_table(("Variant", "Held", "Flipped", "Not tried"), rows)
    changed = [
        (case.case, result.name, _outcome(result), _flips_text(result))
        for case in varied
        for result in case.results
        if result.flips or (result.skipped and len(varied) == 1)
    ]
    show_another(("Case", "Variant", "Outcome", "Changed, or why it was not tried"), changed)


def _show_sides(varied: Sequence[VariedCase]) -> None:
    """The verdicts for either side of each dispute, and how often both are said to be right."""
    pairs = [
        (case.case, pair)
        for case in varied
        for result in case.results
        if result.name == OTHER_SIDE
        for pair in result.pairs
    ]
    if not pairs:
        return
    rows = [
        (
            name,
            pair.persona,
            counts_in_words(pair.asker),
            counts_in_words(pair.other_side),
            f"{pair.both_right} of {pair.heard}",
        )
        for name, pair in pairs
    ]
    click.echo("\nIs the teller unreasonable? Told by either side:\n")
    show_table(("Case", "Verdict of", "Asker", "Other side", "Both told that they are right"), rows)
    followed = sum(pair.both_right for _, pair in pairs)
    heard = sum(pair.heard for _, pair in pairs)
    interval = wilson(followed, heard)
    click.echo(
        f"\nThe verdict follows the teller in {followed} of {heard} "
        f"({followed / heard:.0%}; 95 %: {interval.low:.0%} to {interval.high:.0%})."
    )


def _outcome(result: VariantResult) -> str:
    if result.skipped:
        return "not tried"
    return "flipped" if result.has_flipped else "held"


def _flips_text(result: VariantResult) -> str:
    flips = "; ".join(f"{flip.field}: {flip.before} became {flip.after}" for flip in result.flips)
    return flips or result.skipped
