"""The work of `judge golden run` and `score`: replay or ask, then show and store the results."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

import click

from judge.adapters.system_clock import SystemClock
from judge.bootstrap.services import open_services
from judge.bootstrap.sources import compile_knowledge, read_sources
from judge.entrypoints.cli.golden.reports import changes_in_words, runs_folder, show_run
from judge.entrypoints.cli.options import COULD_NOT_ANSWER, FOUND_SOMETHING
from judge.entrypoints.cli.output import progress_bar, say
from judge.errors import ConfigurationError, NotFound
from judge.golden.case_reader import StoredCase, load_cases
from judge.golden.case_runner import RunConfig
from judge.golden.case_writer import write_output
from judge.golden.html_report import as_html
from judge.golden.junit_report import as_junit
from judge.golden.prices import read_prices
from judge.golden.replay import FixedClock
from judge.golden.run_comparison import answer_changes
from judge.golden.run_history import as_lines, find_baseline, last_run, read_results, store_run
from judge.golden.samples import Sample, ScoredCase, by_case, with_answer
from judge.golden.scoring import ask_all, first_prompt, replay_all, score_again
from judge.ports import Journal
from judge.settings import EXTRACTIVE, load_settings

PRICES = Path("config/prices.toml")
OWN_SOURCES = "sources.toml"
"""A sources file in the folder of the cases, so that tuning the real one breaks none of them."""


def has_own_sources(folder: Path) -> bool:
    """Whether *folder* has a sources file that its cases are judged with."""
    return (folder / OWN_SOURCES).is_file()


def replay_config(folder: Path, sources: Path | None = None) -> RunConfig:
    """The configuration for replaying the cases of *folder* that were recorded without sources.

    They use the folder's own sources file, else the configured one, and nothing else of this
    machine. With *sources*, all cases use that file, and only what any good answer meets is
    checked. Raises ConfigurationError for a bad sources file.
    """
    own = folder / OWN_SOURCES if has_own_sources(folder) else Path(load_settings().sources)
    path = sources or own
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
    sources: Path | None,
    is_live: bool,
    repeat: int,
    keeps_answers: bool,
    resumed: Path | None,
    **files: Path | None,
) -> int:
    """Replay the cases, or judge those marked as live with the real model; the exit code."""
    if keeps_answers and not is_live:
        raise click.UsageError("--keep-answers goes with --live: of a replay all is kept.")
    if resumed and not keeps_answers:
        raise click.UsageError("--resume goes with --live --keep-answers, which kept the answers.")
    cases = cases_for(folder, names, is_live=is_live)
    # A mistake in the file of prices is reported before the model is asked.
    prices = read_prices(PRICES) if is_live else None
    async with open_config(folder, journal, sources, is_live=is_live) as config:
        if is_live:
            answered = await _answered(resumed, cases, config, repeat) if resumed else {}
            with _kept(answered, files.get("results"), keeps_answers=keeps_answers) as keep:
                judged = await _ask_all(cases, config, answered, repeat=repeat, keep=keep)
        else:
            judged = await replay_all(cases, config, repeat=repeat)
    has_words = keeps_answers or not is_live
    samples = [with_answer(scored) if has_words else scored.sample for scored in judged]
    before = _find_baseline(samples)
    path = _store_run(samples) or files.get("results")
    _write_files(cases, judged, samples, before, **files)
    if is_live and path:
        words = "with the words of the answers" if has_words else "without a word of the answers"
        say(f"The results are kept in {path}, {words}.")
    show_run(judged, prices)
    if sources and not is_live:
        click.echo(f"Over {sources}, which the cases were not made for: checked only in part.")
    if before and not is_live:
        click.echo(changes_in_words(before, answer_changes(before, samples)))
    return _exit_code(judged)


async def _answered(
    resumed: Path, cases: Sequence[StoredCase], config: RunConfig, repeat: int
) -> dict[tuple[str, int], ScoredCase]:
    """The answers in *resumed* that this run need not ask for, by case and number.

    Not those to a dispute or pages that the case no longer has. Raises ConfigurationError if they
    were given to other prompts or sources, or by another model.
    """
    prompts = {stored.name: await first_prompt(stored, config) for stored in cases}
    by_name = {stored.name: stored for stored in cases}
    answered = {}
    for sample in read_results(resumed):
        stored = by_name.get(sample.case)
        is_usable = sample.is_live and sample.is_scored and sample.number <= repeat
        if not (stored and sample.answer and is_usable):
            continue
        if change := _change_since(sample, stored, config):
            raise ConfigurationError(f"{resumed} cannot be resumed: {change}. Leave out --resume.")
        if sample.answer.prompts[:1] != prompts[sample.case]:
            continue
        now = replace(sample, at=config.started, sources_file=config.sources_file)
        if (scored := await score_again(stored, now)).sample.is_scored:
            answered[sample.case, sample.number] = scored
    say(f"Answers taken from {resumed}: {len(answered)}.")
    return answered


def _change_since(sample: Sample, stored: StoredCase, config: RunConfig) -> str:
    """What *sample* does not have in common with a new answer; empty if it has all."""
    versions = config.knowledge_for(stored).versions
    if (sample.prompt_version, sample.sources_version) != (versions.prompt, versions.sources):
        return "the prompt or the sources have changed since"
    if config.model and sample.model not in ("", config.model.name):  # "" if it was blocked
        return f"its answers are of {sample.model}, not of {config.model.name}"
    return ""


@contextmanager
def _kept(
    answered: Mapping[tuple[str, int], ScoredCase], results: Path | None, *, keeps_answers: bool
) -> Iterator[Callable[[ScoredCase], None]]:
    """Store *answered* and all that the block passes on as a run, if it ends in any failure.

    They are paid for. Where that cannot be written, the file *results* has them.
    """
    received = [with_answer(scored) for scored in answered.values()]
    try:
        yield lambda scored: received.append(
            with_answer(scored) if keeps_answers else scored.sample
        )
    except BaseException:
        path = received and _store_run(received)
        if received and not path and results:
            with suppress(ConfigurationError):  # What ended the run is to be reported.
                write_output(results, as_lines(received))
                path = results
        if path:
            how = " Continue with `--resume` and this file." if keeps_answers else ""
            say(f"What was answered so far is kept in {path}.{how}")
        raise


async def _ask_all(
    cases: Sequence[StoredCase],
    config: RunConfig,
    answered: Mapping[tuple[str, int], ScoredCase],
    *,
    repeat: int,
    keep: Callable[[ScoredCase], None],
) -> list[ScoredCase]:
    """All answers; *keep* is called with each new one."""
    with progress_bar("Asking", len(cases) * repeat - len(answered)) as advance:

        def keep_and_advance(scored: ScoredCase) -> None:
            keep(scored)
            advance()

        return await ask_all(cases, config, answered, repeat=repeat, on_scored=keep_and_advance)


async def score_run(
    journal: Journal, *, folder: Path, run_file: Path | None, is_live: bool, **files: Path | None
) -> int:
    """Score the stored answers of a live run by what the cases expect now; the exit code."""
    samples = read_results(run_file) if run_file else last_run(runs_folder(), with_answers=True)
    if not any(sample.answer and sample.is_live for sample in samples):
        raise NotFound(
            "These results hold no answers of a live run. "
            "`judge golden run --live --keep-answers` keeps them."
        )
    cases = {stored.name: stored for stored in load_cases(folder)}
    scorable = [sample for sample in samples if sample.answer and sample.case in cases]
    opened = open_config(folder, journal, is_live=True) if is_live else nullcontext()
    async with opened as config:
        judged = [await score_again(cases[sample.case], sample, config) for sample in scorable]
    used = [cases[name] for name in cases if name in {sample.case for sample in scorable}]
    _write_files(used, judged, [with_answer(scored) for scored in judged], (), **files)
    show_run(judged, read_prices(PRICES))
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
    folder: Path, journal: Journal, sources: Path | None = None, *, is_live: bool
) -> AsyncIterator[RunConfig]:
    """The configuration of a replay; if *is_live*, with the real model over the recorded pages.

    Raises ConfigurationError without a key.
    """
    settings = load_settings()
    if is_live and settings.model == EXTRACTIVE:
        raise ConfigurationError(
            "--live asks a language model, and JUDGE_MODEL=extractive is none. Unset it and set "
            "GEMINI_API_KEY."
        )
    config = replay_config(folder, sources)
    if not is_live:
        yield config
        return
    async with open_services(settings, journal) as services:
        model = services.pipeline.model.primary
        yield replace(
            config, model=model, clock=FixedClock(is_live=True), deadline_s=settings.deadline_s
        )


def _find_baseline(samples: Sequence[Sample]) -> list[Sample]:
    """The run to compare *samples* with; a stored run that cannot be read is only reported."""
    try:
        return find_baseline(runs_folder(), samples)
    except ConfigurationError as error:
        say(f"Not compared with earlier runs: {error} Remove that file.")
    return []


def _store_run(samples: Sequence[Sample]) -> Path | None:
    """Store *samples* for the next comparison; the file, or None after reporting a failure."""
    try:
        return store_run(runs_folder(), samples)
    except ConfigurationError as error:
        say(f"The results are not kept for `judge golden compare`: {error}")
    return None


def _write_files(
    cases: Sequence[StoredCase],
    judged: Sequence[ScoredCase],
    samples: Sequence[Sample],
    before: Sequence[Sample],
    *,
    report: Path | None = None,
    junit: Path | None = None,
    results: Path | None = None,
) -> None:
    """Write the files whose paths are given."""
    scores = by_case(samples)
    if results:
        write_output(results, as_lines(samples))
    if report:
        write_output(report, as_html(cases, scores, judged, before).encode())
    if junit:
        write_output(junit, as_junit(scores, judged))


def _exit_code(judged: Sequence[ScoredCase]) -> int:
    """0 when every case passed; 2 when not one sample could be scored; else 1."""
    if not any(scored.sample.is_scored for scored in judged):
        return COULD_NOT_ANSWER
    scores = by_case(scored.sample for scored in judged)
    return 0 if all(score.state == "passed" for score in scores) else FOUND_SOMETHING
