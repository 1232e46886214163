"""A file -> its sections, the units of ranked search.

Sections of parsed files are the definitions in the graph. In other languages, a section begins at
each line that looks like the head of a definition. Prose is cut into pieces of equal length.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from judge.codegraph.models import VARIABLE_KINDS, Node

#: The languages of files that hold prose or data, not code.
PROSE = frozenset(
    {"text", "markdown", "restructuredtext", "json", "yaml", "toml", "html", "css", "xml"}
)
_PROSE_LINES = 30
#: Longer guessed sections are split, into about what an editor's window shows.
_MAX_LINES = 60
_DECLARING = frozenset(
    b"class interface struct enum trait impl union record object protocol extension namespace "
    b"module function func fn fun def defp defmodule defmacro type data newtype instance".split()
)
_DECLARED = re.compile(
    rb"[ \t]*(?:[^\s\"'`]+[ \t]+){0,6}?(?:%s)[ \t]+(?:[(<][^)>]*[)>][ \t]*)?(?:[\w.:]+[.:])?(\w+)"
    % b"|".join(_DECLARING)
)
#: The head of a function without a keyword: `name(…) {`, or `name = (…) {`.
_FUNCTION_HEAD = re.compile(rb"[^\"'`=({]*?(\w+)[ \t]*(?:[:=][^\"'`({]*)?\(")
_MAX_HEAD_LENGTH = 200
#: Keywords that look like the name of a function in such a head.
_NOT_NAMES = frozenset(
    b"if for while switch catch return else do function match elif foreach".split()
)
_COMMENT = re.compile(rb"[ \t]*(?://|/\*|\*|#|--|;|@|%)")


class Section(NamedTuple):
    """The first and last line of a part of a file; *name* is that of its definition, if any."""

    start: int
    end: int
    name: str


def sections_of(lines: Sequence[bytes], nodes: Sequence[Node], language: str) -> list[Section]:
    """The sections of a file with these *lines*; nested ones come after the outer one."""
    if nodes:
        return [Section(*n.span, n.fqn) for n in nodes if n.kind not in VARIABLE_KINDS]
    if language in PROSE:
        starts = range(1, len(lines) + 1, _PROSE_LINES)
        return [Section(at, min(at + _PROSE_LINES - 1, len(lines)), "") for at in starts]
    return _guessed(lines)


def _guessed(lines: Sequence[bytes]) -> list[Section]:
    """Sections that begin at what looks like the head of a definition, or the comment above it."""
    heads: dict[int, str] = {1: ""}
    for number, line in enumerate(lines, 1):
        name = _head(line, lines[number] if number < len(lines) else b"")
        if name:
            heads[_comment_start(lines, number, next(reversed(heads)))] = name
    ends = [*list(heads)[1:], len(lines) + 1]
    return [
        Section(at, min(at + _MAX_LINES, end) - 1, heads[start])
        for start, end in zip(heads, ends, strict=True)
        for at in range(start, end, _MAX_LINES)
    ]


def _comment_start(lines: Sequence[bytes], number: int, previous: int) -> int:
    """Where the comment right above line *number* begins, below line *previous*."""
    while number - 1 > previous and _COMMENT.match(lines[number - 2]):
        number -= 1
    return number


def _head(line: bytes, following: bytes) -> str:
    """The name of the definition that seems to begin in *line*; empty when none does."""
    match = None
    if len(line) <= _MAX_HEAD_LENGTH and line.count(b"(") == line.count(b")"):
        if not _DECLARING.isdisjoint(line.split(None, 6)):
            match = _DECLARED.match(line)
        if not match and (line.rstrip().endswith(b"{") or following.strip() == b"{"):
            match = _FUNCTION_HEAD.match(line)
    name = match[1] if match else b""
    return "" if name in _NOT_NAMES else name.decode(errors="replace")


def innermost(sections: Sequence[Section], lines: int) -> list[int]:
    """For each line, counted from 1, the index of the innermost of *sections* around it."""
    owners = [0] * (lines + 2)
    # Longest first, so that nested sections overwrite outer ones.
    for index, (start, end, _) in sorted(enumerate(sections), key=lambda p: p[1].start - p[1].end):
        owners[start : end + 1] = [index] * (end + 1 - start)
    return owners
