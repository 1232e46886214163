"""A file -> its sections, the units of ranked search.

Sections of parsed files are the definitions in the graph (`Graph.sections_of`). In other
languages, a section begins at each line that looks like the head of a definition. Prose is cut
into pieces of equal length.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from codegraph.source_text import count_lines

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


def guess_sections(content: bytes, language: str) -> list[Section]:
    """The sections of a file that was not parsed, in order."""
    if language in PROSE:
        count = count_lines(content)
        starts = range(1, count + 1, _PROSE_LINES)
        return [Section(at, min(at + _PROSE_LINES - 1, count), "") for at in starts]
    return _guessed(content.splitlines(keepends=True))


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


def looks_defined(content: bytes, name: bytes) -> bool:
    """Whether some line of *content* looks like the head of a definition of *name*."""
    end, text = 0, content + b"\n\n"
    while (at := text.find(name, end)) >= 0:
        start, end = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at)
        following = text[end + 1 : text.find(b"\n", end + 1)]
        if _head(text[start:end], following).encode() == name:
            return True
    return False


def innermost(sections: Sequence[Section]) -> Callable[[int], int]:
    """A function from a line to the index of the innermost of *sections* around it, 0 without one.

    It is the last one that has begun and has not ended.
    """
    starts = [section.start for section in sections]
    outer = _outer_sections(sections)

    def index_at(line: int) -> int:
        index = bisect_right(starts, line) - 1
        while index > 0 and sections[index].end < line:
            index = outer[index]
        return max(index, 0)

    return index_at


def _outer_sections(sections: Sequence[Section]) -> list[int]:
    """For each of *sections* the index of the last one before it that goes on at its start."""
    outer: list[int] = []
    unended: list[int] = []
    for index, section in enumerate(sections):
        while unended and sections[unended[-1]].end < section.start:
            unended.pop()
        outer.append(unended[-1] if unended else 0)
        unended.append(index)
    return outer
