"""Matches many regular expressions at once, trying only those whose literals occur in the text.

Every match of a pattern contains one of a set of literals, which is derived from the pattern. One
pass over the text (Aho and Corasick, 1975) finds the literals, and patterns are tried only around
theirs: `re` by itself tries each one at every letter.
"""

import itertools
import math
import re
import string
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import ahocorasick

from judge.text.english import STOP_WORDS
from judge.text.regex_limits import MAX_BACKTRACKING, parse_regex

MAX_LITERALS = 96
"""Of one part of a pattern; a part that can match more texts counts as matching any."""

MAX_LITERAL_LENGTH = 16
"""Characters of a literal that are searched for; more would only cost memory."""

STOP_WORD_FREQUENCY = 0.01
"""The share of positions in a text at which a given stop word begins."""

_LETTER_FREQUENCIES = (
    dict.fromkeys(string.ascii_lowercase, 0.02) | dict.fromkeys("etaoinshr", 0.06) | {" ": 0.18}
)

Texts = frozenset[str]
NONE: Texts = frozenset()
EMPTY_TEXT: Texts = frozenset([""])


class RequiredLiterals(NamedTuple):
    """What is known of every match of a pattern, or of a part of one."""

    literals: Texts
    """Each match contains one of these; empty if unknown."""
    max_length: float
    """The most characters of a match, its lookahead and lookbehind included."""
    exact: Texts = NONE
    """All texts that it can match, if they are few; else empty."""


class PatternSet:
    """Regular expressions for folded text, numbered in the order given; compiled at first use."""

    def __init__(self, regexes: Iterable[str]) -> None:
        self._regexes = tuple(regexes)
        self._compiled: dict[int, re.Pattern[str]] = {}
        self._max_lengths: list[int] = []
        """The most characters of a match; 0 if that or the required literals are unknown."""
        self._by_literal: dict[str, list[int]] = {}
        for number, regex in enumerate(self._regexes):
            literals, length, _ = required_literals(regex)
            self._max_lengths.append(int(length) if literals and math.isfinite(length) else 0)
            for literal in {
                text[:MAX_LITERAL_LENGTH] for text in literals if self._max_lengths[-1]
            }:
                self._by_literal.setdefault(literal, []).append(number)
        self._finder = literal_finder(self._by_literal)
        self._always = [number for number, length in enumerate(self._max_lengths) if not length]

    def matches(self, text: str) -> Iterator[tuple[int, re.Match[str]]]:
        """Every match in *text* with the number of its pattern, as `finditer` would find it."""
        ends: dict[int, list[int]] = {number: [] for number in self._always}
        for last, literal in self._finder.iter(text):
            # The finder has a literal of its own, which belongs to no pattern.
            for number in self._by_literal.get(literal, ()):
                ends.setdefault(number, []).append(last + 1)
        for number in sorted(ends):
            for match in self._matches(number, text, ends[number]):
                yield number, match

    def _matches(self, number: int, text: str, ends: Sequence[int]) -> Iterator[re.Match[str]]:
        """The matches of one pattern, tried only around the *ends* of its literals."""
        if number not in self._compiled:
            self._compiled[number] = compile_folded(self._regexes[number])
        pattern, length = self._compiled[number], self._max_lengths[number]
        if not length:
            yield from pattern.finditer(text)
            return
        free, first = 0, ends[0]
        for last, following in itertools.pairwise([*ends, ends[-1] + length + 1]):
            if following - last <= length:
                continue  # search around neighbouring literals once, not once for each
            # A match that begins after the last literal is found around a later one.
            for match in pattern.finditer(text, max(free, first - length), last + length):
                if match.start() >= last:
                    break
                yield match
                free = match.end()
            first = following


def literal_finder(literals: Iterable[str]) -> ahocorasick.Automaton:
    """An automaton that finds every occurrence of any of *literals*."""
    finder = ahocorasick.Automaton()
    for literal in (*literals, "\0"):  # an automaton without words cannot be searched
        finder.add_word(literal, literal)
    finder.make_automaton()
    return finder


def compile_folded(regex: str) -> re.Pattern[str]:
    """*regex* compiled for folded text; ignores case, which is slower, only if it has capitals."""
    return re.compile(regex, 0 if _is_folded(regex) else re.IGNORECASE)


def _is_folded(regex: str) -> bool:
    letters = re.sub(r"\\.", "", regex)
    return letters == letters.casefold()


