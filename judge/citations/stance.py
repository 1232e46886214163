"""What a sentence says of one word: its modality and polarity, and under which condition.

The data types of `reading.py`, and how successive cues combine.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from judge.citations.vocabulary import Lexeme

Modality = Literal["fact", "must", "should", "can"]


class Stance(NamedTuple):
    """The modality of a statement, and its polarity: -1 if the opposite is said.

    "must not" is a duty of the opposite; "does not have to" is permission of the opposite.
    """

    modality: Modality = "fact"
    sign: int = 1


FACT = Stance()
DENIED = Stance("fact", -1)
PERMISSION = Stance("can")


def opposite(stance: Stance) -> Stance:
    """The negation of *stance*: not having to is permission, not being allowed to is a duty."""
    others: dict[Modality, Modality] = {"must": "can", "can": "must"}
    return Stance(others.get(stance.modality, stance.modality), -stance.sign)


@dataclass(slots=True)
class Word:
    """A content word, and what its sentence says of it."""

    lexeme: Lexeme
    stance: Stance
    is_head: bool
    """Whether it is the first word in the scope of a cue."""
    is_verb: bool
    """Whether it may be an action; a function word only if it is a head."""
    condition: str
    """The kind of conditional clause it is in: `if`, `only` (only if, unless), `even` (even if),
    `without`, or empty."""
    quantifier: str
    """Its quantifier: `all`, `most`, `some`, `few`, or empty."""
    clause: int
    at: int
    limit: str = ""
    """`without`, `unless` or `until` if it is in such a clause."""
    is_counted: bool = True
    """Whether its negation counts as a reversal: only one of the words negated by a cue does."""
    is_in_mixed_clause: bool = False
    """Whether its clause affirms one word and negates another."""


class Person(NamedTuple):
    """A mention of a person in a clause; `at` is the index of the token."""

    at: int
    name: str
    clause: int


def combine(previous: Stance, kind: str) -> Stance:  # noqa: PLR0911 - a table of eight rows
    """The stance after a cue of *kind* that directly follows one of stance *previous*."""
    is_said = previous.sign > 0
    match kind:
        case "not" if previous == Stance("can"):
            return Stance("must", -1)
        case "not" | "lacks":
            return Stance(previous.modality, -previous.sign)
        case "cannot":
            return Stance("must", -1) if is_said else Stance("can", 1)
        case "can_fail":
            return Stance("can", -1) if is_said else Stance("must", 1)
        case "must" if is_said and previous.modality != "can":
            return Stance("must", 1)
        case "must":
            return Stance("should", 1) if is_said else Stance("can", -1)
        case "can" if previous in (Stance("can", -1), Stance("must"), Stance("should")):
            return previous  # "must be allowed in", "does not have to let you"
        case "can":
            return Stance("can", 1) if is_said else Stance("must", -1)
        case "should_not":
            return Stance("should", -previous.sign)
    return Stance("should", previous.sign)
