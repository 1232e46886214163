"""Many regular expressions, few of which match: only those are tried whose words stand in a text.

Every match of a pattern holds one of some literals, which are read off it. One walk over the text
(Aho and Corasick, 1975) tells which patterns may match at all, and those are tried only around
their literals: `re` by itself tries them at every letter.
"""

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import ahocorasick

from judge.text.english import STOP_WORDS
from judge.text.regex_limits import MAX_BACKTRACKING, parse_regex

MOST_LITERALS = 96
"""Of one part of a pattern; a part that can be more texts than that counts as any text."""

LONGEST_LITERAL = 16
"""Of a longer literal only its first characters are looked for: more of it costs memory alone."""

COMMON = 0.01
"""The share of places where a function word stands."""

Texts = frozenset[str]
NONE: Texts = frozenset()
NOTHING: Texts = frozenset([""])


class RequiredLiterals(NamedTuple):
    """Texts of which every match of a pattern, or of a part of one, holds one; none if unknown.

    With what it looks at before and after, a match is no longer than `longest`.
    """

    held: Texts
    longest: float
    whole: Texts = NONE
    """All that the part can be, if that is few texts."""


class PatternSet:
    """Regular expressions for folded text, known by their places in the order given.

    Each is compiled when it is first tried.
    """

    def __init__(self, regexes: Iterable[str]) -> None:
        self._regexes = tuple(regexes)
        self._compiled: dict[int, re.Pattern[str]] = {}
        self._reach: list[int] = []
        """How long a match is at most; 0 if that or what it holds is unknown."""
        self._holders: dict[str, list[int]] = {}
        for number, regex in enumerate(self._regexes):
            held, longest, _ = required_literals(regex)
            self._reach.append(int(longest) if held and math.isfinite(longest) else 0)
            for literal in {one[:LONGEST_LITERAL] for one in held if self._reach[-1]}:
                self._holders.setdefault(literal, []).append(number)
        self._literals = literal_finder(self._holders)
        self._always = [number for number, reach in enumerate(self._reach) if not reach]

    def matches(self, text: str) -> Iterator[tuple[int, re.Match[str]]]:
        """Every match in *text* with the place of its pattern, as `finditer` of one by one."""
        ends: dict[int, list[int]] = {number: [] for number in self._always}
        for last, literal in self._literals.iter(text):
            # The finder also finds a literal of its own, which no pattern has.
            for number in self._holders.get(literal, ()):
                ends.setdefault(number, []).append(last + 1)
        for number in sorted(ends):
            for match in self._matches(number, text, ends[number]):
                yield number, match

    def _matches(self, number: int, text: str, ends: Sequence[int]) -> Iterator[re.Match[str]]:
        """The matches of one pattern, looked for around where its literals end."""
        if number not in self._compiled:
            self._compiled[number] = compile_folded(self._regexes[number])
        pattern, reach = self._compiled[number], self._reach[number]
        if not reach:
            yield from pattern.finditer(text)
            return
        free, first = 0, ends[0]
        for last, following in itertools.pairwise([*ends, ends[-1] + reach + 1]):
            if following - last <= reach:
                continue  # or each place would be tried for each of the literals around it
            # What begins later is tried around a later literal; none that begins before is cut.
            for match in pattern.finditer(text, max(free, first - reach), last + reach):
                if match.start() >= last:
                    break
                yield match
                free = match.end()
            first = following


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


@lru_cache(maxsize=1024)
def required_literals(regex: str) -> RequiredLiterals:
    r"""What is known of every match of *regex* in folded text.

    >>> required = required_literals(r"\bcall(?:s|ed) (?:\w{1,9} )?(?:mum|dad)\b")
    >>> sorted(required.held), required.longest
    (['called ', 'calls '], 20.0)
    """
    if not _is_folded(regex):
        return RequiredLiterals(NONE, math.inf)
    return _sequence(parse_regex(regex))


def _sequence(parts: Iterable[tuple[object, Any]]) -> RequiredLiterals:
    """What is known of parts that stand one after the other."""
    run, held, longest, is_whole = NOTHING, NONE, 0.0, True
    for kind, argument in parts:
        part = _part(str(kind), argument)
        longest += part.longest
        joined = frozenset(a + b for a in run for b in part.whole)
        if part.whole and len(joined) <= MOST_LITERALS:
            run = joined
        else:
            held = _rarest(held, run, part.held)
            run, is_whole = part.whole or NOTHING, False
    return RequiredLiterals(_rarest(held, run), longest, run if is_whole else NONE)


def _part(kind: str, argument: Any) -> RequiredLiterals:
    """What is known of one part, as the parser names and tells it."""
    match kind:
        case "LITERAL" | "IN":
            texts = _letters(argument) if kind == "IN" else frozenset([chr(argument)])
            part = RequiredLiterals(NONE, 1, texts)
        case "AT":
            part = RequiredLiterals(NONE, 0, NOTHING)
        case "ASSERT" | "ASSERT_NOT":
            part = RequiredLiterals(NONE, _sequence(argument[1]).longest, NOTHING)
        case "SUBPATTERN":
            part = _sequence(argument[-1])
        case "BRANCH":
            part = _either([_sequence(branch) for branch in argument[1]])
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            part = _repeated(*argument)
        case "ATOMIC_GROUP":
            part = _sequence(argument)
        case _:
            part = RequiredLiterals(NONE, 1)
    return part


def _either(branches: Sequence[RequiredLiterals]) -> RequiredLiterals:
    """What is known of a part that is one of these."""
    held = _together([branch.held for branch in branches])
    longest = max(branch.longest for branch in branches)
    return RequiredLiterals(held, longest, _together([branch.whole for branch in branches]))


def _letters(argument: Iterable[tuple[object, Any]]) -> Texts:
    """The characters of a set, if they are few."""
    codes: set[int] = set()
    for kind, value in argument:
        if str(kind) not in {"LITERAL", "RANGE"}:
            return NONE
        first, last = value if str(kind) == "RANGE" else (value, value)
        codes.update(range(first, min(last, first + MOST_LITERALS) + 1))
    return frozenset(map(chr, codes)) if len(codes) <= MOST_LITERALS else NONE


def _repeated(least: int, most: int, parts: Iterable[tuple[object, Any]]) -> RequiredLiterals:
    """What is known of *parts* as often as from *least* to *most* times."""
    part = _sequence(parts)
    longest = math.inf if most > MAX_BACKTRACKING else most * part.longest
    is_optional = (least, most) == (0, 1) and part.whole
    whole = part.whole | NOTHING if is_optional else NONE
    return RequiredLiterals(part.held if least else NONE, longest, whole)


def _together(sets: Sequence[Texts]) -> Texts:
    """All of them, if there is something in each and they are few."""
    joined = NONE.union(*sets)
    return joined if all(sets) and len(joined) <= MOST_LITERALS else NONE


def _rarest(*sets: Texts) -> Texts:
    """Of those that tell something the one that stands in the fewest texts."""
    return min((one for one in sets if one and all(one)), key=_commonness, default=NONE)


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
