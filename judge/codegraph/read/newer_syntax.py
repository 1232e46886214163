"""Python newer than the one we run on -> source that it can parse, line for line.

Type parameters (`def f[T](…)`, `class A[T]:`, `type X = …`, from Python 3.12) are blanked out and
told apart, so that a project which uses them is read precisely under Python 3.11 as well.
"""

import re
from typing import NamedTuple

_DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+\w+[ \t]*(?=\[)", re.MULTILINE)
_ALIAS = re.compile(r"^([ \t]*)type[ \t]+(\w+)[ \t]*(?=[\[=])", re.MULTILINE)
_NAME = re.compile(r"\s*\*{0,2}(\w+)")


class DowngradedSource(NamedTuple):
    """Source without type parameters, and their names by the line of their definition."""

    text: str
    type_params: dict[int, list[str]]


def downgraded(text: str) -> DowngradedSource:
    """*text* with type parameters taken out; no line or other column moves."""
    type_params: dict[int, list[str]] = {}
    parts: list[str] = []
    done = 0
    for found in _DEFINITION.finditer(text):
        end = _closing(text, found.end())
        if end is None or found.end() < done:
            continue
        inside = text[found.end() + 1 : end]
        line = text.count("\n", 0, found.end()) + 1
        type_params[line] = _names(inside)
        parts += [text[done : found.end()], _blank(text[found.end() : end + 1])]
        done = end + 1
    parts.append(text[done:])
    return DowngradedSource(_without_aliases("".join(parts)), type_params)


def _without_aliases(text: str) -> str:
    """`type X[T] = …` as `X = …`."""
    parts: list[str] = []
    done = 0
    for found in _ALIAS.finditer(text):
        start = found.end()
        end = _closing(text, start) if text[start] == "[" else start - 1
        if end is None:
            continue
        parts += [text[done : found.start()], f"{found[1]}{found[2]} "]
        parts.append(_blank(text[start : end + 1]))
        done = end + 1
    return "".join([*parts, text[done:]])


def _closing(text: str, start: int) -> int | None:
    """Where the bracket that opens at *start* closes."""
    depth = 0
    for place in range(start, len(text)):
        if text[place] in "[(":
            depth += 1
        elif text[place] in "])":
            depth -= 1
            if depth == 0:
                return place
    return None


def _names(inside: str) -> list[str]:
    """The parameters' names: what begins each part between commas outside brackets."""
    names, depth, start = [], 0, 0
    for place, character in enumerate(f"{inside},"):
        if character in "[(":
            depth += 1
        elif character in "])":
            depth -= 1
        elif character == "," and depth == 0:
            found = _NAME.match(inside, start)
            if found:
                names.append(found[1])
            start = place + 1
    return names


def _blank(text: str) -> str:
    return "".join("\n" if character == "\n" else " " for character in text)
