"""What got better and what got worse between two runs, and whether chance could do that."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from judge.golden.scores import Interval, Sample, by_case, rule_counts, wilson

Direction = Literal["better", "worse", "same", "new", "gone", "unscored"]
Rate = tuple[int, int]
"""Hits, and of how many."""


@dataclass(frozen=True, slots=True)
class Change:
    """A rate in both runs. `is_clear` when the 95 % interval of its change excludes zero."""

    name: str
    direction: Direction
    before: float | None
    after: float | None
    spread: Interval | None = None

    @property
    def is_clear(self) -> bool:
        """Whether chance is an unlikely explanation."""
        return self.spread is not None and (self.spread.low > 0 or self.spread.high < 0)


def newcombe(before: Rate, after: Rate) -> Interval:
    """The interval of the difference of two rates.

    R. G. Newcombe, Statistics in Medicine 17 (1998) 873-890, method 10.
    """
    (hits_a, of_a), (hits_b, of_b) = before, after
    rate_a, rate_b = hits_a / of_a, hits_b / of_b
    a, b = wilson(*before), wilson(*after)
    step = rate_b - rate_a
    low = step - math.hypot(rate_b - b.low, a.high - rate_a)
    high = step + math.hypot(b.high - rate_b, rate_a - a.low)
    return Interval(low, high)


def compare_runs(before: Sequence[Sample], after: Sequence[Sample]) -> list[Change]:
    """The change of each case, worse ones first, then by name."""
    old, new = (
        {score.name: (score.passes, score.scored) for score in by_case(run)}
        for run in (before, after)
    )
    order: Sequence[Direction] = ("worse", "gone", "unscored", "better", "new", "same")
    changes = [_change(name, old.get(name), new.get(name)) for name in sorted({*old, *new})]
    return sorted(changes, key=lambda change: order.index(change.direction))


def compare_rules(before: Sequence[Sample], after: Sequence[Sample]) -> list[Change]:
    """For each rule the share of first replies that broke it; fewer is better."""
    old, new = ({one.rule: one.first for one in rule_counts(run)} for run in (before, after))
    replied = [sum(sample.attempts > 0 for sample in run) for run in (before, after)]
    if not all(replied):
        return []
    return [
        _change(rule, (old.get(rule, 0), replied[0]), (new.get(rule, 0), replied[1]), is_good=False)
        for rule in sorted({*old, *new})
    ]


def _change(name: str, old: Rate | None, new: Rate | None, *, is_good: bool = True) -> Change:
    """What became of a rate, of which more is better where it *is_good*."""
    before, after = (rate[0] / rate[1] if rate and rate[1] else None for rate in (old, new))
    if old is None or new is None:
        return Change(name, "new" if old is None else "gone", before, after)
    if before is None or after is None:
        return Change(name, "unscored", before, after)
    step = after - before if is_good else before - after
    direction: Direction = "same" if not step else "better" if step > 0 else "worse"
    return Change(name, direction, before, after, newcombe(old, new))
