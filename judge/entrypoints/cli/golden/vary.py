"""The work of `judge golden vary`: judge variants of cases, and show and count what changed."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
from pydantic import TypeAdapter

from judge.entrypoints.cli.golden.run import open_config, show_sections
from judge.entrypoints.cli.options import FOUND_SOMETHING
from judge.entrypoints.cli.output import progress_bar, say
from judge.errors import ModelUnavailable
from judge.golden.cases import StoredCase, load_cases, write_output
from judge.golden.reports import Section
from judge.golden.scoring import gather_limited
from judge.golden.vary import VariantResult, vary
from judge.ports import Journal

LIVE_REPEAT = 5
"""How often each variant is judged live by default, to tell a habit of the model from a slip."""

_RESULT = TypeAdapter(VariantResult)


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
    cases = load_cases(folder, names, is_live=is_live)
    varied: dict[str, list[VariantResult]] = {}

    async def vary_one(stored: StoredCase) -> None:
        try:
            times = repeat or LIVE_REPEAT if is_live else 1
            varied[stored.name] = await vary(stored, config, repeat=times)
        except ModelUnavailable:
            say(f"{stored.name} got no answer as it stands, so its variants were not tried.")
        advance()

    try:
        async with open_config(folder, journal, is_live=is_live) as config:
            with progress_bar("Varying", len(cases)) as advance:
                await gather_limited(vary_one, cases)
    finally:  # Results that were paid for are written and shown even after Ctrl-C.
        done = [result for stored in cases for result in varied.get(stored.name, ())]
        flips = sum(result.state == "flipped" for result in done)
        if done:
            _show_variants(done)
            click.echo(f"\n{flips} flipped; at most {max_flips} may.")
            if out:
                write_output(out, b"".join(_RESULT.dump_json(result) + b"\n" for result in done))
    if not done:
        raise ModelUnavailable("No case got an answer as it stands.")
    return FOUND_SOMETHING if flips > max_flips else 0


def _show_variants(results: Sequence[VariantResult]) -> None:
    """For each variant, in how many cases the outcome held; and each flip."""
    counts = Counter((result.name, result.state) for result in results)
    names = dict.fromkeys(result.name for result in results)
    states = ("held", "flipped", "not tried")
    rows = [(name, *(counts[name, state] for state in states)) for name in names]
    is_one_case = len(names) == len(results)
    changed = [
        (result.case, result.name, result.state, "; ".join(result.flips) or result.skipped)
        for result in results
        if result.flips or (result.skipped and is_one_case)
    ]
    headings = ("Case", "Variant", "Outcome", "Changed, or why it was not tried")
    show_sections(
        [
            Section(headings=("Variant", "Held", "Flipped", "Not tried"), rows=rows),
            *([Section(headings=headings, rows=changed)] if changed else []),
        ]
    )
