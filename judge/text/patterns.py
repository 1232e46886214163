"""Finds many phrases or regular expressions in a text.

A regular expression of a sources file is matched under a time limit: none, whoever wrote it, holds
up the event loop. Most are not tried at all: what the words begin with that a pattern cannot match
without is looked up among the words of each sentence.
"""

import functools
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import and_, itemgetter, or_
from typing import Generic, TypeVar

import regex  # type: ignore[import-untyped]

TIME_LIMIT_S = 0.1
"""Of one pattern on one text; a pattern that needs longer is taken not to match."""

_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_UNBOUNDED = re.compile(r"(?<! )[*+]|\{\d+,\}")
_SPACES = re.compile(r"\\s[*+]")


def checked_regex(value: str) -> str:
    """*value*, if it compiles, needs some text and is bounded; else raises ValueError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # "possible nested set" is a typing error
            matches_empty = re.compile(value).search("") is not None
            _compiled(value)
    except (re.error, regex.error, OverflowError, RecursionError, Warning) as error:
        raise ValueError(f"is no regular expression: {error}") from None
    if any(character < " " for character in value):
        raise ValueError(
            "holds a control character, as \\b is in double quotation marks; write \\\\b, or use "
            "'single' ones"
        )
    if matches_empty:
        raise ValueError("matches the empty text; make at least one part of it required")
    if _UNBOUNDED.search(_CLASS.sub("x", _SPACES.sub("x", value))):
        raise ValueError("could be slow on some texts: instead of * and + use {0,9} or {1,9}")
    return value


@functools.lru_cache(maxsize=4096)
def _compiled(pattern: str) -> regex.Pattern[str]:
    """Cached: compiling takes some milliseconds, and a sources file is read again and again."""
    return regex.compile(pattern, regex.IGNORECASE)


_WORD = re.compile(r"[^\W\d_]+")
_SENTENCE = re.compile(r"[^.!?]*[.!?]*")
_ITEM = re.compile(
    r"(\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?<?[=!]|\(\?:|\(\?|\(|.)([?*]|\{0?,?\d*,?\d*\}|\+)?",
    re.DOTALL,
)
"""An item of a regular expression, or the bracket that opens or closes a group; its quantifier."""

SETS = 3
"""Of a pattern, the words looked up; more of them rule out little more."""

_Needed = list[frozenset[str]]


def _needed(items: Iterator[re.Match[str]], *, is_word: bool = False) -> tuple[_Needed, bool]:
    """What words begin with in any text that matches *items*, to the end of their group.

    Of each set some word begins with one. *is_word* says that a word may begin here. The second
    value tells whether the group may be left out.
    """
    branches: list[_Needed] = [[]]
    letters, starts, may_miss = "", is_word, False
    for match in items:
        item, may_miss = match[1], (match[2] or "")[:1] in {"?", "*", "{"}
        if starts and item.isalpha() and not may_miss:
            letters += item
            continue
        if len(letters) > 1:
            branches[-1].append(frozenset([letters]))
        starts, letters = starts and not letters, ""
        if item == ")":
            break
        if item == "|":
            branches.append([])
            starts = is_word
        elif item.startswith("("):
            inner, is_optional = _needed(items, is_word=starts)
            branches[-1] += inner if item == "(?:" and not is_optional else []
            starts = False
        else:
            starts = item in {"\\b", " "} and not may_miss
    if len(letters) > 1:
        branches[-1].append(frozenset([letters]))
    if len(branches) == 1:
        return branches[0], may_miss
    best = [max(branch, key=_rarity, default=frozenset()) for branch in branches]
    return ([frozenset().union(*best)] if all(best) else []), may_miss


def _rarity(beginnings: frozenset[str]) -> int:
    """The letters of the shortest: the more, the fewer texts have one."""
    return min(map(len, beginnings))


@functools.lru_cache(maxsize=4096)
def _needed_by(pattern: str) -> tuple[frozenset[str], ...]:
    """What one word each of a text that matches begins with, the rarest first."""
    needed = _needed(_ITEM.finditer(pattern.lower()))[0]
    return tuple(sorted(needed, key=_rarity, reverse=True)[:SETS])


def _is_crossing(pattern: str) -> bool:
    """Whether a match of *pattern* may hold the end of a sentence; or nothing is known of it."""
    items = [match[1] for match in _ITEM.finditer(pattern)]
    wide = [item for item in items if len(item) == 1 or item[0] in "\\["]
    ends = (e for item in wide for e in ".!?" if item not in "()|^$" and regex.match(item, e))
    return not _needed_by(pattern) or any(ends)


def _bits(number: int) -> Iterator[int]:
    """The places of the ones in *number*, in ascending order."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


