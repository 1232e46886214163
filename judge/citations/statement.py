"""A sentence as it was read: the nouns of `reading.py`, beside those of `stance.py`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from judge.citations.facts import Fact, quantities
from judge.citations.stance import Person, Stance, Word

_ONLY = re.compile(
    r"^only (?!if|when|where)|\b(?:solely|exclusively|only (?:the|an?|people|those|to|for))\b"
    r"|\b(?:nobody|no one|none|nothing) (?:but|except|other than)\b"
)
_ANY = re.compile(
    r"^any (?!of\b)|\b(?:any(?:one|body)|every(?:one|body)|whoever)\b|\b(?:too|as well)$"
)
_SWEEPING = frozenset(
    "even whatever whichever regardless irrespective always still any anything everything "
    "whatsoever".split()
)


@dataclass(eq=False)
class Statement:
    """A sentence read. What few comparisons need is looked for when one first asks for it."""

    sentence: str
    tokens: Sequence[str]
    words: Sequence[Word]
    people: Sequence[Person]
    by_concept: Mapping[str, Sequence[Word]]
    turns: Sequence[int]
    """The clause of each reversal: that a head is denied, that a word is the opposite of others."""
    denials: int
    """How many of them are none of a bound: "less than a"."""
    limits: frozenset[str]
    """`without`, `unless` and `until`, where it has a clause of that kind."""
    main: Stance
    """The first duty or leave that it tells of, outside of conditions, or else a fact."""

    @cached_property
    def stems(self) -> frozenset[str]:
        """Of its words."""
        return frozenset(word.known.stem for word in self.words)

    @cached_property
    def bare(self) -> frozenset[str]:
        """What its words are the opposites of by a prefix."""
        return frozenset(form for word in self.words for form in word.known.bare)

    @cached_property
    def facts(self) -> list[Fact]:
        """Its numbers; most sentences have none."""
        return quantities(self.sentence)

    @property
    def is_sweeping(self) -> bool:
        """Whether it leaves no exception."""
        return not _SWEEPING.isdisjoint(self.tokens)

    @cached_property
    def reach(self) -> str:
        """`only` where nobody else is meant, `any` where everyone is."""
        text = " ".join(self.tokens)
        is_only, is_any = _ONLY.search(text), _ANY.search(text)
        return "" if bool(is_only) == bool(is_any) else "only" if is_only else "any"
