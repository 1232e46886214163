"""Compares two runs of the same cases: changed prompts, changed answers, changed rates."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, TypeVar

from judge.golden.difference_text import Hunk, changed_words, diff
from judge.golden.differences import Difference, body_differences, masked
from judge.golden.samples import Interval, Sample, by_case, rule_counts, wilson

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """One answer in two runs; a field is empty where nothing changed."""

    before: Sample
    after: Sample
    prompts: tuple[Hunk, ...]
    """The changes of the first prompt and of the second, without repetitions."""

    body: tuple[Difference, ...]
    """Field by field, without what differs in every run."""

    @property
    def is_change(self) -> bool:
        """Whether anything changed."""
        return bool(self.prompts or self.body or self.before.failed != self.after.failed)


def answer_changes(before: Sequence[Sample], after: Sequence[Sample]) -> list[AnswerChange]:
    """Each answer of *after* beside that of the same number before, where both are stored."""
    by_number = {(sample.case, sample.number): sample for sample in before}
    changes = []
    for new in after:
        old = by_number.get((new.case, new.number))
        if old and old.answer and new.answer:
            bodies = masked(old.answer.body), masked(new.answer.body)
            prompts = zip_longest(old.answer.prompts, new.answer.prompts, fillvalue="")
            hunks = {changed_words(hunk): hunk for pair in prompts for hunk in diff(*pair)}
            body = tuple(body_differences(*bodies, is_exact=True))
            changes.append(AnswerChange(old, new, tuple(hunks.values()), body))
    return changes


def prompt_changes(changes: Sequence[AnswerChange]) -> list[tuple[Hunk, tuple[str, ...]]]:
    """Each distinct change of prompts with the cases that have it, the commonest first."""
    return _grouped(
        (changed_words(hunk), hunk, change.after.case)
        for change in changes
        for hunk in change.prompts
    )


def body_changes(
    changes: Sequence[AnswerChange],
) -> list[tuple[tuple[Difference, ...], tuple[str, ...]]]:
    """Each distinct change of answers with the cases that have it, the commonest first."""
    return _grouped((c.body, c.body, c.after.case) for c in changes if c.body)


def _grouped(changes: Iterable[tuple[object, T, str]]) -> list[tuple[T, tuple[str, ...]]]:
    """(key, change, case) grouped by key: the first change of each, with all its cases."""
    by_key: dict[str, tuple[T, dict[str, None]]] = {}
    for key, change, case in changes:  # By repr, since values may be lists.
        by_key.setdefault(repr(key), (change, {}))[1][case] = None
    groups = [(change, tuple(cases)) for change, cases in by_key.values()]
    return sorted(groups, key=lambda group: -len(group[1]))


def verdict_moves(
    before: Sequence[Sample], after: Sequence[Sample]
) -> dict[tuple[str, str], tuple[Counter[str], Counter[str]]]:
    """By case and persona the counts of each verdict, before and after, where shares differ."""
    old, new = _verdicts(before), _verdicts(after)
    both = {key: (old[key], new[key]) for key in old if key in new}
    return {key: pair for key, pair in both.items() if len({*map(_shares, pair)}) > 1}


def _verdicts(samples: Sequence[Sample]) -> dict[tuple[str, str], Counter[str]]:
    counts: dict[tuple[str, str], Counter[str]] = {}
    for sample in samples:
        for persona in sample.answer.body.get("personas", ()) if sample.answer else ():
            key = sample.case, persona["name"]
            counts.setdefault(key, Counter())[str(persona["verdict"])] += 1
    return counts


def _shares(counts: Counter[str]) -> frozenset[tuple[str, float]]:
    return frozenset((verdict, count / counts.total()) for verdict, count in counts.items())


Direction = Literal["better", "worse", "same", "new", "gone", "unscored"]
Rate = tuple[int, int]
"""Hits and trials."""


@dataclass(frozen=True, slots=True)
class Change:
    """A rate in both runs. `is_clear` when the 95 % interval of its change excludes zero."""

    name: str
    direction: Direction
    before: float | None
    after: float | None
    interval: Interval | None = None

    @property
    def is_clear(self) -> bool:
        """Whether chance is an unlikely explanation."""
        return self.interval is not None and (self.interval.low > 0 or self.interval.high < 0)


def newcombe(before: Rate, after: Rate) -> Interval:
    """The 95 % interval of the difference of two rates.

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
    changes = [_rate_change(name, old.get(name), new.get(name)) for name in sorted({*old, *new})]
    return sorted(changes, key=lambda change: order.index(change.direction))


def compare_rules(before: Sequence[Sample], after: Sequence[Sample]) -> list[Change]:
    """For each rule the share of first replies that broke it; fewer is better."""
    old, new = ({count.rule: count.first for count in rule_counts(run)} for run in (before, after))
    replied = [sum(sample.attempts > 0 for sample in run) for run in (before, after)]
    if not all(replied):
        return []
    return [
        _rate_change(
            rule, (old.get(rule, 0), replied[0]), (new.get(rule, 0), replied[1]), is_good=False
        )
        for rule in sorted({*old, *new})
    ]


def _rate_change(name: str, old: Rate | None, new: Rate | None, *, is_good: bool = True) -> Change:
    """The change of a rate, which is better if it rises where *is_good*, else if it falls."""
    before, after = (rate[0] / rate[1] if rate and rate[1] else None for rate in (old, new))
    if old is None or new is None:
        return Change(name, "new" if old is None else "gone", before, after)
    if before is None or after is None:
        return Change(name, "unscored", before, after)
    step = after - before if is_good else before - after
    direction: Direction = "same" if not step else "better" if step > 0 else "worse"
    return Change(name, direction, before, after, newcombe(old, new))
