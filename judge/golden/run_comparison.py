"""What got better and what got worse between two runs, and whether chance could do that."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from judge.golden.scores import CaseScore, Interval, Sample, by_case, rule_counts, wilson

Direction = Literal["better", "worse", "same", "new", "gone", "unscored"]


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


def newcombe(before: tuple[int, int], after: tuple[int, int]) -> Interval:
    """The interval of the difference of two rates, each as (hits, of).

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
    old = {score.name: score for score in by_case(before)}
    new = {score.name: score for score in by_case(after)}
    order: Sequence[Direction] = ("worse", "gone", "unscored", "better", "new", "same")
    changes = [_change(name, old.get(name), new.get(name)) for name in sorted({*old, *new})]
    return sorted(changes, key=lambda change: order.index(change.direction))


def compare_rules(before: Sequence[Sample], after: Sequence[Sample]) -> Iterator[Change]:
    """For each rule the share of first replies that broke it; fewer is better."""
    old, new = _first_rules(before), _first_rules(after)
    scored_a, scored_b = _replied(before), _replied(after)
    if not scored_a or not scored_b:
        return
    for rule in sorted({*old, *new}):
        a, b = old.get(rule, 0), new.get(rule, 0)
        spread = newcombe((a, scored_a), (b, scored_b))
        direction = _direction(-a / scored_a, -b / scored_b)
        yield Change(rule, direction, a / scored_a, b / scored_b, spread)


def _change(name: str, old: CaseScore | None, new: CaseScore | None) -> Change:
    before = old.rate if old else None
    after = new.rate if new else None
    if old is None or new is None:
        return Change(name, "new" if old is None else "gone", before, after)
    if before is None or after is None:
        return Change(name, "unscored", before, after)
    spread = newcombe((old.passes, old.scored), (new.passes, new.scored))
    return Change(name, _direction(before, after), before, after, spread)


def _direction(before: float, after: float) -> Direction:
    if before == after:
        return "same"
    return "better" if after > before else "worse"


def _first_rules(samples: Sequence[Sample]) -> dict[str, int]:
    return {count.rule: count.first for count in rule_counts(samples)}


def _replied(samples: Sequence[Sample]) -> int:
    return sum(sample.attempts > 0 for sample in samples)