@lru_cache(maxsize=1024)
def required_literals(regex: str) -> RequiredLiterals:
    r"""What is known of every match of *regex* in folded text.

    >>> required = required_literals(r"\bcall(?:s|ed) (?:\w{1,9} )?(?:mum|dad)\b")
    >>> sorted(required.literals), required.max_length
    (['called ', 'calls '], 20.0)
    """
    if not _is_folded(regex):
        return RequiredLiterals(NONE, math.inf)
    return _sequence(parse_regex(regex))


def _sequence(parts: Iterable[tuple[object, Any]]) -> RequiredLiterals:
    """What is known of *parts* in sequence."""
    run, literals, length, is_exact = EMPTY_TEXT, NONE, 0.0, True
    for kind, argument in parts:
        part = _part(str(kind), argument)
        length += part.max_length
        joined = frozenset([a + b for a in run for b in part.exact])
        if part.exact and len(joined) <= MAX_LITERALS:
            run = joined
        else:
            literals = _rarest(literals, run, part.literals)
            run, is_exact = part.exact or EMPTY_TEXT, False
    return RequiredLiterals(_rarest(literals, run), length, run if is_exact else NONE)


def _part(kind: str, argument: Any) -> RequiredLiterals:
    """What is known of one part, given as `re`'s parser returns it."""
    match kind:
        case "LITERAL":
            part = _literal(argument)
        case "IN":
            part = RequiredLiterals(NONE, 1, _characters(argument))
        case "AT":
            part = RequiredLiterals(NONE, 0, EMPTY_TEXT)
        case "ASSERT" | "ASSERT_NOT":
            part = RequiredLiterals(NONE, _sequence(argument[1]).max_length, EMPTY_TEXT)
        case "SUBPATTERN":
            part = _sequence(argument[-1])
        case "BRANCH":
            part = _alternation([_sequence(branch) for branch in argument[1]])
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            part = _repeated(*argument)
        case "ATOMIC_GROUP":
            part = _sequence(argument)
        case _:
            part = RequiredLiterals(NONE, 1)
    return part


@lru_cache(maxsize=1024)
def _literal(code: int) -> RequiredLiterals:
    return RequiredLiterals(NONE, 1, frozenset([chr(code)]))


def _alternation(branches: Sequence[RequiredLiterals]) -> RequiredLiterals:
    """What is known of an alternation of *branches*."""
    literals = _union([branch.literals for branch in branches])
    length = max(branch.max_length for branch in branches)
    return RequiredLiterals(literals, length, _union([branch.exact for branch in branches]))


def _characters(argument: Iterable[tuple[object, Any]]) -> Texts:
    """The characters of a character class, if they are few; else none."""
    codes: set[int] = set()
    for kind, value in argument:
        if str(kind) not in {"LITERAL", "RANGE"}:
            return NONE
        first, last = value if str(kind) == "RANGE" else (value, value)
        codes.update(range(first, min(last, first + MAX_LITERALS) + 1))
    return frozenset(map(chr, codes)) if len(codes) <= MAX_LITERALS else NONE


def _repeated(low: int, high: int, parts: Iterable[tuple[object, Any]]) -> RequiredLiterals:
    """What is known of *parts* repeated from *low* to *high* times."""
    part = _sequence(parts)
    length = math.inf if high > MAX_BACKTRACKING else high * part.max_length
    is_optional = (low, high) == (0, 1) and part.exact
    exact = part.exact | EMPTY_TEXT if is_optional else NONE
    return RequiredLiterals(part.literals if low else NONE, length, exact)


def _union(sets: Sequence[Texts]) -> Texts:
    """The union of *sets*; none if one of them is empty or the union is too large."""
    joined = NONE.union(*sets)
    return joined if all(sets) and len(joined) <= MAX_LITERALS else NONE


def _rarest(*sets: Texts) -> Texts:
    """The set whose texts are rarest in English, of those without an empty text."""
    candidates = [texts for texts in sets if texts and all(texts)]
    if len(candidates) > 1:  # seldom; weighing them takes long
        return min(candidates, key=_total_frequency)
    return candidates[0] if candidates else NONE


def _total_frequency(literals: Texts) -> float:
    """About the share of positions in an English text at which one of *literals* begins."""
    return sum(map(_frequency, literals))


def _frequency(literal: str) -> float:
    if literal.strip() in STOP_WORDS:
        return STOP_WORD_FREQUENCY
    return math.prod([_LETTER_FREQUENCIES.get(character, 0.0003) for character in literal])
