"""Rates with their 95 % intervals, so that a change is told from chance."""

import math
from typing import NamedTuple

Z_95 = 1.959964
"""The normal quantile of a two-sided 95 % interval."""

Rate = tuple[int, int]
"""Hits and trials."""


class Interval(NamedTuple):
    """The 95 % confidence interval of a rate, or of the change of one."""

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


def newcombe(before: Rate, after: Rate) -> Interval:
    """The 95 % interval of the difference of two rates.

    R. G. Newcombe, Statistics in Medicine 17 (1998) 873-890, method 10.
    """
    rate_a, rate_b = before[0] / before[1], after[0] / after[1]
    a, b = wilson(*before), wilson(*after)
    step = rate_b - rate_a
    low = step - math.hypot(rate_b - b.low, a.high - rate_a)
    return Interval(low, step + math.hypot(b.high - rate_b, rate_a - a.low))
