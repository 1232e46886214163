"""Source code -> blocks, one for each definition, with its name as the section.

Code is cut at unindented lines that follow a blank one, Python at its functions and methods too.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from judge.library.extract.text_blocks import DocumentText, TextBlock, block_of, split_lines

_NAME = re.compile(
    r"(?:[\w@()\[\]<>*&:,.=-]+\s+){0,6}?"
    r"(?:function|func|fn|class|struct|enum|interface|trait|impl|type|def|module|sub|namespace)\s+"
    r"(?:\([^()]{0,200}\)\s*)?([\w.$:]+)"
)
_CALLABLE = re.compile(r"(?:[\w*&<>:\[\],~]+\s+){1,6}?[*&]*([\w:~]+)\s*\([^;]*$")
_PYTHON = re.compile(r"(\s*)(?:async\s+)?(def|class)\s+(\w+)")
_ABOVE = re.compile(r"\s*[@#]")
"""A decorator or a comment above a definition."""


_Cut = tuple[int, str | None]
"""The first line of a block, counted from 0, and the name that the block defines."""


def read_code(text: str, language: str) -> DocumentText:
    """The definitions of *text* in *language*, and what stands between them."""
    lines = split_lines(text)
    cuts = dict(_margin_cuts(lines))
    if language == "python":
        cuts |= dict(_python_cuts(lines))
    return DocumentText(tuple(_blocks(lines, sorted(cuts.items()))), language=language)


def _blocks(lines: Sequence[str], cuts: Sequence[tuple[int, str | None]]) -> Iterator[TextBlock]:
    """From each cut to the next one, without blank lines at the ends."""
    for (start, name), (end, _) in pairwise([*cuts, (len(lines), None)]):
        if shown := [at for at in range(start, end) if lines[at].strip()]:
            first, last = shown[0], shown[-1] + 1
            yield block_of(lines, first, last, section=name, starts_passage=True, is_code=True)


def _python_cuts(lines: Sequence[str]) -> Iterator[_Cut]:
    """A cut at each function, class and method, with the comments and decorators above it."""
    owner, inner = "", ""
    for at, line in enumerate(lines):
        if line[:1].strip() and line[0] not in ")]}#@":
            owner = inner = ""
        found = _PYTHON.match(line)
        if not found or (found[1] and (not owner or found[1] != (inner or found[1]))):
            continue
        if found[1]:
            inner = found[1]
        elif found[2] == "class":
            owner = found[3]
        start = at
        while start and _ABOVE.match(lines[start - 1]):
            start -= 1
        yield start, f"{owner}.{found[3]}" if found[1] else found[3]


def _margin_cuts(lines: Sequence[str]) -> Iterator[_Cut]:
    """A cut at each unindented line that follows a blank one and is no closing bracket."""
    yield 0, _defined_in(lines[0]) if lines else None
    for at in range(1, len(lines)):
        line = lines[at]
        if not lines[at - 1].strip() and line[:1].strip() and line[0] not in ")]}":
            block = takewhile(str.strip, lines[at : at + 12])
            yield at, next(filter(None, map(_defined_in, block)), None)


def _defined_in(line: str) -> str | None:
    if len(line) > 300 or line[:1].isspace() or line.startswith(("#", "//", "/*", "*", "--")):
        return None
    named = _NAME.match(line) or _CALLABLE.match(line)
    return named[1] if named else None
