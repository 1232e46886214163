"""Which regular expressions of a configuration may be run on any text?

People's texts are matched in the event loop, so that one slow pattern would stop everybody.
"""

import itertools
import re
import warnings

MAX_BACKTRACKING = 20_000
"""How many ways a pattern may try at one place of a text, so that no text can make it slow."""

_EXTRAS = re.compile(r"(?<!\\)(?:\\\\){0,9}(?:\(\?(?![:=!]|<[=!])|\\[1-9])")
"""What would change its meaning when patterns are joined into one."""

_REGEX_TOKEN = re.compile(
    r"(?P<open>\((?:\?(?:[:=!]|<[=!]))?)|(?P<close>\))"
    r"|(?P<repeat>(?:[*+?]|\{\d*,?\d*\})[?+]?)|(?P<branch>\|)"
    r"|(?P<atom>\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.)",
    re.DOTALL,
)
"""The parts of a regular expression that decide in how many ways it can try."""


def checked_regex(value: str) -> str:
    """*value*, if it compiles, cannot match nothing and is fast on every text.

    Raises ValueError with what is wrong and what to write instead.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # "possible nested set" is a slip of the pen
            matches_nothing = re.compile(value, re.IGNORECASE).search("") is not None
    except (re.error, OverflowError, RecursionError, Warning) as error:
        raise ValueError(f"is no regular expression: {error}") from None
    if matches_nothing:
        raise ValueError("matches the empty text; make at least one part of it required")
    if _EXTRAS.search(value):
        raise ValueError("uses flags, names or references of groups; (?:…) and (?!…) are enough")
    if _backtracking(value) > MAX_BACKTRACKING:
        raise ValueError(
            "could be slow on some texts: instead of * and + use {0,9} or {1,9}, with fewer or "
            "smaller repeats"
        )
    return value


def _backtracking(regex: str) -> float:
    """An upper bound for the ways in which *regex*, which compiles, can try at one place.

    An alternation adds its branches, a sequence multiplies its parts, and a repeat from m to n
    takes each number of copies in between. `*` and `+` are without bound. Of plain words, none
    the beginning of another, only one can match.
    """
    # One frame for each open group: where it begins, the finished branches, this branch and
    # the last part of it.
    frames: list[tuple[int, float, float, float]] = [(0, 0, 1, 1)]
    for token in _REGEX_TOKEN.finditer(regex):
        start, done, branch, last = frames.pop()
        match token.lastgroup:
            case "open":
                frames += [(start, done, branch * last, 1), (token.end(), 0, 1, 1)]
            case "close" if frames:
                group = 1 if _is_unambiguous(regex[start : token.start()]) else done + branch * last
                frames.append((*frames.pop()[:3], group))
            case "repeat":
                frames.append((start, done, branch, _repeated(last, token[0])))
            case "branch":
                frames.append((start, done + branch * last, 1, 1))
            case _:
                frames.append((start, done, branch * last, 1))
    _, done, branch, last = frames.pop()
    return done + branch * last


def _is_unambiguous(group: str) -> bool:
    """Whether *group* is plain words of which none begins another."""
    words = sorted(group.lower().split("|"))
    return all(re.fullmatch(r"[\w ']+", word) for word in words) and not any(
        after.startswith(word) for word, after in itertools.pairwise(words)
    )


def _repeated(ways: float, repeat: str) -> float:
    """The ways of something with *ways* ways, when it is repeated."""
    if repeat[0] == "?":
        return ways + 1
    low, comma, high = repeat.rstrip("?+").strip("{}").partition(",")
    if repeat[0] in "*+" or (comma and not high):
        return float("inf")
    if not low and not high:
        return ways
    least, most = int(low or 0), int(high or low)
    if most > MAX_BACKTRACKING:
        return float("inf")
    return min(sum(min(ways, MAX_BACKTRACKING) ** min(n, 64) for n in range(least, most + 1)), 1e30)
