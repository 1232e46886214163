"""Many regular expressions, few of which match: only those are tried whose words stand in a text.

Every match of a pattern holds one of some literals, which are read off it. One walk over the text
(Aho and Corasick, 1975) tells which patterns may match at all, and those are tried only around
their literals: `re` by itself tries them at every letter.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import ahocorasick

from judge.text.english import STOP_WORDS

MOST_LITERALS = 64
"""Of one part of a pattern; a part that can be more texts than that counts as any text."""

RARE = 0.001
"""Literals that stand at a smaller share of all places are looked for beside a pattern's rarest."""

COMMON = 0.01
"""The share of places where a function word stands."""

_PART = re.compile(
    r"(?P<look>\(\?<?[=!])|(?P<open>\((?:\?:)?)|(?P<close>\))|(?P<branch>\|)"
    r"|(?P<repeat>(?:[*+?]|\{\d*,?\d*\})[?+]?)|(?P<edge>\\[bBAZ]|[$^])"
    r"|(?P<letters>\[[a-z0-9' -]+\])|(?P<any>\\\w|\[\^?\]?(?:\\.|[^\]\\])*\]|\.)|\\?(?P<letter>.)",
    re.DOTALL,
)
_ASCII = [chr(code) for code in range(32, 127)]

Texts = frozenset[str]
NONE: Texts = frozenset()
NOTHING: Texts = frozenset([""])


@dataclass(frozen=True, slots=True)
class RequiredLiterals:
    """Sets of literals of which every match of a pattern holds one each, the rarest first.

    With what it looks at before and after, a match is no longer than `longest`. It begins with one
    of `first`; with anything where that holds an empty text.
    """

    held: tuple[Texts, ...] = ()
    longest: float = math.inf
    first: Texts = NOTHING


