"""A file -> its sections: definitions without those inside them, or some lines of a text.

What a parser of ours reads has its definitions from the graph; in other languages the lines that
look like the head of a definition begin one. Prose is cut into pieces of equal length.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from judge.codegraph.models import VARIABLE_KINDS, Node

#: Files in these hold words about code, or data.
PROSE = frozenset(
    {"text", "markdown", "restructuredtext", "json", "yaml", "toml", "html", "css", "xml"}
)
_PROSE_LINES = 30
#: What stands in a longer definition is told apart, as in an editor's window.
_LONGEST = 60
_DECLARING = frozenset(
    b"class interface struct enum trait impl union record object protocol extension namespace "
    b"module function func fn fun def defp defmodule defmacro type data newtype instance".split()
)
_DECLARED = re.compile(
    rb"[ \t]*(?:[^\s\"'`]+[ \t]+){0,6}?(?:%s)[ \t]+(?:[(<][^)>]*[)>][ \t]*)?(?:[\w.:]+[.:])?(\w+)"
    % b"|".join(_DECLARING)
)
#: A function without a keyword: what stands before the brackets, or is assigned, of a block.
_CALLED = re.compile(rb"[^\"'`=({]*?(\w+)[ \t]*(?:[:=][^\"'`({]*)?\(")
_LONGEST_HEAD = 200
_NO_NAMES = frozenset(
    b"if for while switch catch return else do function match elif foreach".split()
)
_COMMENT = re.compile(rb"[ \t]*(?://|/\*|\*|#|--|;|@|%)")


class Section(NamedTuple):
    """The first and last line of a part of a file; *name* is empty for what defines nothing."""

    start: int
    end: int
    name: str


def sections_of(lines: Sequence[bytes], nodes: Sequence[Node], language: str) -> list[Section]:
    """The sections of a file with these *lines*; an inner one follows the one around it."""
    if nodes:
        return [Section(*n.span, n.fqn) for n in nodes if n.kind not in VARIABLE_KINDS]
    if language in PROSE:
        starts = range(1, len(lines) + 1, _PROSE_LINES)
        return [Section(at, min(at + _PROSE_LINES - 1, len(lines)), "") for at in starts]
    return _guessed(lines)


def _guessed(lines: Sequence[bytes]) -> list[Section]:
    """Sections that begin at what looks like the head of a definition, and the comments above."""
    heads: dict[int, str] = {1: ""}
    for number, line in enumerate(lines, 1):
        name = _head(line, lines[number] if number < len(lines) else b"")
        if name:
            heads[_above(lines, number, next(reversed(heads)))] = name
    ends = [*list(heads)[1:], len(lines) + 1]
    return [
        Section(at, min(at + _LONGEST, end) - 1, heads[start])
        for start, end in zip(heads, ends, strict=True)
        for at in range(start, end, _LONGEST)
    ]


def _above(lines: Sequence[bytes], number: int, last: int) -> int:
    """Where the comments begin that stand right above a line, below the line *last*."""
    while number - 1 > last and _COMMENT.match(lines[number - 2]):
        number -= 1
    return number


def _head(line: bytes, following: bytes) -> str:
    """The name that the definition has which begins in *line*; empty when none seems to."""
    found = None
    if len(line) <= _LONGEST_HEAD and line.count(b"(") == line.count(b")"):
        if not _DECLARING.isdisjoint(line.split(None, 6)):
            found = _DECLARED.match(line)
        if not found and (line.rstrip().endswith(b"{") or following.strip() == b"{"):
            found = _CALLED.match(line)
    name = found[1] if found else b""
    return "" if name in _NO_NAMES else name.decode(errors="replace")


def innermost(sections: Sequence[Section], lines: int) -> list[int]:
    """The place among *sections* of the innermost one around each line, counted from 1."""
    owners = [0] * (lines + 2)
    for place, one in sorted(enumerate(sections), key=lambda p: p[1].start - p[1].end):
        owners[one.start : one.end + 1] = [place] * (one.end + 1 - one.start)
    return owners
