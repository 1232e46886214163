"""Source code -> blocks, one for each definition, with its name as the section.

Python is parsed; other languages are split at unindented lines that follow a blank one.
"""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge.library.extract.text_blocks import DocumentText, TextBlock, block_of, split_lines

_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_MAX_PARSED = 1_000_000
"""Characters; longer (generated) code is split at blank lines instead."""

_LONG_CLASS = 40
"""Lines; the methods of a longer class are blocks of their own."""

_NAME = re.compile(
    r"(?:[\w@()\[\]<>*&:,.=-]+\s+){0,6}?"
    r"(?:function|func|fn|class|struct|enum|interface|trait|impl|type|def|module|sub|namespace)\s+"
    r"(?:\([^()]{0,200}\)\s*)?([\w.$:]+)"
)
_CALLABLE = re.compile(r"(?:[\w*&<>:\[\],~]+\s+){1,6}?[*&]*([\w:~]+)\s*\([^;]*$")


@dataclass(frozen=True, slots=True)
class _Cut:
    """The first line of a block, counted from 0, and the name that the block defines."""

    line: int
    name: str | None


def read_code(text: str, language: str) -> DocumentText:
    """The definitions of *text* in *language*, and what stands between them."""
    lines = split_lines(text)
    cuts = _python_cuts(text, lines) if language == "python" else None
    if cuts is None:
        cuts = list(_margin_cuts(lines))
    return DocumentText(tuple(_blocks(lines, cuts)), language=language)


def _blocks(lines: Sequence[str], cuts: Sequence[_Cut]) -> Iterator[TextBlock]:
    """From each cut to the next one, without blank lines at the ends."""
    ends = [cut.line for cut in cuts[1:]] + [len(lines)]
    for cut, cut_end in zip(cuts, ends, strict=True):
        start, end = cut.line, cut_end
        while start < end and not lines[start].strip():
            start += 1
        while end > start and not lines[end - 1].strip():
            end -= 1
        if start < end:
            yield block_of(lines, start, end, section=cut.name, starts_passage=True, is_code=True)


def _python_cuts(text: str, lines: Sequence[str]) -> list[_Cut] | None:
    """The cuts at definitions; None when *text* is not Python that we can parse."""
    if len(text) > _MAX_PARSED:
        return None
    with warnings.catch_warnings():
        # Invalid escapes in an indexed file are not our concern.
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    return [_Cut(0, None), *_definitions(tree.body, "", lines)]


def _definitions(body: Sequence[ast.stmt], prefix: str, lines: Sequence[str]) -> Iterator[_Cut]:
    """A cut where each definition in *body* begins, and one where other statements go on."""
    was_definition = False
    for node in body:
        if isinstance(node, _DEFINITION):
            name = f"{prefix}{node.name}"
            yield _Cut(_first_line(node, lines), name)
            if (
                isinstance(node, ast.ClassDef)
                and len(lines[node.lineno : node.end_lineno]) >= _LONG_CLASS
            ):
                yield from _definitions(node.body, f"{name}.", lines)
            was_definition = True
        elif was_definition:
            yield _Cut(_with_comments(node.lineno - 1, lines), prefix.rstrip(".") or None)
            was_definition = False


def _first_line(node: ast.stmt, lines: Sequence[str]) -> int:
    """Where *node* begins, with its decorators and the comment above it."""
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", ())
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1
    return _with_comments(first, lines)


def _with_comments(first: int, lines: Sequence[str]) -> int:
    while first > 0 and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return first


def _margin_cuts(lines: Sequence[str]) -> Iterator[_Cut]:
    """A cut at each unindented line that follows a blank one and is no closing bracket."""
    yield _Cut(0, _defined_in(lines[0]) if lines else None)
    for at in range(1, len(lines)):
        line = lines[at]
        if not lines[at - 1].strip() and line[:1].strip() and line[0] not in ")]}":
            yield _Cut(at, _name_after(lines, at))


def _name_after(lines: Sequence[str], at: int) -> str | None:
    """The name that the block at line *at* defines, below its comments."""
    for line in lines[at : at + 12]:
        if not line.strip():
            return None
        if name := _defined_in(line):
            return name
    return None


def _defined_in(line: str) -> str | None:
    if len(line) > 300 or line[:1].isspace() or line.startswith(("#", "//", "/*", "*", "--")):
        return None
    named = _NAME.match(line) or _CALLABLE.match(line)
    return named[1] if named else None
