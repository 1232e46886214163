"""A file -> its sections, the units of ranked search.

Sections of parsed files are the definitions in the graph (`Graph.sections_of`). In other
languages, a section begins at each line that looks like the head of a definition. Prose is cut
into pieces of equal length.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

#: The languages of files that hold prose or data, not code.
PROSE = frozenset(
    {"text", "markdown", "restructuredtext", "json", "yaml", "toml", "html", "css", "xml"}
)
_PROSE_LINES = 30
#: Longer guessed sections are split, into about what an editor's window shows.
_MAX_LINES = 60
_DECLARING = frozenset(
    "class interface struct enum trait impl union record object protocol extension namespace "
    "module function func fn fun def defp defmodule defmacro type data newtype instance".split()
)
_DECLARED = re.compile(
    r"[ \t]*(?:[^\s\"'`]+[ \t]+){0,6}?(?:" + "|".join(_DECLARING) + r")[ \t]+"
    r"(?:[(<][^)>]*[)>][ \t]*)?(?:[\w.:]+[.:])?(\w+)"
)
#: The head of a function without a keyword: `name(…) {`, or `name = (…) {`.
_FUNCTION_HEAD = re.compile(r"[^\"'`=({]*?(\w+)[ \t]*(?:[:=][^\"'`({]*)?\(")
_MAX_HEAD_LENGTH = 200
#: Keywords that look like the name of a function in such a head.
_NOT_NAMES = frozenset(
    "if for while switch catch return else do function match elif foreach".split()
)
_COMMENT = re.compile(r"[ \t]*(?://|/\*|\*|#|--|;|@|%)")


class Section(NamedTuple):
    """The first and last line of a part of a file; *name* is its definition's, if any."""

    start: int
    end: int
    name: str


def guess_sections(lines: Sequence[str], language: str) -> list[Section]:
    """The sections of a file that was not parsed, in order."""
    if language in PROSE:
        starts = range(1, len(lines) + 1, _PROSE_LINES)
        return [Section(at, min(at + _PROSE_LINES - 1, len(lines)), "") for at in starts]
    # At what looks like the head of a definition, or the comment above it.
    heads: dict[int, str] = {1: ""}
    for number, line in enumerate(lines, 1):
        name = _head(line, lines[number] if number < len(lines) else "")
        if name:
            heads[_comment_start(lines, number, next(reversed(heads)))] = name
    ends = [*list(heads)[1:], len(lines) + 1]
    return [
        Section(at, min(at + _MAX_LINES, end) - 1, heads[start])
        for start, end in zip(heads, ends, strict=True)
        for at in range(start, end, _MAX_LINES)
    ]


def _comment_start(lines: Sequence[str], number: int, previous: int) -> int:
    """Where the comment right above line *number* begins, below line *previous*."""
    while number - 1 > previous and _COMMENT.match(lines[number - 2]):
        number -= 1
    return number


def _head(line: str, following: str) -> str:
    """The name of the definition that seems to begin in *line*; empty when none does."""
    match = None
    if len(line) <= _MAX_HEAD_LENGTH and line.count("(") == line.count(")"):
        if not _DECLARING.isdisjoint(line.split(None, 6)):
            match = _DECLARED.match(line)
        if not match and (line.rstrip().endswith("{") or following.strip() == "{"):
            match = _FUNCTION_HEAD.match(line)
    return match[1] if match and match[1] not in _NOT_NAMES else ""


def is_test(path: str) -> bool:
    """Whether the file at *path* holds tests, as pytest, unittest, Jest and Vitest find them."""
    *folders, name = path.split("/")
    stem = name.rpartition(".")[0] or name
    is_named_so = name.startswith("test_") or stem.endswith(("_test", ".test", ".spec"))
    return is_named_so or not {"tests", "test", "__tests__"}.isdisjoint(folders)
