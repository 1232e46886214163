"""The results of judging cases: one Result each, scores by case, costs, and stored runs.

Live runs are stored as figures and names without any text, unless `--keep-answers` was given.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from judge.errors import ConfigurationError, NotFound
from judge.golden.case_files import write_output
from judge.golden.case_runner import Outcome
from judge.golden.differences import Difference
from judge.golden.rates import Interval, wilson
from judge.types.replies import Usage
from judge.types.request_fields import BadFields, StrictModel, bad_fields_of, parse_fields

MAX_STORED_REPLAYS = 20
"""Older replays are removed; live runs, which cost money, never are."""

MILLION = 1_000_000
"""Tokens to which a price applies."""

State = Literal["passed", "failed", "unscored"]


@dataclass(frozen=True, slots=True)
class Grade:
    """How often a model answered the question of a rubric with yes and with no."""

    question: str
    yes: int = 0
    no: int = 0

    def __str__(self) -> str:
        interval = wilson(self.yes, self.yes + self.no)
        return f"{self.yes} of {self.yes + self.no} yes ({interval.low:.0%} to {interval.high:.0%})"


@dataclass(frozen=True, slots=True)
class Result:
    """One judgement of a case; only `differences` and what follows hold texts."""

    case: str
    number: int
    floor: float
    failed: tuple[str, ...] = ()
    """The fields and evaluators that were not as expected."""

    reason: str = ""
    """Why it could not be scored."""

    rules: tuple[tuple[str, ...], ...] = ()
    """The rules that each reply broke."""

    model: str = ""
    prompt_version: str = ""
    sources_version: str = ""
    usage: Usage = field(default_factory=Usage)
    is_live: bool = False
    at: datetime | None = None
    """When its run began, in UTC."""

    sources_file: str = ""
    grades: tuple[Grade, ...] = ()
    differences: tuple[Difference, ...] = ()
    prompt_change: str = ""
    """What differs from the prompts that the case was recorded with, word by word."""

    missing: tuple[str, ...] = ()
    """The pages and replies that were requested and that the case does not have, in words."""

    answer: Outcome | None = None
    """None for a live answer that was stored without `--keep-answers`."""

    @property
    def state(self) -> State:
        """Whether everything was as expected."""
        return "unscored" if self.reason else "failed" if self.failed else "passed"

    @property
    def date(self) -> str:
        """When its run began, for people."""
        return f"{self.at:%d %B %Y %H:%M:%S} UTC" if self.at else "an unknown date"

    def without_words(self) -> "Result":
        """The figures alone."""
        return replace(self, differences=(), prompt_change="", missing=(), answer=None)


Run = Sequence[Result]
"""The results of one run."""


@dataclass(frozen=True, slots=True)
class CaseScore:
    """All results of one case."""

    name: str
    results: tuple[Result, ...]

    @property
    def floor(self) -> float:
        """The share of answers that must be as expected."""
        return self.results[0].floor

    @property
    def passes(self) -> int:
        """How many passed."""
        return sum(result.state == "passed" for result in self.results)

    @property
    def scored(self) -> int:
        """How many could be scored."""
        return sum(result.state != "unscored" for result in self.results)

    @property
    def rate(self) -> float | None:
        """The share of those that could be scored which passed; None without any."""
        return self.passes / self.scored if self.scored else None

    @property
    def interval(self) -> Interval:
        """The 95 % interval of its rate."""
        return wilson(self.passes, self.scored)

    @property
    def failed(self) -> str:
        """The fields that were not as expected in any answer."""
        return ", ".join(dict.fromkeys(name for result in self.results for name in result.failed))

    @property
    def state(self) -> State:
        """`passed` or `failed` where the unscored results could not change it."""
        needed = self.floor * len(self.results)
        if self.passes >= needed:
            return "passed"
        at_best = self.passes + len(self.results) - self.scored
        return "unscored" if at_best >= needed else "failed"


def by_case(results: Iterable[Result]) -> list[CaseScore]:
    """The results of each case together, in the order in which the cases come."""
    cases: dict[str, list[Result]] = {}
    for result in results:
        cases.setdefault(result.case, []).append(result)
    return [CaseScore(name, tuple(own)) for name, own in cases.items()]


RULE_HEADINGS = ("Rule broken", "First replies", "Second replies")


def broken_rules(run: Run) -> tuple[str, list[tuple[str, str, str]]]:
    """How many replies were asked for again; and of each rule, the share of replies that broke it.

    The rows are for RULE_HEADINGS, the rule that costs most second calls first.
    """
    first = [result.rules[0] for result in run if result.rules]
    second = [result.rules[1] for result in run if len(result.rules) > 1]
    counts = [Counter(rule for rules in each for rule in set(rules)) for each in (first, second)]
    ranked = sorted(counts[0] | counts[1], key=lambda r: (-counts[0][r], -counts[1][r], r))
    rows = [
        (rule, _share(counts[0][rule], len(first)), _share(counts[1][rule], len(second)))
        for rule in ranked
    ]
    return f"Asked again: {_share(len(second), len(first))} first replies.", rows


def _share(count: int, of: int) -> str:
    return f"{count} of {of}" + (f" ({count / of:.0%})" if of else "")


_RESULT = TypeAdapter(Result)


def as_lines(results: Iterable[Result]) -> bytes:
    """*results* as they are stored, a line each."""
    return b"".join(_RESULT.dump_json(result) + b"\n" for result in results)


def read_results(path: Path) -> list[Result]:
    """The results in *path*; raises ConfigurationError, which names a line that is invalid."""
    try:
        with path.open("rb") as file:
            return [_result(path, n, line) for n, line in enumerate(file, 1) if line.strip()]
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error}.") from error


def _result(path: Path, number: int, line: bytes) -> Result:
    try:
        return _RESULT.validate_json(line)
    except ValidationError as error:
        raise ConfigurationError(
            f"{path}, line {number} is no result of `judge golden run`: {bad_fields_of(error)}"
        ) from error


def store_run(folder: Path, run: Run) -> Path:
    """Store *run* in *folder*; raises ConfigurationError when it cannot be written."""
    kind = "live" if run[0].is_live else "replay"
    at = run[0].at.astimezone(UTC) if run[0].at else None
    path = folder / f"{at:%Y%m%dT%H%M%S.%fZ}-{kind}.jsonl"
    write_output(path, as_lines(run))
    for old in sorted(folder.glob("*-replay.jsonl"))[:-MAX_STORED_REPLAYS]:
        old.unlink(missing_ok=True)
    return path


def last_run(folder: Path, *, with_answers: bool = False) -> Run:
    """The newest run in *folder*, or the newest live one *with_answers*; raises NotFound."""
    for run in stored_runs(folder):
        if not with_answers or any(result.is_live and result.answer for result in run):
            return run
    how = " --live --keep-answers" if with_answers else ""
    raise NotFound(f"No such run is kept in {folder}. `judge golden run{how}` keeps one.")


def find_baseline(folder: Path, run: Run) -> Run:
    """The newest earlier run of this kind over the same cases, one that differs if there is any."""
    names, at, newest = {result.case for result in run}, run[0].at, list[Result]()
    for earlier in stored_runs(folder):
        own = [result for result in earlier if result.case in names]
        is_older = at and earlier[0].at and earlier[0].at < at and _kind(earlier) == _kind(run)
        if is_older and {result.case for result in own} == names:
            if _undated(own) != _undated(run):
                return own
            newest = newest or own
    return newest


def stored_runs(folder: Path) -> Iterator[Run]:
    """The runs in *folder*, the newest first; raises ConfigurationError for one that is broken."""
    for path in sorted(folder.glob("*.jsonl"), reverse=True):
        if results := read_results(path):
            yield results


def _kind(run: Run) -> tuple[bool, str]:
    return run[0].is_live, run[0].sources_file


def _undated(run: Run) -> bytes:
    return as_lines(replace(result, at=None) for result in run)


class Price(StrictModel):
    """What a million tokens of one model cost; thinking is billed as output."""

    since: date | None = None
    """The first day on which it holds; None for the price before all others."""

    input: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    output: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    cached: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """Of what is read and was cached by the service; None where that costs as much."""

    def of(self, usage: Usage) -> float:
        """What *usage* costs."""
        cached = self.input if self.cached is None else self.cached
        read = (usage.input_tokens - usage.cached_tokens) * self.input
        written = (usage.output_tokens + usage.thinking_tokens) * self.output
        return (read + usage.cached_tokens * cached + written) / MILLION


def _as_list(value: object) -> object:
    return [value] if isinstance(value, Mapping) else value


class Prices(StrictModel):
    """The table that users fill in: one currency, and by model a price, or one for each time."""

    currency: Annotated[str, Field(max_length=10)] = ""
    models: Mapping[str, Annotated[tuple[Price, ...], BeforeValidator(_as_list)]] = {}

    def of(self, result: Result) -> Price | None:
        """The price on the day of *result*, if its model has one."""
        day = result.at.date() if result.at else date.max
        held = [p for p in self.models.get(result.model, ()) if not p.since or p.since <= day]
        return max(held, key=lambda price: price.since or date.min, default=None)


def read_prices(path: Path) -> Prices:
    """The prices in the TOML file *path*, none without a file; raises ConfigurationError."""
    try:
        return parse_fields(Prices, tomllib.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return Prices()
    except (ValueError, OSError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from error
    except BadFields as error:
        raise ConfigurationError(f"{path}: {error}") from error


def cost_of(results: Iterable[Result], prices: Prices) -> float | None:
    """What *results* cost, or None if a model among them has no price."""
    total = 0.0
    for result in results:
        if price := prices.of(result):
            total += price.of(result.usage)
        elif result.model:
            return None
    return total
