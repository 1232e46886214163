"""Rates with their 95 % intervals, so that a change is told from chance."""

import math
import random
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from judge.text.english import counted

Z_95 = 1.959964  # the normal quantile of a two-sided 95 % interval
MAX_P = 0.05
RESAMPLES = 2000


class Interval(NamedTuple):
    """The 95 % confidence interval of a rate, or of the change of one."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.0%} to {self.high:.0%}"


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


def newcombe(before: tuple[int, int], after: tuple[int, int]) -> Interval:
    """The 95 % interval of the difference of two rates, each given as hits and trials.

    R. G. Newcombe, Statistics in Medicine 17 (1998) 873-890, method 10.
    """
    rate_a, rate_b = before[0] / before[1], after[0] / after[1]
    a, b = wilson(*before), wilson(*after)
    step = rate_b - rate_a
    low = step - math.hypot(rate_b - b.low, a.high - rate_a)
    return Interval(low, step + math.hypot(b.high - rate_b, rate_a - a.low))


class Paired(NamedTuple):
    """The difference of two runs over the same cases: the mean change, with its interval.

    The interval is a bootstrap over the cases, which holds for answers that are alike; `p` is of
    McNemar's exact test, that as many cases get better as worse.
    """

    change: float
    interval: Interval
    better: int
    worse: int
    p: float

    def __str__(self) -> str:
        is_clear = self.p < MAX_P and not self.interval.low <= 0 <= self.interval.high
        return (
            f"{self.change:+.0%} (95 %: {self.interval.low:+.0%} to {self.interval.high:+.0%}); "
            f"better in {counted(self.better, 'case')}, worse in {self.worse}, p = {self.p:.2g}: "
            f"{'a clear difference' if is_clear else 'chance may explain it'}."
        )


def paired(rates: Sequence[tuple[float, float]]) -> Paired:
    """The difference between the *rates* of each case before and after; there is at least one."""
    changes = [after - before for before, after in rates]
    better, worse = (sum(sign * change > 0 for change in changes) for sign in (1, -1))
    moved = better + worse
    tail = sum(math.comb(moved, count) for count in range(min(better, worse) + 1))
    chance = random.Random(0)  # noqa: S311 - the same runs give the same report
    means = sorted(fmean(chance.choices(changes, k=len(changes))) for _ in range(RESAMPLES))
    cut = RESAMPLES // 40
    interval = Interval(means[cut], means[-cut - 1])
    return Paired(fmean(changes), interval, better, worse, min(1.0, 2 * tail / 2**moved))
