"""The results of judging cases: one Result each, scores by case, costs, and stored runs.

Live runs are stored as figures and names without any text, unless `--keep-answers` was given.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from judge.errors import ConfigurationError, NotFound
from judge.golden.cases import REPLAY_TIME, write_output
from judge.golden.differences import Difference
from judge.golden.rates import wilson
from judge.golden.replay import Outcome
from judge.types.replies import Usage
from judge.types.request_fields import BadFields, StrictModel, bad_fields_of, parse_fields

MAX_STORED_REPLAYS = 20  # Older ones are removed; live runs, which cost money, never are.

State = Literal["passed", "failed", "unscored"]


@dataclass(frozen=True, slots=True)
class Grade:
    """How often a model answered the question of a rubric with yes and with no."""

    question: str
    yes: int = 0
    no: int = 0

    def __str__(self) -> str:
        return f"{self.yes} of {self.yes + self.no} yes ({wilson(self.yes, self.yes + self.no)})"


@dataclass(frozen=True, slots=True)
class Result:
    """One judgement of a case; only `differences` and what follows hold texts.

    *failed* are the fields and evaluators that were not as expected; *reason* is why it could not
    be scored; *prompt_change* is what differs from the recorded prompts, word by word; *answer* is
    None for a live one that was stored without `--keep-answers`.
    """

    case: str
    number: int
    floor: float
    failed: tuple[str, ...] = ()
    reason: str = ""
    rules: tuple[tuple[str, ...], ...] = ()
    model: str = ""
    prompt_version: str = ""
    sources_version: str = ""
    usage: Usage = field(default_factory=Usage)
    is_live: bool = False
    at: datetime = REPLAY_TIME
    sources_file: str = ""
    grades: tuple[Grade, ...] = ()
    differences: tuple[Difference, ...] = ()
    prompt_change: str = ""
    answer: Outcome | None = None

    @property
    def state(self) -> State:
        """Whether everything was as expected."""
        return "unscored" if self.reason else "failed" if self.failed else "passed"

    @property
    def date(self) -> str:
        """When its run began, for people."""
        return f"{self.at:%d %B %Y %H:%M:%S} UTC"


Run = Sequence[Result]
"""The results of one run."""


class CaseScore(NamedTuple):
    """All results of one case: how many passed, of how many that could be scored.

    The state is `passed` or `failed` where the unscored results could not change it.
    """

    name: str
    results: Run
    passes: int
    scored: int
    rate: float | None
    state: State
    failed: str

    def __str__(self) -> str:
        return f"{self.passes} of {len(self.results)}"


def by_case(results: Iterable[Result]) -> dict[str, CaseScore]:
    """The score of each case, in the order in which the cases come."""
    cases: dict[str, list[Result]] = {}
    for result in results:
        cases.setdefault(result.case, []).append(result)
    return {name: _score(name, own) for name, own in cases.items()}


def _score(name: str, results: Run) -> CaseScore:
    states = Counter(result.state for result in results)
    passes, scored = states["passed"], states["passed"] + states["failed"]
    needed = results[0].floor * len(results)
    at_best: State = "unscored" if passes + states["unscored"] >= needed else "failed"
    state: State = "passed" if passes >= needed else at_best
    failed = ", ".join(dict.fromkeys(field for result in results for field in result.failed))
    return CaseScore(
        name, results, passes, scored, passes / scored if scored else None, state, failed
    )


_RESULT = TypeAdapter(Result)


def storable(run: Run, *, keeps_answers: bool) -> Run:
    """*run* as it may be stored: of live answers the figures alone, unless more was asked for."""
    bare = partial(replace, differences=(), prompt_change="", answer=None)
    return [bare(result) if result.is_live and not keeps_answers else result for result in run]


def as_lines(results: Iterable[Result]) -> bytes:
    """*results* as they are stored, a line each."""
    return b"".join(_RESULT.dump_json(result) + b"\n" for result in results)


def read_results(path: Path) -> Run:
    """The results in *path*; raises ConfigurationError, which names a line that is invalid."""
    results: list[Result] = []
    try:
        results.extend(map(_RESULT.validate_json, path.read_bytes().splitlines()))
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error}.") from error
    except ValidationError as error:
        place = f"{path}, line {len(results) + 1}"
        raise ConfigurationError(
            f"{place} is no result of `judge golden run`: {bad_fields_of(error)}"
        ) from error
    return results


def store_run(folder: Path, run: Run) -> Path:
    """Store *run* in *folder*; raises ConfigurationError when it cannot be written."""
    kind = "live" if run[0].is_live else "replay"
    path = folder / f"{run[0].at.astimezone(UTC):%Y%m%dT%H%M%S.%fZ}-{kind}.jsonl"
    write_output(path, as_lines(run))
    for old in sorted(folder.glob("*-replay.jsonl"))[:-MAX_STORED_REPLAYS]:
        old.unlink(missing_ok=True)
    return path


def stored_runs(folder: Path) -> Iterator[Run]:
    """The runs in *folder*, the newest first; raises ConfigurationError for one that is broken."""
    for path in sorted(folder.glob("*.jsonl"), reverse=True):
        if results := read_results(path):
            yield results


def last_run(folder: Path, *, with_answers: bool = False) -> Run:
    """The newest run in *folder*, or the newest live one *with_answers*; raises NotFound."""
    for run in stored_runs(folder):
        if not with_answers or any(result.is_live and result.answer for result in run):
            return run
    how = " --live --keep-answers" if with_answers else ""
    raise NotFound(f"No such run is kept in {folder}. `judge golden run{how}` keeps one.")


def find_baseline(folder: Path, run: Run) -> Run:
    """The newest earlier run of this kind over the same cases, one that differs if there is any."""

    def undated(run: Run) -> bytes:
        return as_lines(replace(result, at=REPLAY_TIME) for result in run)

    names, kind = {result.case for result in run}, (run[0].is_live, run[0].sources_file)
    newest: Run = []
    for earlier in stored_runs(folder):
        own = [result for result in earlier if result.case in names]
        is_kind = (earlier[0].is_live, earlier[0].sources_file) == kind
        if is_kind and earlier[0].at < run[0].at and {result.case for result in own} == names:
            if undated(own) != undated(run):
                return own
            newest = newest or own
    return newest


_Cost = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(StrictModel):
    """What a million tokens of one model cost; thinking is billed as output."""

    since: date = date.min  # The first day on which it holds.
    input: _Cost
    output: _Cost
    cached: _Cost | None = None  # Of input that the service had cached; None costs as much.

    def of(self, usage: Usage) -> float:
        """What *usage* costs."""
        cached = self.input if self.cached is None else self.cached
        read = (usage.input_tokens - usage.cached_tokens) * self.input
        written = (usage.output_tokens + usage.thinking_tokens) * self.output
        return (read + usage.cached_tokens * cached + written) / 1_000_000


_ONE_OR_MORE = BeforeValidator(lambda value: [value] if isinstance(value, Mapping) else value)


class Prices(StrictModel):
    """The table that users fill in: one currency, and by model a price, or one for each time."""

    currency: Annotated[str, Field(max_length=10)] = ""
    models: Mapping[str, Annotated[tuple[Price, ...], _ONE_OR_MORE]] = {}


def read_prices(path: Path) -> Prices:
    """The prices in the TOML file *path*, none without a file; raises ConfigurationError."""
    try:
        return parse_fields(Prices, tomllib.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return Prices()
    except (ValueError, OSError, BadFields) as error:
        raise ConfigurationError(f"{path} cannot be used: {error}") from error


def cost_of(results: Iterable[Result], prices: Prices) -> float | None:
    """What *results* cost, or None if a model among them had no price on their day."""
    total = 0.0
    for result in results:
        held = [p for p in prices.models.get(result.model, ()) if p.since <= result.at.date()]
        if held:
            total += max(held, key=lambda price: price.since).of(result.usage)
        elif result.model:
            return None
    return total
