"""The work of `judge golden run`, `score`, `compare`, `list` and `vary`."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import click
from pydantic import TypeAdapter

from judge.adapters.memory import SystemClock
from judge.bootstrap.services import open_services
from judge.bootstrap.sources import compile_knowledge, read_sources
from judge.entrypoints.cli.options import COULD_NOT_ANSWER, FOUND_SOMETHING
from judge.entrypoints.cli.output import progress_bar, say, show, show_table
from judge.entrypoints.cli.plain_text import one_line
from judge.errors import ConfigurationError, ModelUnavailable, NotFound
from judge.golden.cases import StoredCase, load_cases, write_output
from judge.golden.replay import RunConfig
from judge.golden.report_files import as_html, as_junit
from judge.golden.reports import (
    Section,
    compare_runs,
    comparison_sections,
    failure_sections,
    summary_sections,
)
from judge.golden.results import (
    Prices,
    Run,
    as_lines,
    by_case,
    cost_of,
    find_baseline,
    last_run,
    read_prices,
    read_results,
    storable,
    store_run,
    stored_runs,
)
from judge.golden.scoring import Answered, find_answered, gather_limited, judge_all, score_again
from judge.golden.vary import VariantResult, vary
from judge.ports import Journal
from judge.settings import EXTRACTIVE, load_settings

PRICES = Path("config/prices.toml")
OWN_SOURCES = "sources.toml"
"""A sources file in the folder of the cases, so that tuning the real one breaks none of them."""


def runs_folder() -> Path:
    """The folder in which runs are stored."""
    return Path(load_settings().data_dir) / "golden"


def show_sections(sections: Iterable[Section]) -> None:
    """Print *sections* with an empty line between them; their lines are indented by two columns."""
    for number, section in enumerate(s for s in sections if s.title or s.lines or s.rows):
        click.echo("\n" * bool(number) + one_line(section.title), nl=bool(section.title))
        for line in section.lines:
            click.echo(f"{' ' * (2 + len(line) - len(line.lstrip()))}{one_line(line)}")
        if section.rows:
            show_table(section.headings, section.rows)


def show_cases(_: Journal, *, folder: Path, form: str) -> None:
    """Print each case with what it is about."""
    cases = [
        {"name": s.name, "about": s.case.about, "recorded": s.case.recorded, "live": s.case.is_live}
        for s in load_cases(folder)
    ]
    show(form, {"cases": cases})


def show_comparison(_: Journal, *, before: Path | None, after: Path | None) -> int:
    """Print what changed between two runs, by default the last two stored; the exit code."""
    folder = runs_folder()
    old: Run = read_results(before) if before else ()
    new = read_results(after) if after else last_run(folder)
    old = old if before else find_baseline(folder, new)
    if not old or not new:
        raise NotFound("There is no earlier run of these cases to compare with.")
    changes = compare_runs(old, new)
    show_sections(comparison_sections(old, new, changes))
    is_worse = any(change.direction in {"worse", "gone"} for change in changes)
    return FOUND_SOMETHING if is_worse else 0


def replay_config(folder: Path, sources: Path | None = None) -> RunConfig:
    """The configuration for replaying the cases of *folder* that were recorded without sources.

    They use the folder's own sources file, else the configured one, which is read when a case needs
    it. With *sources*, all cases use that file, and only what any good answer meets is checked.
    """
    own = folder / OWN_SOURCES
    path = sources or (own if own.is_file() else Path(load_settings().sources))
    return RunConfig(
        cache(lambda: compile_knowledge(*read_sources(path))),
        sources_file=str(path),
        started=SystemClock().now(),
        is_exact=sources is None,
    )


@asynccontextmanager
async def open_config(
    folder: Path,
    journal: Journal,
    sources: Path | None = None,
    *,
    model: str | None = None,
    is_live: bool,
) -> AsyncIterator[RunConfig]:
    """The configuration of a replay; if *is_live*, with the real model over the recorded pages."""
    settings, config = load_settings(), replay_config(folder, sources)
    if not is_live:
        yield config
        return
    settings = settings.model_copy(update={"model": model or settings.model})
    if settings.model == EXTRACTIVE:
        raise ConfigurationError(
            "--live asks a language model, and JUDGE_MODEL=extractive is none. Unset it and set "
            "GEMINI_API_KEY."
        )
    async with open_services(settings, journal) as services:
        primary = services.pipeline.model.primary
        yield replace(config, model=primary, deadline_s=settings.deadline_s)


async def run_cases(
    journal: Journal,
    *,
    folder: Path,
    names: Sequence[str],
    sources: Sequence[Path] = (),
    models: Sequence[str] = (),
    is_live: bool = False,
    repeat: int = 1,
    keeps_answers: bool = False,
    resumed: Path | None = None,
    **files: Any,
) -> int:
    """Replay the cases, or judge those marked as live with the real model; the exit code.

    With several *sources* or *models*, each combination is a run of its own.
    """
    combinations = list(product(sources or (None,), models or (None,)))
    if (keeps_answers or models) and not is_live:
        raise click.UsageError("--keep-answers and --model go with --live.")
    if resumed and not (keeps_answers and len(combinations) == 1):
        raise click.UsageError("--resume goes with --live --keep-answers, and with one model.")
    cases = load_cases(folder, names, is_live=is_live)
    # A mistake in the file of prices is reported before the model is asked.
    prices = read_prices(PRICES) if is_live else None
    runs: dict[str, Run] = {}
    for path, model in combinations:
        async with open_config(folder, journal, path, model=model, is_live=is_live) as config:
            answered: Answered = {}
            if resumed:
                answered = await find_answered(read_results(resumed), cases, config, repeat)
                say(f"Answers taken from {resumed}: {len(answered)}.")
            judged = await _judge(cases, config, repeat, answered, keeps_answers=keeps_answers)
        label = " over ".join(map(str, filter(None, (model, path))))
        runs[f"{label}, again" if label in runs else label] = judged
    if sources and not is_live:
        over = ", ".join(map(str, sources))
        click.echo(f"Over {over}, which the cases were not made for: checked only in part.")
    return _report(cases, runs, prices, keeps_answers=keeps_answers, **files)


async def score_run(
    journal: Journal, *, folder: Path, run_file: Path | None, is_live: bool, **files: Any
) -> int:
    """Score the stored answers of a live run by what the cases expect now; the exit code."""
    stored = read_results(run_file) if run_file else last_run(runs_folder(), with_answers=True)
    cases = {case.name: case for case in load_cases(folder)}
    scorable = [r for r in stored if r.answer and r.is_live and r.case in cases]
    if not scorable:
        raise NotFound(
            "These results hold no answers of a live run of these cases. "
            "`judge golden run --live --keep-answers` keeps them."
        )
    opened = open_config(folder, journal, is_live=True) if is_live else nullcontext()
    async with opened as config:
        judged = [await score_again(cases[result.case], result, config) for result in scorable]
    return _report([*cases.values()], {"": judged}, read_prices(PRICES), **files)


async def _judge(
    cases: Sequence[StoredCase],
    config: RunConfig,
    repeat: int,
    answered: Answered,
    *,
    keeps_answers: bool,
) -> Run:
    """All results, which are stored; live answers, which are paid for, after any failure too."""
    try:  # Before anything is paid for, which would be lost.
        if config.is_live:
            runs_folder().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"{runs_folder()} cannot be written ({error.strerror}), so answers would be lost. "
            "Set JUDGE_DATA_DIR to a folder of your own."
        ) from error
    done: Run = ()
    try:
        with progress_bar("Asking", len(cases) * repeat - len(answered)) as advance:
            done = await judge_all(cases, config, repeat=repeat, known=answered, on_scored=advance)
            return done
    finally:
        received = done or (list(answered.values()) if config.is_live else [])
        if received:
            _store(received, keeps_answers=keeps_answers, is_done=bool(done))


def _store(run: Run, *, keeps_answers: bool, is_done: bool) -> None:
    """Store *run* and say where; a folder that cannot be written to fails no run."""
    try:
        path = store_run(runs_folder(), storable(run, keeps_answers=keeps_answers))
    except ConfigurationError as error:
        say(f"The results are not kept for `judge golden compare`: {error}")
        return
    if run[0].is_live:
        words = "with the words" if keeps_answers else "without a word"
        what = "The results are" if is_done else "What was answered so far is"
        how = " Continue with `--resume` and this file." * (keeps_answers and not is_done)
        say(f"{what} kept in {path}, {words} of the answers.{how}")


def _report(
    cases: Sequence[StoredCase],
    runs: Mapping[str, Run],
    prices: Prices | None,
    *,
    keeps_answers: bool = True,
    results: Path | None = None,
    report: Path | None = None,
    junit: Path | None = None,
) -> int:
    """Print *runs*, write the files whose paths are given, and return the exit code.

    It is 0 when every case passed, 2 when not one answer of a run could be scored, else 1.
    """
    judged = [result for run in runs.values() for result in run]
    summary = [*summary_sections(runs, prices)]
    show_sections([*failure_sections(judged), *summary])
    if prices and cost_of(judged, prices) is None:
        say("The cost is unknown until config/prices.toml has a price for the model.")
    if results:
        write_output(results, as_lines(storable(judged, keeps_answers=keeps_answers)))
    if report:
        write_output(report, as_html(cases, runs, summary, _earlier_runs()).encode())
    if junit:
        write_output(junit, as_junit(runs))
    if any(all(result.state == "unscored" for result in run) for run in runs.values()):
        return COULD_NOT_ANSWER
    scores = [score for run in runs.values() for score in by_case(run).values()]
    return 0 if all(score.state == "passed" for score in scores) else FOUND_SOMETHING


def _earlier_runs() -> list[Run]:
    """The stored runs, the oldest first; empty if one cannot be read."""
    try:
        return [*stored_runs(runs_folder())][::-1]
    except ConfigurationError as error:
        say(f"The report has no earlier runs: {error} Remove that file.")
        return []


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
            # Several times, to tell a habit of the model from a slip.
            times = repeat or 5 if is_live else 1
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
                line = TypeAdapter(VariantResult).dump_json
                write_output(out, b"".join(line(result) + b"\n" for result in done))
    if not done:
        raise ModelUnavailable("No case got an answer as it stands.")
    return FOUND_SOMETHING if flips > max_flips else 0


def _show_variants(results: Sequence[VariantResult]) -> None:
    """For each variant, in how many cases the outcome held; and each flip."""
    counts = Counter((result.name, result.state) for result in results)
    names = dict.fromkeys(result.name for result in results)
    states = ("held", "flipped", "not tried")
    rows = [(name, *(counts[name, state] for state in states)) for name in names]
    show_table(("Variant", "Held", "Flipped", "Not tried"), rows)
    is_one_case = len(names) == len(results)
    changed = [
        (result.case, result.name, result.state, "; ".join(result.flips) or result.skipped)
        for result in results
        if result.flips or (result.skipped and is_one_case)
    ]
    if changed:
        click.echo()
        show_table(("Case", "Variant", "Outcome", "Changed, or why it was not tried"), changed)
