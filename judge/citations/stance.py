"""What is said of one word: with what force, held or denied, under which condition.

The nouns of `reading.py`, and how one cue after another adds up.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from judge.citations.vocabulary import KnownWord

Force = Literal["fact", "must", "should", "can"]


class Stance(NamedTuple):
    """With what force something is said, and whether it (or its opposite) is what is said.

    "must not" is a duty of the opposite, "does not have to" is leave to do the opposite.
    """

    force: Force = "fact"
    sign: int = 1


FACT = Stance()
DENIED = Stance("fact", -1)
LEAVE = Stance("can")


def opposite(stance: Stance) -> Stance:
    """What is said when *stance* is untrue: who need not has leave, and who may not has a duty."""
    others: dict[Force, Force] = {"must": "can", "can": "must"}
    return Stance(others.get(stance.force, stance.force), -stance.sign)


@dataclass(slots=True)
class Word:
    """A word that carries content, as its sentence takes it."""

    known: KnownWord
    stance: Stance
    is_head: bool
    """Whether it is the first word that a cue holds for."""
    is_verb: bool
    """Whether it may be what somebody does: a small word only where it is a head."""
    condition: str
    """`if`, `only` (only if, unless), `even` (even if) or `without`, in whose clause it stands."""
    share: str
    """`all`, `most`, `some` or `few` of it."""
    clause: int
    at: int
    limit: str = ""
    """`without`, `unless` or `until`, in whose clause it stands."""
    is_counted: bool = True
    """Whether it counts as a reversal: of the words that one cue denies only one does."""
    is_in_mixed_clause: bool = False
    """Whether its clause holds one thing and denies another."""


class Person(NamedTuple):
    """Somebody named in a clause."""

    at: int
    name: str
    clause: int


def composed(held: Stance, kind: str) -> Stance:  # noqa: PLR0911 - a table of eight rows
    """What is said when *kind* comes after *held*, with no word between them."""
    is_said = held.sign > 0
    match kind:
        case "not" if held == Stance("can"):
            return Stance("must", -1)
        case "not" | "lacks":
            return Stance(held.force, -held.sign)
        case "cannot":
            return Stance("must", -1) if is_said else Stance("can", 1)
        case "can_fail":
            return Stance("can", -1) if is_said else Stance("must", 1)
        case "must" if is_said and held.force != "can":
            return Stance("must", 1)
        case "must":
            return Stance("should", 1) if is_said else Stance("can", -1)
        case "can" if held == Stance("can", -1) or (is_said and held.force in {"must", "should"}):
            return held  # "must be allowed in", "does not have to let you"
        case "can":
            return Stance("can", 1) if is_said else Stance("must", -1)
        case "should_not":
            return Stance("should", -held.sign)
    return Stance("should", held.sign)
