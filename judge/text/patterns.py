"""Regular expressions of sources files: checked, and matched under a time limit.

No pattern, whoever wrote it, holds up the event loop. A set of RE2 that says first which patterns
may match saved half a millisecond a dispute, for a dependency and a translation of each pattern.
"""

import re
import warnings
from collections.abc import Iterable, Iterator

import regex  # type: ignore[import-untyped]

TIME_LIMIT_S = 0.1
"""Of one pattern on one text; a pattern that needs longer is taken not to match."""

_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_UNBOUNDED = re.compile(r"(?<! )[*+]|\{\d+,\}")
_SPACES = re.compile(r"\\s[*+]")


def checked_regex(value: str) -> str:
    """*value*, if it compiles, never matches the empty text, and has no unbounded repeats.

    Raises ValueError that says what is wrong and what to write instead.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # "possible nested set" is a typing error
            matches_empty = re.compile(value).search("") is not None
            regex.compile(value, regex.IGNORECASE)  # as it is used, so that it is compiled once
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
        self._patterns = [regex.compile(pattern, regex.IGNORECASE) for pattern in regexes]

    def matches(self, text: str) -> Iterator[tuple[int, regex.Match[str]]]:
        """Every match in *text* with the number of its pattern, as `finditer` finds it."""
        for number, pattern in enumerate(self._patterns):
            try:
                for match in pattern.finditer(text, timeout=TIME_LIMIT_S):
                    yield number, match
            except TimeoutError:
                continue
