"""Finds many phrases or regular expressions in a text.

A regular expression of a sources file is matched under a time limit: none, whoever wrote it, holds
up the event loop. Most are not tried at all: the first letters of the words that a pattern cannot
match without are looked up among those of the text.
"""

import functools
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
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


_BEGINNINGS = re.compile(r"(?<![a-z])[a-z]{3}")
_ITEM = re.compile(
    r"(\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?<?[=!]|\(\?:|\(\?|\(|.)([?*]|\{0?,?\d*,?\d*\}|\+)?",
    re.DOTALL,
)
"""An item of a regular expression, or the bracket that opens or closes a group; its quantifier."""

_Needed = frozenset[str] | None


def _needed(items: Iterator[re.Match[str]], *, is_word: bool = False) -> tuple[_Needed, bool]:
    """What a word of any text begins with that matches *items*, to the end of their group.

    Three letters each; None where it cannot be told. *is_word* says that a word may begin here. The
    second value tells whether the group may be left out.
    """
    branches: list[_Needed] = []
    best: _Needed = None
    letters, starts, may_miss = "", is_word, False
    for match in items:
        item, may_miss = match[1], (match[2] or "")[:1] in {"?", "*", "{"}
        if item == ")":
            break
        if item == "|":
            branches.append(best)
            best, letters, starts = None, "", is_word
        elif item.startswith("("):
            inner, is_optional = _needed(items, is_word=starts)
            if inner and item == "(?:" and not is_optional:
                best = min(best or inner, inner, key=len)
            letters, starts = "", False
        elif starts and item.isalpha() and not may_miss:
            letters += item
            if len(letters) == 3:
                best, starts = frozenset([letters]), False
        else:
            letters, starts = "", item in {"\\b", " "} and not may_miss
    branches.append(best)
    return (frozenset().union(*branches) if all(branches) else None), may_miss  # type: ignore[arg-type]


@functools.lru_cache(maxsize=4096)
def _needed_by(pattern: str) -> frozenset[str]:
    """What one word at least of a text that matches begins with; nothing if it cannot be told."""
    return _needed(_ITEM.finditer(pattern.lower()))[0] or frozenset()


class PatternSet:
    """Numbered regular expressions that ignore case, compiled when a text may match first."""

    def __init__(self, regexes: Iterable[str]) -> None:
        self._patterns = [(pattern, _needed_by(pattern)) for pattern in regexes]

    def compile(self) -> None:
        """Compile all at once, which takes some milliseconds for each."""
        for pattern, _ in self._patterns:
            _compiled(pattern)

    def matches(self, text: str) -> Iterator[tuple[int, regex.Match[str]]]:
        """Every match in *text* with the number of its pattern, as `finditer` finds it."""
        beginnings = set(_BEGINNINGS.findall(text.lower()))
        for number, (pattern, needed) in enumerate(self._patterns):
            if needed and needed.isdisjoint(beginnings):
                continue
            try:
                for match in _compiled(pattern).finditer(text, timeout=TIME_LIMIT_S):
                    yield number, match
            except TimeoutError:
                continue


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
