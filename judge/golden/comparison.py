"""Compares two runs of the same cases: changed prompts, changed answers, changed rates."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from judge.golden.differences import Difference, body_differences, masked
from judge.golden.rates import Interval, Paired, newcombe, paired
from judge.golden.results import CaseScore, Run, by_case

CONTEXT = 12
"""Words of unchanged text that are shown before and after a change."""

_WORD = re.compile(r"\s*\S+|\s+$")


def word_diff(before: str, after: str) -> str:
    """What changed, as `git diff --word-diff` has it: [-removed-]{+added+}, with some context.

    Empty when the texts are equal.
    """
    if before == after:
        return ""
    old, new = _WORD.findall(before), _WORD.findall(after)
    parts = []
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT):
        text = ""
        for kind, i, j, k, m in group:
            removed, added = "".join(old[i:j]), "".join(new[k:m])
            if kind == "equal":
                text += removed
            else:
                text += f"[-{removed}-]" * bool(removed) + f"{{+{added}+}}" * bool(added)
        parts.append(text)
    return " … ".join(parts)


Direction = Literal["worse", "gone", "unscored", "better", "new", "same"]
_ORDER: Sequence[Direction] = ("worse", "gone", "unscored", "better", "new", "same")


class CaseChange(NamedTuple):
    """A case in two runs, of which one may lack it."""

    name: str
    direction: Direction
    """What became of its rate."""

    rates: tuple[float | None, float | None]
    """The shares that passed, before and after; None where nothing was scored."""

    interval: Interval | None
    """The 95 % interval of the change of a rate; None in replays, which never vary."""

    prompt: str
    """What changed in the prompts of the first answers that were kept in both."""

    body: Sequence[Difference]
    """What changed in those answers, without what differs in every run."""

    is_change: bool
    """Whether anything changed."""


def compare_runs(before: Run, after: Run) -> list[CaseChange]:
    """Each case of either run, worse ones first, then by name."""
    old, new = by_case(before), by_case(after)
    changes = [_change(name, old.get(name), new.get(name)) for name in sorted({*old, *new})]
    return sorted(changes, key=lambda change: _ORDER.index(change.direction))


def _change(name: str, old: CaseScore | None, new: CaseScore | None) -> CaseChange:
    if not old or not new:
        rates = old and old.rate, new and new.rate
        return CaseChange(name, "new" if new else "gone", rates, None, "", (), is_change=True)
    direction: Direction = "same"
    interval, prompt, body = None, "", list[Difference]()
    if old.rate is None or new.rate is None:
        direction = "unscored"
    elif old.rate != new.rate:
        direction = "better" if new.rate > old.rate else "worse"
    if direction != "unscored" and new.results[0].is_live:
        interval = newcombe((old.passes, old.scored), (new.passes, new.scored))
    pairs = zip(old.results, new.results, strict=False)
    for one, other in ((first.answer, second.answer) for first, second in pairs):
        if one and other:
            prompt = word_diff("\n\n".join(one.prompts), "\n\n".join(other.prompts))
            body = list(body_differences(masked(one.body), masked(other.body), is_exact=True))
            break
    is_change = bool(direction != "same" or old.failed != new.failed or prompt or body)
    return CaseChange(name, direction, (old.rate, new.rate), interval, prompt, body, is_change)


def paired_difference(changes: Sequence[CaseChange]) -> Paired | None:
    """The difference over the cases that were scored in both runs; None without any."""
    pairs = (change.rates for change in changes)
    rates = [(old, new) for old, new in pairs if old is not None and new is not None]
    return paired(rates) if rates else None


def side_by_side(runs: Mapping[str, Run]) -> list[Sequence[str]]:
    """A row for each case: its name, and how many answers passed in each of *runs*, by label."""
    scores = [by_case(run) for run in runs.values()]
    return [(name, *(str(each.get(name, "-")) for each in scores)) for name in scores[0]]
