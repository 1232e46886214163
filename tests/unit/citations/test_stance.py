"""How two cues in a row combine: "must not", "cannot refuse to", "does not have to"."""

import pytest

from judge.citations.stance import FACT, Stance, combine

SAID = {
    "a fact": FACT,
    "no fact": Stance("fact", -1),
    "a duty": Stance("must", 1),
    "a ban": Stance("must", -1),
    "advice": Stance("should", 1),
    "advice against": Stance("should", -1),
    "leave": Stance("can", 1),
    "leave not to": Stance("can", -1),
}
ADDED = """
a fact, not: no fact
no fact, not: a fact
a duty, not: a ban
advice, not: advice against
leave, not: a ban
leave not to, not: leave
a fact, lacks: no fact
leave, lacks: leave not to
a fact, cannot: a ban
a ban, cannot: leave
no fact, cannot: leave
a fact, can_fail: leave not to
a ban, can_fail: a duty
a fact, must: a duty
advice, must: a duty
leave, must: advice
no fact, must: leave not to
a ban, must: leave not to
a fact, can: leave
a duty, can: a duty
no fact, can: a ban
a fact, should_not: advice against
no fact, should_not: advice
a fact, should: advice
a duty, should: advice
no fact, should: advice against
""".strip().splitlines()


@pytest.mark.parametrize("row", ADDED)
def test_second_cue_changes_the_stance(row: str) -> None:
    before, _, after = row.partition(": ")
    held, _, kind = before.partition(", ")
    assert combine(SAID[held], kind) == SAID[after]


@pytest.mark.parametrize("held", SAID.values())
def test_double_negation_cancels_except_for_permission(held: Stance) -> None:
    again = combine(combine(held, "lacks"), "lacks")
    assert again == held
    assert combine(combine(held, "not"), "not").sign == held.sign
