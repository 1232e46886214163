"""Finds many phrases or regular expressions in a text at once.

Phrases stand in a trie of words. Of regular expressions one pass of RE2 over a text says which may
match, and only those are tried, under a time limit, so that no pattern holds up the event loop.
"""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Generic, TypeVar

import re2
import regex  # type: ignore[import-untyped]

TIME_LIMIT_S = 0.1
"""Of one pattern on one text; a pattern that needs longer is taken not to match."""

_MAX_MEMORY = 32 << 20
"""Bytes that RE2 may use for the states of one set; ours need a fifth of that."""

_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_UNBOUNDED = re.compile(r"(?<! )[*+]|\{\d+,\}")
_SPACES = re.compile(r"\\s[*+]")

_LOOKS_AROUND = ("(?=", "(?!", "(?<=", "(?<!")
_WIDER = {r"\b": "", r"\B": "", r"\w": r"[\w\x{80}-\x{10FFFF}]", r"\d": r"[\d\x{80}-\x{10FFFF}]"}
"""What RE2, whose classes are ASCII, reads instead: it then finds all that we find, and more."""


def checked_regex(value: str) -> str:
    """*value*, if it compiles, never matches the empty text, and has no unbounded repeats.

    Raises ValueError that says what is wrong and what to write instead.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # "possible nested set" is a typing error
            matches_empty = re.compile(value).search("") is not None
            regex.compile(value)
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


class PatternSet:
    """Regular expressions for folded text, numbered in the order given; they ignore case."""

    def __init__(self, regexes: Iterable[str]) -> None:
        self._regexes = tuple(regexes)
        self._compiled: dict[int, regex.Pattern[str]] = {}
        self._numbers: list[int] = []
        """The number of each pattern of the set of RE2."""
        self._always: list[int] = []
        """Those that RE2 does not understand."""
        self._set = re2.Set.SearchSet(_options())
        for number, pattern in enumerate(self._regexes):
            try:
                self._set.Add(_for_re2(pattern))
            except re2.error:
                self._always.append(number)
            else:
                self._numbers.append(number)
        try:
            self._set.Compile()
        except re2.error:  # too large a set
            self._numbers, self._always = [], [*range(len(self._regexes))]

    def matches(self, text: str) -> Iterator[tuple[int, regex.Match[str]]]:
        """Every match in *text* with the number of its pattern, as `finditer` finds it."""
        found = (self._numbers and self._set.Match(text)) or ()
        for number in sorted([*self._always, *(self._numbers[place] for place in found)]):
            try:
                for match in self._pattern(number).finditer(text, timeout=TIME_LIMIT_S):
                    yield number, match
            except TimeoutError:
                continue

    def _pattern(self, number: int) -> regex.Pattern[str]:
        """The pattern of that *number*; compiled at first use, since most never match."""
        if number not in self._compiled:
            self._compiled[number] = regex.compile(self._regexes[number], regex.IGNORECASE)
        return self._compiled[number]


def _options() -> re2.Options:
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    return options


def _for_re2(pattern: str) -> str:
    """*pattern* without what RE2 lacks or reads otherwise: it matches no fewer texts."""
    pieces: list[str] = []
    at = 0
    while at < len(pattern):
        token = _CLASS.match(pattern, at)
        if token:
            pieces.append(_WIDER.get(token[0]) or _wider_class(token[0]))
            at = token.end()
        elif pattern.startswith(_LOOKS_AROUND, at):
            at = _end_of_group(pattern, at)
        else:
            pieces.append(pattern[at])
            at += 1
    return "".join(pieces)


def _wider_class(token: str) -> str:
    r"""*token* as RE2 reads it; a class with `\w` or `\d` gets all letters outside ASCII."""
    if token in _WIDER:
        return ""
    is_wide = token[0] == "[" and token[1] != "^" and ("\\w" in token or "\\d" in token)
    return f"{token[:-1]}\\x{{80}}-\\x{{10FFFF}}]" if is_wide else token


def _end_of_group(pattern: str, start: int) -> int:
    """The offset after the group that begins at *start*."""
    depth, at = 0, start
    while at < len(pattern):
        token = _CLASS.match(pattern, at)
        depth += 0 if token else (pattern[at] == "(") - (pattern[at] == ")")
        at = token.end() if token else at + 1
        if depth == 0:
            break
    return at


T = TypeVar("T")

FoundPhrases = list[tuple[int, list[tuple[int, T]]]]
"""The index of each word where phrases begin, with the number of words and value of each."""


@dataclass(slots=True)
class _Node(Generic[T]):
    """The state after some words: the phrases that end here, and the next words."""

    values: list[T] = field(default_factory=list)
    longer: dict[str, "_Node[T]"] = field(default_factory=dict)


class Phrases(Generic[T]):
    """Phrases of one word or more, each with a value; equal phrases keep all their values.

    *form* normalises a word of a text to the form that the words of phrases have.
    """

    def __init__(
        self, phrases: Iterable[tuple[Sequence[str], T]], form: Callable[[str], str] = str
    ) -> None:
        self.form = form
        self._root = _Node[T]()
        self._look_up = lru_cache(maxsize=8192)(self._formed)
        for words, value in phrases:
            node = self._root
            for word in words:
                node = node.longer.setdefault(word, _Node())
            node.values.append(value)

    def _formed(self, word: str) -> tuple[str, _Node[T] | None]:
        """The form of *word*, and the node that it leads to from the root."""
        form = self.form(word)
        return form, self._root.longer.get(form)

    def find(self, words: Sequence[str]) -> FoundPhrases[T]:
        """Where phrases begin in *words*, and which; shorter ones first, then as given."""
        formed = [*map(self._look_up, words)]
        found: FoundPhrases[T] = []
        for start, (_, first) in enumerate(formed):
            phrases: list[tuple[int, T]] = []
            node, end = first, start
            while node:
                end += 1
                if node.values:
                    phrases += [(end - start, value) for value in node.values]
                node = node.longer.get(formed[end][0]) if end < len(formed) else None
            if phrases:
                found.append((start, phrases))
        return found
