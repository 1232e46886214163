"""The result of reading a sentence, as `reading.py` makes it."""

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
    """A sentence and what it says of its words. Properties few comparisons need are lazy."""

    sentence: str
    tokens: Sequence[str]
    words: Sequence[Word]
    people: Sequence[Person]
    by_concept: Mapping[str, Sequence[Word]]
    reversals: Sequence[int]
    """The clause of each reversal: a negated head, or a word that is the opposite of a concept."""
    negations: int
    """The number of reversals, without those of a bound such as "less than a"."""
    limits: frozenset[str]
    """Those of `without`, `unless` and `until` of which it has a clause."""
    main: Stance
    """Its first obligation or permission outside of conditions, or else a fact."""

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its content words."""
        return frozenset(word.lexeme.stem for word in self.words)

    @cached_property
    def roots(self) -> frozenset[str]:
        """Its words' concepts without a negative prefix: `fair` for `unfair`."""
        return frozenset(form for word in self.words for form in word.lexeme.roots)

    @cached_property
    def facts(self) -> list[Fact]:
        """Its numbers and dates; most sentences have none."""
        return quantities(self.sentence)

    @property
    def is_sweeping(self) -> bool:
        """Whether it allows no exception."""
        return not _SWEEPING.isdisjoint(self.tokens)

    @cached_property
    def exclusivity(self) -> str:
        """`only` if it excludes everybody else, `any` if it includes everybody, else empty."""
        text = " ".join(self.tokens)
        is_only, is_any = _ONLY.search(text), _ANY.search(text)
        return "" if bool(is_only) == bool(is_any) else "only" if is_only else "any"
