"""Finds many phrases or regular expressions in a text.

A regular expression of a sources file is matched under a time limit: none, whoever wrote it, holds
up the event loop. Most are not tried at all, since RE2 tells in one pass over the text which may
match (https://swtch.com/~rsc/regexp/regexp3.html).
"""

import functools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby, product
from typing import Any, Generic, TypeVar

import re2
import regex  # type: ignore[import-untyped]

TIME_LIMIT_S = 0.1
"""Of one pattern on one text; a pattern that needs longer is taken not to match."""

_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_UNBOUNDED = re.compile(r"(?<! )[*+]|\{\d+,\}")
_SPACES = re.compile(r"\\s[*+]")
_WORD, _DIGIT = regex.compile(r"\w"), regex.compile(r"\d")


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


_RULE = r"(?(DEFINE)(?P<item>\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?&item)*+\)|[^()\\\[]))"
_ITEM = regex.compile(rf"(?&item)(?:[?*+]|\{{\d*,?\d*\}})*{_RULE}", regex.DOTALL)
_ASSERTION = regex.compile(rf"\(\?<?[=!](?&item)*+\){_RULE}", regex.DOTALL)
"""What a pattern wants before or after a match, which RE2 knows nothing of."""

_GAP = re.compile(r"(?:\.|\[\^|\\[WSD]).*[*+}]")
"""An item that matches nearly any text: for RE2 each length of it is a state."""

_FOREIGN = re.compile(r"[^\x00-\x7f]")
_STAND_INS = (("é", "q"), ("٣", "0"))
"""A letter and a digit of another script, and what RE2, which knows none, is given for all such."""

_CASE_FOLDED = {"\u0130": "i", "\u017f": "s", "\u212a": "k"}
"""All that a letter of ASCII matches beside itself where case is ignored."""

BATCH = 64
"""Patterns that RE2 looks for at once: with more, nearly every text takes a way of its own through
the automaton, which is built as texts need it."""

MEMORY = 8 << 20
"""Bytes that RE2 may take for each; beyond, it forgets what it built."""


def _options() -> re2.Options:
    options = re2.Options()
    options.case_sensitive, options.log_errors, options.never_capture = False, False, True
    options.max_mem = MEMORY
    return options


def _stand_in(found: re.Match[str]) -> str:
    """What stands for a character in a text for RE2."""
    character = found[0]
    if character in _CASE_FOLDED or not _WORD.match(character):
        return _CASE_FOLDED.get(character, character)
    return "0" if _DIGIT.match(character) else "q"


def _for_re2(pattern: str) -> str | None:
    """A pattern with which RE2 matches any text with a match of *pattern*; None if unknown."""
    re2_form = _ASSERTION.sub("(?:)", pattern).replace("{,", "{0,")
    negated = [one for one in _CLASS.findall(re2_form) if one.startswith("[^")]
    is_told_apart = any(
        regex.match(one, foreign) and not regex.match(one, stand_in, regex.IGNORECASE)
        for one, (foreign, stand_in) in product(negated, _STAND_INS)
    )
    is_foreign = r"\x" in re2_form or any(map(_WORD.match, _FOREIGN.findall(re2_form)))
    return None if is_told_apart or is_foreign else re2_form


def _parts(re2_form: str) -> list[str]:
    """The parts between the gaps of a pattern for RE2; any text that it matches has all of them."""
    items = [item[0] for item in _ITEM.finditer(re2_form)]
    if "|" in items:
        return [re2_form]
    runs = groupby(items, key=lambda item: bool(_GAP.match(item)))
    return ["".join(run) for is_gap, run in runs if not is_gap]


@functools.lru_cache(maxsize=4096)
def _quick(re2_form: str) -> Any:
    """Cached like `_compiled`; None for what is too large."""
    try:
        return re2.compile(re2_form, _options())
    except re2.error:
        return None


class _Batch:
    """Some patterns for RE2; one pass over a text tells which of them it may match."""

    def __init__(self, re2_form: Sequence[str | None]) -> None:
        self._all = range(len(re2_form))
        self._owners: list[int] = []
        """The pattern of each part in the set."""
        parts = re2.Set.SearchSet(_options())
        for number, one in enumerate(re2_form):
            with suppress(re2.error):  # what RE2 does not know
                for part in _parts(one) if one else ():
                    parts.Add(part)
                    self._owners.append(number)
        self._needed = Counter(self._owners)
        """How many parts each has; of the others nothing is known."""
        self._always = [number for number in self._all if number not in self._needed]
        self._any = parts.Add("")  # matches any text: an answer without it is no answer
        self._set: re2.Set | None = None
        with suppress(re2.error):  # too large
            parts.Compile()
            self._set = parts

    def candidates(self, plain_text: str) -> Sequence[int]:
        """The patterns whose parts all stand in a text for RE2, in order."""
        found = {*(self._set.Match(plain_text) or ())} if self._set else set()
        if self._any not in found:
            return self._all
        held = Counter(self._owners[part] for part in found if part != self._any)
        return sorted([*self._always, *(n for n, c in held.items() if c == self._needed[n])])


class PatternSet:
    """Numbered regular expressions that ignore case, for folded text; compiled when needed."""

    def __init__(self, regexes: Iterable[str]) -> None:
        self._patterns = [*regexes]
        self._plain = [_for_re2(pattern) for pattern in self._patterns]
        starts = range(0, len(self._patterns), BATCH)
        self._batches = [(start, _Batch(self._plain[start : start + BATCH])) for start in starts]

    def matches(self, text: str) -> Iterator[tuple[int, regex.Match[str]]]:
        """Every match in *text* with the number of its pattern, as `finditer` finds it."""
        plain_text = _FOREIGN.sub(_stand_in, text)
        for start, batch in self._batches:
            for number in batch.candidates(plain_text):
                yield from self._found(start + number, text, plain_text)

    def _found(
        self, number: int, text: str, plain_text: str
    ) -> Iterator[tuple[int, regex.Match[str]]]:
        re2_form = self._plain[number]
        if re2_form and (quick := _quick(re2_form)) and not quick.search(plain_text):
            return
        with suppress(TimeoutError):
            for match in _compiled(self._patterns[number]).finditer(text, timeout=TIME_LIMIT_S):
                yield number, match


T = TypeVar("T")


class Phrases(Generic[T]):
    """Phrases of words, each with its values; words of a text are brought to the same *form*."""

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