class PatternSet:
    """Numbered regular expressions that ignore case, compiled when a text may match first."""

    def __init__(self, regexes: Iterable[str]) -> None:
        self._patterns = [*regexes]
        self._crossing = sum(1 << n for n, one in enumerate(self._patterns) if _is_crossing(one))
        """The patterns, as bits of a number, that are tried on the whole text."""
        self._unneeded = [0] * SETS
        """The patterns without a set at each place of `_needed_by`."""
        self._by_beginning: dict[str, list[int]] = {}
        """The patterns whose set at each place has this beginning of a word."""
        for number, pattern in enumerate(self._patterns):
            needed = _needed_by(pattern)
            for place in range(SETS):
                for beginning in needed[place] if place < len(needed) else ():
                    self._by_beginning.setdefault(beginning, [0] * SETS)[place] |= 1 << number
                if place >= len(needed):
                    self._unneeded[place] |= 1 << number

    def compile(self) -> None:
        """Compile all at once, which takes some milliseconds for each."""
        for pattern in self._patterns:
            _compiled(pattern)

    def matches(self, text: str) -> Iterator[tuple[int, regex.Match[str]]]:
        """Every match in *text* with the number of its pattern, as `finditer` finds it."""
        found: list[tuple[int, regex.Match[str]]] = []
        slow: set[int] = set()
        for start, end, candidates in self._candidates(text):
            for number in (n for n in _bits(candidates) if n not in slow):
                pattern = _compiled(self._patterns[number])
                try:
                    matches = pattern.finditer(text, start, end, timeout=TIME_LIMIT_S)
                    found += ((number, match) for match in matches)
                except TimeoutError:
                    slow.add(number)
        yield from sorted(found, key=itemgetter(0))

    def _candidates(self, text: str) -> Iterator[tuple[int, int, int]]:
        """The start and end of the text and of each sentence, and the patterns to try there."""
        lowered = text.lower()
        words = {word: self._patterns_of(word) for word in {*_WORD.findall(lowered)}}
        all_places = [*self._unneeded]
        for sentence in _SENTENCE.finditer(lowered):
            places = [*self._unneeded]
            for word in _WORD.findall(sentence[0]):
                for place, patterns in words[word]:
                    places[place] |= patterns
            yield *sentence.span(), functools.reduce(and_, places) & ~self._crossing
            all_places = [*map(or_, all_places, places)]
        yield 0, len(text), functools.reduce(and_, all_places) & self._crossing

    def _patterns_of(self, word: str) -> list[tuple[int, int]]:
        """Each place with the patterns whose set there has a beginning of *word*."""
        beginnings = (word[:length] for length in range(2, len(word) + 1))
        known = [self._by_beginning[one] for one in beginnings if one in self._by_beginning]
        merged = (functools.reduce(or_, patterns) for patterns in zip(*known, strict=True))
        return [(place, patterns) for place, patterns in enumerate(merged) if patterns]


T = TypeVar("T")


class Phrases(Generic[T]):
    """Phrases of words in the *form* to which those of a text are brought, each with its values."""

    def __init__(
        self, phrases: Iterable[tuple[Sequence[str], T]], form: Callable[[str], str] = str
    ) -> None:
        self.form = form
        self._values: dict[tuple[str, ...], list[T]] = {}
        for words, value in phrases:
            self._values.setdefault(tuple(words), []).append(value)
        lengths: dict[str, set[int]] = {}
        for words in self._values:
            lengths.setdefault(words[0], set()).add(len(words))
        self._lengths = {first: sorted(found) for first, found in lengths.items()}

    def find(self, words: Sequence[str]) -> Iterator[tuple[int, list[tuple[int, T]]]]:
        """The index of each word where phrases begin, with the length and value of each of them.

        Shorter ones come first, then as given.
        """
        formed = [*map(self.form, words)]
        for start, first in enumerate(formed):
            phrases = [
                (length, value)
                for length in self._lengths.get(first, ())
                if start + length <= len(formed)
                for value in self._values.get(tuple(formed[start : start + length]), ())
            ]
            if phrases:
                yield start, phrases
