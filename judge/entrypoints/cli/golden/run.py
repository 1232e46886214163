"""The work of `judge golden run` and `vary`: replay or ask, then show and keep the results."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.bootstrap import Services, learn, open_services, read_sources
from judge.entrypoints.cli.golden.reports import show_run, show_variants
from judge.entrypoints.cli.options import FOUND_SOMETHING
from judge.entrypoints.cli.output import look_at_terminal, progress_bar, say
from judge.entrypoints.cli.terminal_journal import TerminalJournal
from judge.entrypoints.problems import as_body, problem_of
from judge.errors import ConfigurationError, JudgeError, NotFound
from judge.golden.case_reader import StoredCase, load_cases
from judge.golden.case_runner import REQUEST_ID, RunConfig
from judge.golden.case_writer import write_output
from judge.golden.html_report import as_html
from judge.golden.junit_report import as_junit
from judge.golden.prices import read_prices
from judge.golden.replay import LIVE_CLOCK
from judge.golden.results import write_results
from judge.golden.scores import ScoredCase, by_case
from judge.golden.scoring import ask_all, replay_all
from judge.golden.variants import vary
from judge.settings import EXTRACTIVE, load_settings

COULD_NOT_SCORE = 2
PRICES = Path("config/prices.toml")
OWN_SOURCES = "sources.toml"
"""In the folder of the cases: what they are replayed with, so that tuning breaks none of them."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """Files that were asked for."""

    report: Path | None = None
    junit: Path | None = None
    results: Path | None = None


def problem_body(error: JudgeError) -> Mapping[str, Any]:
    """*error* as a client over HTTP would get it."""
    return as_body(problem_of(error), path="/api/judge", request_id=REQUEST_ID)


def replay_config(folder: Path) -> RunConfig:
    """Where the cases of *folder* are replayed: over its own sources file, if it has one.

    Else over the sources that are configured, and nothing else of this machine. Raises
    ConfigurationError for a bad sources file.
    """
    own = folder / OWN_SOURCES
    path = own if own.is_file() else Path(load_settings().sources)
    return RunConfig(learn(*read_sources(path)), problem_body)


async def run_replay(folder: Path, names: Sequence[str], outputs: Outputs) -> int:
    """Replay the cases; the exit code."""
    cases = load_cases(folder, names)
    judged = await replay_all(cases, replay_config(folder))
    _write(cases, judged, outputs)
    show_run(judged)
    return _exit_code(judged)


async def run_live(
    folder: Path, names: Sequence[str], outputs: Outputs, repeat: int, *, is_verbose: bool
) -> int:
    """Ask the real model the cases that are fit for it; the exit code."""
    cases = [stored for stored in load_cases(folder, names) if names or stored.case.is_live]
    if not cases:
        raise NotFound(f"No case in {folder} is for --live.")
    prices = read_prices(PRICES)
    async with _live_config(is_verbose=is_verbose) as (config, services):
        kept = outputs.results or _default_results_path(services)
        with progress_bar("Asking", len(cases) * repeat, look_at_terminal()) as advance:
            judged = await ask_all(cases, config, repeat=repeat, advance=advance)
    _write(cases, judged, Outputs(outputs.report, outputs.junit, kept))
    say(f"The results are kept in {kept}")
    show_run(judged, prices)
    return _exit_code(judged)


async def run_variants(
    folder: Path, name: str, repeat: int, *, is_live: bool, is_verbose: bool
) -> int:
    """Judge the variants of a case and show what they changed; the exit code."""
    [stored] = load_cases(folder, [name])
    if is_live:
        async with _live_config(is_verbose=is_verbose) as (config, _):
            results = await vary(stored, config, repeat=repeat)
    else:
        results = await vary(stored, replay_config(folder))
    show_variants(results)
    return FOUND_SOMETHING if any(one.flips and one.must_hold for one in results) else 0


@asynccontextmanager
async def _live_config(*, is_verbose: bool) -> AsyncIterator[tuple[RunConfig, Services]]:
    """The real model in front of recorded pages; raises ConfigurationError without a key."""
    settings = load_settings()
    if settings.model == EXTRACTIVE:
        raise ConfigurationError(
            "--live asks a language model, and JUDGE_MODEL=extractive is none. Unset it and set "
            "GEMINI_API_KEY."
        )
    async with open_services(settings, TerminalJournal(is_verbose)) as services:
        known = services.sources.current()
        model = services.pipeline.model.primary
        config = RunConfig(known, problem_body, model, LIVE_CLOCK, settings.deadline_s)
        yield config, services


def _default_results_path(services: Services) -> Path:
    started = services.clock.now().strftime("%Y%m%dT%H%M%SZ")
    return Path(services.settings.data_dir) / "golden" / f"{started}.jsonl"


def _write(cases: Sequence[StoredCase], judged: Sequence[ScoredCase], outputs: Outputs) -> None:
    samples = [one.sample for one in judged]
    scores = by_case(samples)
    if outputs.results:
        write_results(outputs.results, samples)
    if outputs.report:
        write_output(outputs.report, as_html(cases, scores, judged).encode())
    if outputs.junit:
        write_output(outputs.junit, as_junit(scores, judged))


def _exit_code(judged: Sequence[ScoredCase]) -> int:
    """0 when every case passed; 2 when not one sample could be scored; else 1."""
    if not any(one.sample.is_scored for one in judged):
        return COULD_NOT_SCORE
    has_passed = all(score.state == "passed" for score in by_case(one.sample for one in judged))
    return 0 if has_passed else FOUND_SOMETHING
