"""Finds many phrases or regular expressions in a text.

A regular expression of a sources file is matched under a time limit: none, whoever wrote it, holds
up the event loop. Most are not tried at all: what the words begin with that a pattern cannot match
without is looked up among the words of each sentence.
"""

import functools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

import regex  # type: ignore[import-untyped]

from judge.text.english import STOP_WORDS

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

_GAPS = {"\\b", " ", "\\ ", "-", "\\-", "[- ]", "'", "\\W", "\\s"}
"""Items after which a word may begin."""

_COMMON = Counter(word[:end] for word in STOP_WORDS for end in range(2, len(word) + 1))
"""How many of the most common words begin with it."""

_Needed = list[frozenset[str]]


def _needed(items: Iterator[re.Match[str]], *, is_word: bool = False) -> tuple[_Needed, bool, bool]:
    """What words begin with in any text that matches *items*, to the end of their group.

    Of each set some word begins with one. *is_word* says that a word may begin here. The other
    values tell whether the group may be left out, and whether a word may begin after it.
    """
    branches: list[_Needed] = [[]]
    letters, starts, may_miss = "", is_word, False
    may_follow = True
    for match in items:
        item, may_miss = match[1], (match[2] or "")[:1] in {"?", "*", "{"}
        if starts and item.isalpha() and not may_miss:
            letters += item.lower()
            continue
        if len(letters) > 1:
            branches[-1].append(frozenset([letters]))
        starts, letters = starts and not letters, ""
        if item in {"|", ")"}:
            may_follow &= starts
            if item == ")":
                break
            branches.append([])
            starts = is_word
        elif item.startswith("("):
            inner, is_optional, follows = _needed(items, is_word=starts)
            branches[-1] += inner if item == "(?:" and not is_optional else []
            starts = item == "(?:" and follows and (starts or not is_optional)
        else:
            starts = item in _GAPS and not may_miss
    if len(letters) > 1:
        branches[-1].append(frozenset([letters]))
    if len(branches) == 1:
        return branches[0], may_miss, may_follow
    best = [min(branch, key=_frequency, default=frozenset()) for branch in branches]
    return ([frozenset().union(*best)] if all(best) else []), may_miss, may_follow


def _frequency(beginnings: frozenset[str]) -> float:
    """How many texts may have a word with one of *beginnings*, for comparison."""
    return sum(_COMMON[one] + 0.2 ** len(one) for one in beginnings)


@functools.lru_cache(maxsize=4096)
def _needed_by(pattern: str) -> tuple[frozenset[str], ...]:
    """What one word each of a text that matches begins with, the rarest first."""
    needed = _needed(_ITEM.finditer(pattern))[0]
    return tuple(sorted(needed, key=_frequency)[:3])  # more rule out little more


def _is_crossing(pattern: str) -> bool:
    """Whether a match of *pattern* may hold the end of a sentence; or nothing is known of it."""
    items = {match[1] for match in _ITEM.finditer(pattern)}
    return not _needed_by(pattern) or any(map(_matches_end, items))


@functools.lru_cache(maxsize=1024)
def _matches_end(item: str) -> bool:
    """Whether *item* of a pattern, a character or a class, matches an end of a sentence."""
    is_wide = item[0] in "\\[" or (len(item) == 1 and item not in "()|^$")
    return is_wide and any(regex.match(item, end) for end in ".!?")


class PatternSet:
    """Numbered regular expressions that ignore case, compiled when a text may match first."""

    def __init__(self, regexes: Iterable[str]) -> None:
        self._patterns = [*regexes]
        self._crossing = {n for n, one in enumerate(self._patterns) if _is_crossing(one)}
        """The patterns that are tried on the whole text."""
        self._by_beginning: dict[str, list[tuple[int, int]]] = {}
        """The patterns, and which of their sets, that have this beginning of a word."""
        for number, pattern in enumerate(self._patterns):
            for place, beginnings in enumerate(_needed_by(pattern)):
                for beginning in beginnings:
                    self._by_beginning.setdefault(beginning, []).append((number, place))

    def compile(self) -> None:
        """Compile all at once, which takes some milliseconds for each."""
        for pattern in self._patterns:
            _compiled(pattern)

    def matches(self, text: str) -> Iterator[tuple[int, regex.Match[str]]]:
        """Every match in *text* with the number of its pattern, as `finditer` finds it."""
        for number, spans in self._candidates(text):
            pattern = _compiled(self._patterns[number])
            with suppress(TimeoutError):
                for start, end in spans:
                    for match in pattern.finditer(text, start, end, timeout=TIME_LIMIT_S):
                        yield number, match

    def _candidates(self, text: str) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """The patterns to try, in their order, and the start and end of each piece to try."""
        lowered = text.lower()
        sentences: list[tuple[int, int]] = []
        holders: dict[str, set[int]] = {}
        for number, sentence in enumerate(_SENTENCE.finditer(lowered)):
            sentences.append(sentence.span())
            for word in _WORD.findall(sentence[0]):
                holders.setdefault(word, set()).add(number)
        found: dict[int, dict[int, set[int]]] = {}
        """By pattern and set, the sentences that have a word of it."""
        for word, numbers in holders.items():
            for length in range(2, len(word) + 1):
                for one, place in self._by_beginning.get(word[:length], ()):
                    found.setdefault(one, {}).setdefault(place, set()).update(numbers)
        for number, pattern in enumerate(self._patterns):
            places = found.get(number, {})
            if len(places) < len(_needed_by(pattern)):
                continue
            if number in self._crossing:
                yield number, [(0, len(text))]
            elif shared := set.intersection(*places.values()):
                yield number, [sentences[one] for one in sorted(shared)]


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
        for start in (n for n, word in enumerate(formed) if word in self._lengths):
            phrases = [
                (length, value)
                for length in self._lengths[formed[start]]
                if start + length <= len(formed)
                for value in self._values.get(tuple(formed[start : start + length]), ())
            ]
            if phrases:
                yield start, phrases