class PatternSet:
    """Regular expressions for folded text, known by their places in the order given.

    Each is compiled when it is first tried.
    """

    def __init__(self, regexes: Iterable[str]) -> None:
        self._regexes = tuple(regexes)
        self._compiled: dict[int, tuple[re.Pattern[str], re.Pattern[str] | None]] = {}
        """With what a match begins with."""
        self._required = [required_literals(regex) for regex in self._regexes]
        self._sets: dict[str, list[tuple[int, int]]] = {}
        """For each literal the patterns one of whose sets has it, with a bit for the set."""
        for number, required in enumerate(self._required):
            for place, literals in enumerate(required.held):
                for literal in literals:
                    self._sets.setdefault(literal, []).append((number, 1 << place))
        self._literals = literal_finder(self._sets)
        self._always = [n for n, required in enumerate(self._required) if not required.held]

    def matches(self, text: str) -> Iterator[tuple[int, re.Match[str]]]:
        """Every match in *text* with the place of its pattern, as `finditer` of one by one."""
        places: dict[str, list[int]] = {}
        for last, literal in self._literals.iter(text):
            places.setdefault(literal, []).append(last + 1 - len(literal))
        for number, rarest in self._likely(places):
            if number not in self._compiled:
                opening = _opening(self._required[number].first)
                self._compiled[number] = compile_folded(self._regexes[number]), opening
            for match in self._matches(number, text, rarest):
                yield number, match

    def _likely(self, places: Mapping[str, Sequence[int]]) -> list[tuple[int, list[int]]]:
        """The patterns of which these literals are all that is needed; of most texts none.

        With each come the places of its rarest literals. The finder also finds a literal of its
        own, which no pattern has.
        """
        touched = dict.fromkeys(self._always, 0)
        rarest: dict[int, list[int]] = {number: [] for number in self._always}
        for literal, at in places.items():
            for number, bit in self._sets.get(literal, ()):
                touched[number] = touched.get(number, 0) | bit
                if bit == 1:
                    rarest.setdefault(number, []).extend(at)
        return sorted(
            (number, rarest[number])
            for number, bits in touched.items()
            if bits + 1 == 1 << len(self._required[number].held)
        )

    def _matches(self, number: int, text: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
        """The matches of one pattern, looked for around the *places* of its rarest literals."""
        (pattern, opening), required = self._compiled[number], self._required[number]
        if not required.held or math.isinf(required.longest):
            yield from pattern.finditer(text)
            return
        reach, free = int(required.longest), 0
        for at in sorted(set(places)):
            # What begins later is tried around a later literal; this end cuts no match short.
            for start in (opening or pattern).finditer(text, max(free, at - reach), at + 2 * reach):
                if start.start() > at:
                    break
                match = pattern.match(text, start.start()) if opening else start
                if match and match.start() >= free:
                    yield match
                    free = match.end()
            free = max(free, at + 1)


def _opening(first: Texts) -> re.Pattern[str] | None:
    """What matches one letter where a match may begin; None where that may be anywhere.

    `re` passes over all others at once, which it cannot do for a pattern that begins with an edge.
    """
    if not all(first):
        return None
    by_letter: dict[str, list[str]] = {}
    for text in sorted(first):
        by_letter.setdefault(text[0], []).append(re.escape(text[1:]))
    likely = (f"{re.escape(one)}(?={'|'.join(rest)})" for one, rest in by_letter.items())
    return re.compile("|".join(likely))


def literal_finder(literals: Iterable[str]) -> ahocorasick.Automaton:
    """What finds each of *literals* wherever it stands in a text."""
    finder = ahocorasick.Automaton()
    for literal in (*literals, "\0"):  # an empty one cannot be asked
        finder.add_word(literal, literal)
    finder.make_automaton()
    return finder


def compile_folded(regex: str) -> re.Pattern[str]:
    """*regex* for folded text, where the slower ignoring of case is needed for capitals only."""
    return re.compile(regex, 0 if _is_folded(regex) else re.IGNORECASE)


def _is_folded(regex: str) -> bool:
    letters = re.sub(r"\\.", "", regex)
    return letters == letters.casefold()


@dataclass(frozen=True, slots=True)
class _PatternPart:
    """All that a part of a pattern can be, if that is few texts, else what it holds; its length."""

    texts: Texts = NONE
    held: tuple[Texts, ...] = ()
    longest: float = 1
    first: Texts = NOTHING
    """What it begins with, if `texts` does not tell."""


@dataclass(slots=True)
class _PatternBranch:
    """A branch as far as it is read; `run` are the texts that its last parts can be."""

    run: Texts = NOTHING
    is_whole: bool = True
    """Whether `run` is all of it."""
    held: list[Texts] = field(default_factory=list)
    longest: float = 0
    first: Texts = NOTHING
    """What the branch begins with, once it is more than `run` tells."""

    def take(self, part: _PatternPart) -> None:
        """Read on."""
        self.longest += part.longest
        run = frozenset(a + b for a in self.run for b in part.texts)
        if part.texts and len(run) <= MOST_LITERALS:
            self.run = run
            return
        if self.is_whole:
            following = NONE if all(self.run) else part.texts or part.first
            self.first = (self.run - NOTHING) | following
        self.held += [self.run, *part.held]
        self.run, self.is_whole = part.texts or NOTHING, False

    def end(self) -> _PatternPart:
        """All that was read."""
        told = sorted((one for one in (*self.held, self.run) if all(one)), key=_commonness)
        rare = [one for at, one in enumerate(told) if not at or _commonness(one) < RARE]
        if self.is_whole:
            return _PatternPart(self.run, tuple(rare), self.longest, self.run)
        return _PatternPart(NONE, tuple(rare), self.longest, self.first)


@dataclass(slots=True)
class _OpenPatternGroup:
    """A group that is not closed yet: its branches, the last of them open, and its last part."""

    is_look: bool = False
    branches: list[_PatternPart] = field(default_factory=list)
    branch: _PatternBranch = field(default_factory=_PatternBranch)
    last: _PatternPart | None = None

    def take(self, part: _PatternPart | None) -> None:
        """Read the part before *part*, now that it is known not to be repeated."""
        if self.last:
            self.branch.take(self.last)
        self.last = part

    def end_branch(self) -> None:
        """End a branch, and begin another."""
        self.take(None)
        self.branches.append(self.branch.end())
        self.branch = _PatternBranch()

    def close(self) -> _PatternPart:
        """All branches together."""
        self.end_branch()
        longest = max(branch.longest for branch in self.branches)
        if self.is_look:
            return _PatternPart(NOTHING, longest=longest)
        if len(self.branches) == 1:
            return self.branches[0]
        texts = _together([branch.texts for branch in self.branches])
        held = _together([branch.held[0] if branch.held else NONE for branch in self.branches])
        first = NONE.union(*(branch.first for branch in self.branches))
        return _PatternPart(texts, (held,) if held else (), longest, first)


@lru_cache(maxsize=1024)
def required_literals(regex: str) -> RequiredLiterals:
    r"""What is known of every match of *regex* in folded text.

    >>> required = required_literals(r"\bcall(?:s|ed) (?:\w{1,9} )?(?:mum|dad)\b")
    >>> [sorted(one) for one in required.held], required.longest
    ([['called ', 'calls '], ['dad', 'mum']], 20)
    """
    if not _is_folded(regex):
        return RequiredLiterals()
    groups = [_OpenPatternGroup()]
    for part in _PART.finditer(regex):
        match part.lastgroup:
            case "look" | "open":
                groups[-1].take(None)
                groups.append(_OpenPatternGroup(is_look=part.lastgroup == "look"))
            case "close":
                closed = groups.pop().close()
                groups[-1].take(closed)
            case "branch":
                groups[-1].end_branch()
            case "repeat":
                groups[-1].last = _repeated(groups[-1].last or _PatternPart(), part[0])
            case kind:
                groups[-1].take(_single(kind, part[0], part["letter"]))
    whole = groups[0].close()
    return RequiredLiterals(whole.held, whole.longest, whole.first)


def _single(kind: str | None, written: str, letter: str) -> _PatternPart:
    """One character, an edge or a set."""
    if kind == "edge":
        return _PatternPart(NOTHING, longest=0)
    if kind == "letters":
        return _PatternPart(frozenset(one for one in _ASCII if re.fullmatch(written, one)))
    return _PatternPart(frozenset([letter])) if kind == "letter" else _PatternPart()


def _repeated(part: _PatternPart, repeat: str) -> _PatternPart:
    """*part* as often as *repeat* says."""
    if repeat.startswith("?"):
        return _PatternPart(part.texts | NOTHING if part.texts else NONE, longest=part.longest)
    least, _, most = repeat.rstrip("?+").strip("{}").rpartition(",")
    longest = math.inf if repeat[0] in "*+" or not most else int(most) * part.longest
    is_optional = repeat[0] == "*" or (repeat[0] == "{" and int(least or most or 0) == 0)
    held = (part.texts,) if part.texts and all(part.texts) else part.held
    return _PatternPart(held=() if is_optional else held, longest=longest)


def _together(sets: list[Texts]) -> Texts:
    """All of them, if there is something in each and they are few."""
    joined = NONE.union(*sets)
    return joined if all(sets) and len(joined) <= MOST_LITERALS else NONE


def _commonness(literals: Texts) -> float:
    """At which share of the places of an English text one of them stands, roughly."""
    return sum(map(_frequency, literals))


def _frequency(literal: str) -> float:
    if literal.strip() in STOP_WORDS:
        return COMMON
    return math.prod(
        0.18 if c == " " else 0.06 if c in "etaoinshr" else 0.02 if c.isalpha() else 0.0003
        for c in literal
    )
