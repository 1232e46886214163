"""The work of `judge golden run`, `score` and `list`: judge, then store and show the results."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import get_args

import click

from judge.adapters.system_clock import SystemClock
from judge.bootstrap.services import open_services
from judge.bootstrap.sources import compile_knowledge, read_sources
from judge.entrypoints.cli.golden.compare import changes_in_words, runs_folder, show_lines
from judge.entrypoints.cli.options import COULD_NOT_ANSWER, FOUND_SOMETHING
from judge.entrypoints.cli.output import (
    format_report,
    progress_bar,
    say,
    show,
    show_another,
    show_table,
)
from judge.entrypoints.cli.plain_text import one_line
from judge.errors import ConfigurationError, NotFound
from judge.golden.case_files import StoredCase, load_cases, write_output
from judge.golden.case_runner import RunConfig
from judge.golden.comparison import differences_in_words, side_by_side
from judge.golden.reports import as_html, as_junit, failure_lines, labelled
from judge.golden.results import (
    RULE_HEADINGS,
    CaseScore,
    Prices,
    Result,
    Run,
    State,
    as_lines,
    broken_rules,
    by_case,
    cost_of,
    find_baseline,
    last_run,
    read_prices,
    read_results,
    store_run,
    stored_runs,
)
from judge.golden.scoring import Answered, ask_all, first_prompt, replay_all, score_again
from judge.ports import Journal
from judge.settings import EXTRACTIVE, load_settings
from judge.text.english import counted
from judge.types.replies import Usage

PRICES = Path("config/prices.toml")
OWN_SOURCES = "sources.toml"
"""A sources file in the folder of the cases, so that tuning the real one breaks none of them."""


def show_cases(_: Journal, *, folder: Path, form: str) -> None:
    """Print each case with what it is about."""
    keys = ("about", "recorded", "is_live")
    listed = [
        {"name": stored.name} | {key.removeprefix("is_"): getattr(stored.case, key) for key in keys}
        for stored in load_cases(folder)
    ]
    show(form, {"cases": listed}, format_report({"cases": listed}))


def replay_config(folder: Path, sources: Path | None = None) -> RunConfig:
    """The configuration for replaying the cases of *folder* that were recorded without sources.

    They use the folder's own sources file, else the configured one, and nothing else of this
    machine. With *sources*, all cases use that file, and only what any good answer meets is
    checked. Raises ConfigurationError for a bad sources file.
    """
    own = folder / OWN_SOURCES
    path = sources or (own if own.is_file() else Path(load_settings().sources))
    return RunConfig(
        compile_knowledge(*read_sources(path)),
        sources_file=str(path),
        started=SystemClock().now(),
        is_exact=sources is None,
    )


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
    results: Path | None = None,
    **reports: Path | None,
) -> int:
    """Replay the cases, or judge those marked as live with the real model; the exit code.

    With several *sources* or *models*, each combination is a run of its own.
    """
    combinations = list(product(sources or (None,), models or (None,)))
    if (keeps_answers or models) and not is_live:
        raise click.UsageError("--keep-answers and --model go with --live.")
    if resumed and not (keeps_answers and len(combinations) == 1):
        raise click.UsageError("--resume goes with --live --keep-answers, and with one model.")
    cases = cases_for(folder, names, is_live=is_live)
    # A mistake in the file of prices is reported before the model is asked.
    prices = read_prices(PRICES) if is_live else None
    runs: dict[str, Run] = {}
    for path, model in combinations:
        async with open_config(folder, journal, path, model=model, is_live=is_live) as config:
            if is_live:
                answered = await _answered(resumed, cases, config, repeat) if resumed else {}
                ask = partial(_ask_all, cases, config, answered)
                judged = await ask(repeat=repeat, keeps_answers=keeps_answers)
            else:
                judged = await _replay_all(cases, config, repeat)
        label = " over ".join(map(str, filter(None, (model, path))))
        runs[f"{label}, again" if label in runs else label] = judged
    _show_runs(runs, prices)
    if sources and not is_live:
        over = ", ".join(map(str, sources))
        click.echo(f"Over {over}, which the cases were not made for: checked only in part.")
    stored = [result for run in runs.values() for result in run]
    if is_live and not keeps_answers:
        stored = [result.without_words() for result in stored]
    _write_files(cases, runs, stored, results, **reports)
    return max(map(_exit_code, runs.values()))


async def _replay_all(cases: Sequence[StoredCase], config: RunConfig, repeat: int) -> list[Result]:
    judged = await replay_all(cases, config, repeat=repeat)
    try:
        store_run(runs_folder(), judged)
    except ConfigurationError as error:
        say(f"The results are not kept for `judge golden compare`: {error}")
    return judged


def _show_runs(runs: Mapping[str, Run], prices: Prices | None) -> None:
    """Print each run; then several side by side, with what chance may explain."""
    for label, run in runs.items():
        if len(runs) > 1:
            click.echo(f"\n{label}\n")
        _show_run(run, prices)
        _show_changes(run)
    if len(runs) > 1:
        show_another(("Case", *runs), side_by_side(runs))
        click.echo("\n" + "\n".join(differences_in_words(runs)))


async def score_run(
    journal: Journal,
    *,
    folder: Path,
    run_file: Path | None,
    is_live: bool,
    results: Path | None,
    **reports: Path | None,
) -> int:
    """Score the stored answers of a live run by what the cases expect now; the exit code."""
    stored = read_results(run_file) if run_file else last_run(runs_folder(), with_answers=True)
    if not any(result.answer and result.is_live for result in stored):
        raise NotFound(
            "These results hold no answers of a live run. "
            "`judge golden run --live --keep-answers` keeps them."
        )
    cases = {case.name: case for case in load_cases(folder)}
    scorable = [result for result in stored if result.answer and result.case in cases]
    opened = open_config(folder, journal, is_live=True) if is_live else nullcontext()
    async with opened as config:
        judged = [await score_again(cases[result.case], result, config) for result in scorable]
    _show_run(judged, read_prices(PRICES))
    _write_files(list(cases.values()), {"": judged}, judged, results, **reports)
    return _exit_code(judged)


def cases_for(folder: Path, names: Sequence[str], *, is_live: bool) -> list[StoredCase]:
    """The cases named, or all; if *is_live*, all that are marked as live.

    Raises NotFound if there are none.
    """
    cases = load_cases(folder, names)
    if is_live and not names:
        cases = [stored for stored in cases if stored.case.is_live]
    if not cases:
        raise NotFound(f"No case in {folder} is for --live.")
    return cases


@asynccontextmanager
async def open_config(
    folder: Path,
    journal: Journal,
    sources: Path | None = None,
    *,
    model: str | None = None,
    is_live: bool,
) -> AsyncIterator[RunConfig]:
    """The configuration of a replay; if *is_live*, with the real model over the recorded pages.

    Raises ConfigurationError without a key.
    """
    settings, config = load_settings(), replay_config(folder, sources)
    settings = settings.model_copy(update={"model": model}) if model else settings
    if not is_live:
        yield config
        return
    if settings.model == EXTRACTIVE:
        raise ConfigurationError(
            "--live asks a language model, and JUDGE_MODEL=extractive is none. Unset it and set "
            "GEMINI_API_KEY."
        )
    async with open_services(settings, journal) as services:
        primary = services.pipeline.model.primary
        yield replace(config, model=primary, deadline_s=settings.deadline_s)


async def _answered(
    resumed: Path, cases: Sequence[StoredCase], config: RunConfig, repeat: int
) -> Answered:
    """The answers in *resumed* that this run need not ask for.

    Only those of the same model to the prompt that this run would send.
    """
    by_name = {stored.name: stored for stored in cases}
    prompts = {stored.name: await first_prompt(stored, config) for stored in cases}
    models = {"", config.model.name if config.model else ""}  # "" if the answer was blocked
    answered = {}
    for result in read_results(resumed):
        prompt = result.answer.prompts[:1] if result.answer and result.is_live else None
        is_same = prompt == prompts.get(result.case, ()) and result.model in models
        if is_same and result.state != "unscored" and result.number <= repeat:
            now = replace(result, at=config.started, sources_file=config.sources_file)
            scored = await score_again(by_name[result.case], now)
            if scored.state != "unscored":
                answered[result.case, result.number] = scored
    say(f"Answers taken from {resumed}: {len(answered)}.")
    return answered


async def _ask_all(
    cases: Sequence[StoredCase],
    config: RunConfig,
    answered: Answered,
    *,
    repeat: int,
    keeps_answers: bool,
) -> list[Result]:
    """All answers, which are stored even if asking ends in any failure: they are paid for."""
    received, judged = list(answered.values()), list[Result]()
    folder = runs_folder()
    _require_room(folder)  # before anything is paid for
    try:
        with progress_bar("Asking", len(cases) * repeat - len(answered)) as advance:

            def receive(result: Result) -> None:
                received.append(result)
                advance()

            judged = await ask_all(cases, config, answered, repeat=repeat, on_scored=receive)
            return judged
    finally:
        stored = judged or received
        if stored:
            path = store_run(
                folder, stored if keeps_answers else [r.without_words() for r in stored]
            )
            words = "with the words" if keeps_answers else "without a word"
            what = "The results are" if judged else "What was answered so far is"
            how = " Continue with `--resume` and this file." * (keeps_answers and not judged)
            say(f"{what} kept in {path}, {words} of the answers.{how}")


def _require_room(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"{folder} cannot be written ({error.strerror}), so answers would be lost. "
            "Set JUDGE_DATA_DIR to a folder of your own."
        ) from error


def _write_files(
    cases: Sequence[StoredCase],
    runs: Mapping[str, Run],
    stored: Run,
    results: Path | None,
    *,
    report: Path | None = None,
    junit: Path | None = None,
) -> None:
    """Write the files whose paths are given; the cases of several runs have its label."""
    if results:
        write_output(results, as_lines(stored))
    if report:
        write_output(report, as_html(cases, runs, _history()).encode())
    if junit:
        write_output(junit, as_junit(labelled(runs)))


def _history() -> Mapping[str, list[CaseScore]]:
    """The scores of each case in the runs that are kept, the oldest first."""
    history: dict[str, list[CaseScore]] = {}
    with suppress(ConfigurationError):  # `_show_changes` names a run that cannot be read
        for run in reversed([*stored_runs(runs_folder())]):
            for score in by_case(run):
                history.setdefault(score.name, []).append(score)
    return history


def _exit_code(judged: Run) -> int:
    """0 when every case passed; 2 when not one answer could be scored; else 1."""
    if all(result.state == "unscored" for result in judged):
        return COULD_NOT_ANSWER
    return 0 if all(score.state == "passed" for score in by_case(judged)) else FOUND_SOMETHING


def _show_changes(judged: Run) -> None:
    """Say what changed since the run before; one that cannot be read is only reported."""
    try:
        if before := find_baseline(runs_folder(), judged):
            click.echo(changes_in_words(before, judged))
    except ConfigurationError as error:
        say(f"Not compared with earlier runs: {error} Remove that file.")


def _show_run(judged: Run, prices: Prices | None) -> None:
    """Print a table of the cases, then each difference; with *prices*, what a live run cost."""
    scores = by_case(judged)
    if prices is None:
        rows = [(score.name, score.state, score.failed) for score in scores]
        show_table(("Case", "State", "Not as expected"), rows)
    else:
        headings = ("Case", "State", "Passed", "Rate", "95 %", "Floor", "Not as expected")
        show_table(headings, [_live_row(score) for score in scores])
    for result in judged:
        if result.state != "passed":
            click.echo(f"\n{result.case}, answer {result.number}")
            show_lines(failure_lines(result))
    changes: dict[str, list[str]] = {}
    for result in judged:
        if result.prompt_change and result.number == 1:
            changes.setdefault(result.prompt_change, []).append(result.case)
    for change, names in changes.items():
        click.echo(f"\nWords changed in the prompt of {', '.join(names)}:\n  {one_line(change)}")
    if prices is not None:
        asked_again, rules = broken_rules(judged)
        click.echo(f"\n{asked_again}")
        show_another(RULE_HEADINGS, rules)
        _show_cost(judged, prices)
    states = Counter(score.state for score in scores)
    counts = [f"{states[state]} {state}" for state in get_args(State) if states[state]]
    click.echo(f"\n{counted(len(scores), 'case')}: {', '.join(counts)}.")


def _live_row(score: CaseScore) -> tuple[str | None, ...]:
    lost = len(score.results) - score.scored
    return (
        score.name,
        score.state,
        f"{score.passes}/{score.scored}" + (f" ({lost} unscored)" if lost else ""),
        None if score.rate is None else f"{score.rate:.0%}",
        "{:.0%} to {:.0%}".format(*score.interval),
        f"{score.floor:.0%}",
        score.failed,
    )


def _show_cost(judged: Run, prices: Prices) -> None:
    usage = sum((result.usage for result in judged), Usage())
    cost = cost_of(judged, prices)
    price = "unknown" if cost is None else f"{cost:.4f} {prices.currency}".strip()
    click.echo(
        f"\nTokens: {usage.input_tokens} in, {usage.output_tokens} out, {usage.thinking_tokens} "
        f"thinking. Cost: {price}."
    )
    if cost is None:
        say("The cost is unknown until config/prices.toml has a price for the model.")
