"""Checks that a configured regular expression is fast on every text.

Texts are matched in the event loop, so that one slow pattern would stop all requests.
"""

import itertools
import re
import warnings
from collections.abc import Iterable, Sequence
from functools import lru_cache
from re import _parser  # type: ignore[attr-defined]  # what `re` itself reads patterns with
from typing import Any

MAX_BACKTRACKING = 20_000
"""The most ways that a pattern may try to match at one position of a text."""

parse_regex = lru_cache(maxsize=1024)(_parser.parse)
"""Returns the parts of a pattern, each a pair of kind and value; raises `re.error`."""

_SPACES = frozenset({"(LITERAL, 32)", "(IN, [(CATEGORY, CATEGORY_SPACE)])"})
"""A space and `\\s` as the parser represents them."""

_UNSUPPORTED = re.compile(r"(?<!\\)(?:\\\\){0,9}(?:\(\?(?![:=!]|<[=!])|\\[1-9])")
"""Flags, named groups and references, whose meaning changes when patterns are joined into one."""


def checked_regex(value: str) -> str:
    """*value*, if it compiles, never matches the empty text, and is fast on every text.

    Raises ValueError that says what is wrong and what to write instead.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # "possible nested set" is a typing error
            parts = parse_regex(value)
            # Compiling takes longer than all else here, and shows more of such patterns alone.
            may_match_empty = parts.getwidth()[0] == 0 or "(?<" in value
            matches_empty = may_match_empty and re.compile(value).search("") is not None
            ways = _ways(parts)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        raise ValueError(f"is no regular expression: {error}") from None
    if any(character < " " for character in value):
        raise ValueError(
            "holds a control character, as \\b is in double quotation marks; write \\\\b, or use "
            "'single' ones"
        )
    if matches_empty:
        raise ValueError("matches the empty text; make at least one part of it required")
    if _UNSUPPORTED.search(value):
        raise ValueError("uses flags, names or references of groups; (?:…) and (?!…) are enough")
    if ways > MAX_BACKTRACKING:
        raise ValueError(
            "could be slow on some texts: instead of * and + use {0,9} or {1,9}, with fewer or "
            "smaller repeats"
        )
    return value


def _ways(parts: Iterable[tuple[object, Any]]) -> float:
    """An upper bound for the ways in which *parts* of a pattern can match at one position.

    An alternation adds those of its branches, a sequence multiplies those of its parts, and a
    repeat from m to n sums over each count. `*` and `+` are unbounded, except of white space,
    which is never repeated in the folded texts that are matched. Of plain words, none a prefix of
    another, only one can match.
    """
    ways = 1.0
    for kind, value in parts:
        match str(kind):
            case "SUBPATTERN":
                ways *= _ways(value[-1])
            case "ASSERT" | "ASSERT_NOT":
                ways *= _ways(value[1])
            case "ATOMIC_GROUP":
                ways *= _ways(value)
            case "BRANCH":
                ways *= (
                    1 if _is_unambiguous(value[1]) else sum([_ways(branch) for branch in value[1]])
                )
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT" if _is_space(value[2]):
                ways *= 1 if value[0] else 2
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                ways *= _repeated(_ways(value[2]), value[0], value[1])
    return ways


def _is_space(parts: Sequence[tuple[object, Any]]) -> bool:
    """Whether *parts* match only white space."""
    return len(parts) == 1 and str(parts[0]) in _SPACES


def _is_unambiguous(branches: Sequence[Sequence[tuple[object, Any]]]) -> bool:
    """Whether all *branches* are plain words, none a prefix of another."""
    if not all(str(kind) == "LITERAL" for branch in branches for kind, _ in branch):
        return False
    words = sorted("".join(chr(code) for _, code in branch).lower() for branch in branches)
    return not any(after.startswith(word) for word, after in itertools.pairwise(words))


def _repeated(ways: float, low: int, high: int) -> float:
    """The ways of a part that has *ways*, repeated from *low* to *high* times."""
    if high > MAX_BACKTRACKING:
        return float("inf")
    return min(sum(min(ways, MAX_BACKTRACKING) ** min(n, 64) for n in range(low, high + 1)), 1e30)
