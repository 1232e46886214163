"""Compares two runs of the same cases: changed prompts, changed answers, changed rates."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

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


@dataclass(frozen=True, slots=True)
class CaseChange:
    """A case in two runs, of which one may lack it."""

    name: str
    before: CaseScore | None
    after: CaseScore | None
    prompt: str = ""
    """What changed in the prompts of the first answers that were kept in both."""

    body: Sequence[Difference] = ()
    """What changed in those answers, without what differs in every run."""

    @property
    def rates(self) -> tuple[float | None, float | None]:
        """The shares that passed, before and after; None where nothing was scored."""
        old, new = self.before, self.after
        return old.rate if old else None, new.rate if new else None

    @property
    def direction(self) -> Direction:
        """What became of its rate."""
        if not self.before or not self.after:
            return "new" if self.after else "gone"
        old, new = self.rates
        if old is None or new is None:
            return "unscored"
        return "same" if old == new else "better" if new > old else "worse"

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of the change of a rate; None in replays, which never vary."""
        old, new = self.before, self.after
        if not old or not new or not (old.scored and new.scored and new.results[0].is_live):
            return None
        return newcombe((old.passes, old.scored), (new.passes, new.scored))

    @property
    def is_change(self) -> bool:
        """Whether anything changed."""
        failed = [score and score.failed for score in (self.before, self.after)]
        return bool(self.direction != "same" or failed[0] != failed[1] or self.prompt or self.body)


def compare_runs(before: Run, after: Run) -> list[CaseChange]:
    """Each case of either run, worse ones first, then by name."""
    old, new = by_case(before), by_case(after)
    changes = [_change(name, old.get(name), new.get(name)) for name in sorted({*old, *new})]
    return sorted(changes, key=lambda change: _ORDER.index(change.direction))


def _change(name: str, before: CaseScore | None, after: CaseScore | None) -> CaseChange:
    pairs = zip(*(score.results if score else () for score in (before, after)), strict=False)
    for old, new in ((one.answer, other.answer) for one, other in pairs):
        if old and new:
            prompt = word_diff("\n\n".join(old.prompts), "\n\n".join(new.prompts))
            body = body_differences(masked(old.body), masked(new.body), is_exact=True)
            return CaseChange(name, before, after, prompt, list(body))
    return CaseChange(name, before, after)


def paired_difference(changes: Sequence[CaseChange]) -> Paired | None:
    """The difference over the cases that were scored in both runs; None without any."""
    pairs = (change.rates for change in changes)
    rates = [(old, new) for old, new in pairs if old is not None and new is not None]
    return paired(rates) if rates else None


def side_by_side(runs: Mapping[str, Run]) -> list[Sequence[str]]:
    """A row for each case: its name, and how many answers passed in each of *runs*, by label."""
    scores = [by_case(run) for run in runs.values()]
    return [(name, *(str(each.get(name, "-")) for each in scores)) for name in scores[0]]
