"""Compares two runs of the same cases: changed prompts, changed answers, changed rates."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal

from judge.golden.differences import Difference, body_differences, masked
from judge.golden.results import Interval, Result, Run, by_case, counts_in_words, wilson

CONTEXT = 12
"""Words of unchanged text that are shown before and after a change."""

_WORD = re.compile(r"\s*\S+|\s+$")

DiffPart = tuple[Literal["same", "removed", "added"], str]


def diff(before: str, after: str) -> list[DiffPart]:
    """The differences of two texts word by word, with some context; empty when they are equal."""
    if before == after:
        return []
    old, new = _WORD.findall(before), _WORD.findall(after)
    parts: list[DiffPart] = []
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT):
        parts.append(("same", " … "))
        for kind, i, j, k, m in group:
            if kind == "equal":
                parts.append(("same", "".join(old[i:j])))
                continue
            parts += [("removed", "".join(old[i:j])), ("added", "".join(new[k:m]))]
    return [part for part in parts[1:] if part[1]]


def marked(parts: Sequence[DiffPart]) -> str:
    """*parts* in the form of `git diff --word-diff`: [-removed-]{+added+}."""
    forms = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    return "".join(forms[kind].format(text) for kind, text in parts)


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """One answer in two runs; a field is empty where nothing changed."""

    before: Result
    after: Result
    prompt: tuple[DiffPart, ...]
    """The change of the first prompt, or where that is the same of the second."""

    body: tuple[Difference, ...]
    """Field by field, without what differs in every run."""

    @property
    def is_change(self) -> bool:
        """Whether anything changed."""
        return bool(self.prompt or self.body or self.before.failed != self.after.failed)


def answer_changes(before: Run, after: Run) -> list[AnswerChange]:
    """Each answer of *after* beside that of the same number before, where both are stored."""
    by_number = {(result.case, result.number): result for result in before}
    changes = []
    for new in after:
        old = by_number.get((new.case, new.number))
        if old and old.answer and new.answer:
            prompts = zip_longest(old.answer.prompts, new.answer.prompts, fillvalue="")
            prompt = next((tuple(diff(*pair)) for pair in prompts if pair[0] != pair[1]), ())
            bodies = masked(old.answer.body), masked(new.answer.body)
            body = tuple(body_differences(*bodies, is_exact=True))
            changes.append(AnswerChange(old, new, prompt, body))
    return changes


def prompt_changes(changes: Sequence[AnswerChange]) -> dict[tuple[DiffPart, ...], list[str]]:
    """Each distinct change of prompts with the cases that have it."""
    groups: dict[tuple[DiffPart, ...], list[str]] = {}
    for change in changes:
        cases = groups.setdefault(change.prompt, [])
        if change.after.case not in cases:
            cases.append(change.after.case)
    groups.pop((), None)
    return groups


def verdict_moves(before: Run, after: Run) -> Iterator[tuple[str, str, str, str]]:
    """Case, persona and the counts of each verdict, before and after, where they differ."""
    old, new = _verdicts(before), _verdicts(after)
    for case, persona in sorted(old.keys() & new.keys()):
        was, now = (counts_in_words(counts[case, persona]) for counts in (old, new))
        if was != now:
            yield case, persona, was, now


def _verdicts(results: Run) -> dict[tuple[str, str], Counter[str]]:
    counts: dict[tuple[str, str], Counter[str]] = {}
    for result in results:
        for persona in result.answer.body.get("personas", ()) if result.answer else ():
            key = result.case, persona["name"]
            counts.setdefault(key, Counter())[str(persona["verdict"])] += 1
    return counts


Direction = Literal["worse", "gone", "unscored", "better", "new", "same"]
_ORDER: Sequence[Direction] = ("worse", "gone", "unscored", "better", "new", "same")
Rate = tuple[int, int]
"""Hits and trials."""


@dataclass(frozen=True, slots=True)
class RateChange:
    """A rate in both runs, None where it is unknown, and the 95 % interval of its change."""

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
    rate_a, rate_b = before[0] / before[1], after[0] / after[1]
    a, b = wilson(*before), wilson(*after)
    step = rate_b - rate_a
    low = step - math.hypot(rate_b - b.low, a.high - rate_a)
    return Interval(low, step + math.hypot(b.high - rate_b, rate_a - a.low))


def compare_cases(before: Run, after: Run) -> list[RateChange]:
    """The change of each case's rate, worse ones first, then by name."""
    old, new = ({s.name: (s.passes, s.scored) for s in by_case(run)} for run in (before, after))
    changes = [_rate_change(name, old.get(name), new.get(name)) for name in sorted({*old, *new})]
    return sorted(changes, key=lambda change: _ORDER.index(change.direction))


def _rate_change(name: str, old: Rate | None, new: Rate | None) -> RateChange:
    before, after = (rate[0] / rate[1] if rate and rate[1] else None for rate in (old, new))
    if old is None or new is None:
        return RateChange(name, "new" if old is None else "gone", before, after)
    if before is None or after is None:
        return RateChange(name, "unscored", before, after)
    direction: Direction = "same" if before == after else "better" if after > before else "worse"
    return RateChange(name, direction, before, after, newcombe(old, new))
