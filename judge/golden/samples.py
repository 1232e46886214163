"""The figures of runs: samples, the pass rate of each case with its interval, broken rules."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from judge.golden.cases import Expected, Rubric
from judge.golden.differences import Difference
from judge.golden.replay import ReplayedReply
from judge.types.replies import Usage

Z_95 = 1.959964
"""The normal quantile of a two-sided 95 % interval."""

State = Literal["passed", "failed", "unscored"]


@dataclass(frozen=True, slots=True)
class Interval:
    """The 95 % confidence interval of a rate."""

    low: float
    high: float


def wilson(hits: int, of: int) -> Interval:
    """Wilson's score interval, which holds for few samples and for rates of 0 and 1.

    E. B. Wilson, JASA 22 (1927) 209-212. Without a sample, nothing is known: 0 to 1.
    """
    if not of:
        return Interval(0.0, 1.0)
    rate, square = hits / of, Z_95**2
    centre = rate + square / (2 * of)
    margin = Z_95 * math.sqrt((rate * (1 - rate) + square / (4 * of)) / of)
    scale = 1 + square / of
    return Interval(max(0.0, (centre - margin) / scale), min(1.0, (centre + margin) / scale))


@dataclass(frozen=True, slots=True)
class Answer:
    """The texts of one judgement, as plain data."""

    status: int
    body: Mapping[str, Any]
    prompts: tuple[str, ...]
    """The first prompt, and the second one if the model was asked again."""

    replies: tuple[ReplayedReply, ...] = ()


@dataclass(frozen=True, slots=True)
class Grade:
    """How often a model answered the question of a rubric with yes and with no."""

    question: str
    yes: int = 0
    no: int = 0

    def __str__(self) -> str:
        interval = wilson(self.yes, self.yes + self.no)
        return f"{self.yes} of {self.yes + self.no} yes ({interval.low:.0%} to {interval.high:.0%})"

    def state(self, rubric: Rubric) -> State:
        """`passed` or `failed` where the replies that are missing could not change it."""
        needed = rubric.at_least * rubric.times
        if self.yes >= needed:
            return "passed"
        return "failed" if rubric.times - self.no < needed else "unscored"


@dataclass(frozen=True, slots=True)
class Sample:
    """One judgement of a case in figures and names; only `answer` holds texts."""

    case: str
    number: int
    floor: float
    is_scored: bool
    failed: tuple[str, ...] = ()
    """The fields and evaluators that were not as expected."""

    reason: str = ""
    """Why it could not be scored."""

    first_rules: tuple[str, ...] = ()
    second_rules: tuple[str, ...] = ()
    attempts: int = 0
    model: str = ""
    prompt_version: str = ""
    sources_version: str = ""
    usage: Usage = field(default_factory=Usage)
    is_live: bool = False
    at: datetime | None = None
    """When its run began, in UTC."""

    sources_file: str = ""
    grades: tuple[Grade, ...] = ()
    answer: Answer | None = None
    """None for a live answer, unless `--keep-answers` was given."""

    @property
    def has_passed(self) -> bool:
        """Whether everything was as expected."""
        return self.is_scored and not self.failed


@dataclass(frozen=True, slots=True)
class ScoredCase:
    """A sample with the answer that was scored, and what it was compared with."""

    sample: Sample
    differences: tuple[Difference, ...]
    answer: Answer
    expected: Expected
    """For a live answer only what holds for any good answer."""

    missing: tuple[str, ...] = ()
    """As in Outcome."""


def with_answer(scored: ScoredCase) -> Sample:
    """The sample of *scored* with its answer."""
    return replace(scored.sample, answer=scored.answer)


@dataclass(frozen=True, slots=True)
class CaseScore:
    """All samples of one case."""

    name: str
    samples: tuple[Sample, ...]

    @property
    def floor(self) -> float:
        """The share of answers that must be as expected."""
        return self.samples[0].floor

    @property
    def passes(self) -> int:
        """How many samples passed."""
        return sum(sample.has_passed for sample in self.samples)

    @property
    def scored(self) -> int:
        """How many samples could be scored."""
        return sum(sample.is_scored for sample in self.samples)

    @property
    def rate(self) -> float | None:
        """The share of the scored samples that passed."""
        return self.passes / self.scored if self.scored else None

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the rate."""
        return wilson(self.passes, self.scored)

    @property
    def state(self) -> State:
        """`passed` or `failed` where the unscored samples could not change it."""
        needed = self.floor * len(self.samples)
        if self.passes >= needed:
            return "passed"
        at_best = self.passes + len(self.samples) - self.scored
        return "unscored" if at_best >= needed else "failed"


@dataclass(frozen=True, slots=True)
class RuleCount:
    """In how many first and second replies a rule was broken."""

    rule: str
    first: int
    second: int


def by_case(samples: Iterable[Sample]) -> list[CaseScore]:
    """The samples of each case together, in the order in which the cases come."""
    cases: dict[str, list[Sample]] = {}
    for sample in samples:
        cases.setdefault(sample.case, []).append(sample)
    return [CaseScore(name, tuple(own)) for name, own in cases.items()]


def rule_counts(samples: Sequence[Sample]) -> list[RuleCount]:
    """For each rule, in how many first and in how many second replies it was broken."""
    first = Counter(rule for sample in samples for rule in set(sample.first_rules))
    second = Counter(rule for sample in samples for rule in set(sample.second_rules))
    ranked = sorted(first | second, key=lambda rule: (-first[rule], -second[rule], rule))
    return [RuleCount(rule, first[rule], second[rule]) for rule in ranked]


def counts_in_words(counts: Mapping[str, int]) -> str:
    """Each value with its count, the commonest first."""
    return ", ".join(f"{value} {count}" for value, count in Counter(counts).most_common())
