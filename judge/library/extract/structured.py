"""Code, tables, JSON, notebooks and mail -> blocks: what a person reads in them.

Code is cut at unindented lines that follow a blank one, Python at its functions and methods too;
each definition is a block with its name as the section.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from itertools import pairwise, takewhile
from typing import Any

from judge.library.extract.markdown import fenced, read_html, read_markdown
from judge.library.extract.text_blocks import (
    DocumentText,
    TextBlock,
    block_of,
    read_text,
    split_lines,
)
from judge.text.decoding import decode_text

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


ROW_CHARACTERS = 1_200
"""Of the rows in one block: about a passage."""

_BLOB = re.compile(r"[A-Za-z0-9+/=_-]{200,}|(?:[A-Za-z0-9+/]{60,}={0,2}(?:\\n)?){4,}")
"""Encoded data, such as pictures in base64."""

_ESCAPE = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\.")


def read_table(text: str) -> DocumentText:
    """The rows of CSV or TSV in blocks, each below the header row; no row is cut."""
    return DocumentText(tuple(_tables(split_lines(text))))


def _tables(lines: list[str]) -> Iterator[TextBlock]:
    header, rows, start, first = "", list[str](), 0, 0
    while first < len(lines):
        end = first + 1
        # Line ends may stand between quotation marks.
        while "\n".join(lines[first:end]).count('"') % 2 and end < min(first + 100, len(lines)):
            end += 1
        row = "\n".join(lines[first:end])
        if not header:
            header = row
        elif row.strip():
            if rows and sum(map(len, rows)) + len(row) > ROW_CHARACTERS:
                yield _table(header, rows, start, first)
                rows = []
            start = start if rows else first
            rows.append(row)
        first = end
    if rows or header.strip():
        yield _table(header, rows, start, len(lines))


def _table(header: str, rows: list[str], start: int, end: int) -> TextBlock:
    return TextBlock("\n".join([header, *rows]), start + 1, end, starts_passage=True, is_code=True)


def read_json(text: str) -> DocumentText:
    """JSON or JSON Lines, line for line, with letters in the place of escapes; no encoded data."""
    return read_code(_ESCAPE.sub(_unescaped, _BLOB.sub("", text)), "json")


def _unescaped(escape: re.Match[str]) -> str:
    try:
        found = str(json.loads(f'"{escape[0]}"'))
    except ValueError:
        return escape[0]
    printable = found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(printable.split("\n")) if printable.strip() else " "


def read_notebook(text: str) -> DocumentText:
    """The cells of a Jupyter notebook, and what they printed, as Markdown."""
    try:
        notebook: Any = json.loads(text)
        parts = [part for cell in notebook["cells"] for part in _cell_parts(cell)]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return read_json(text)
    return read_markdown("\n\n".join(parts), has_front_matter=False)


def _cell_parts(cell: Any) -> Iterator[str]:
    source = _joined(cell.get("source", ""))
    is_code = cell.get("cell_type") != "markdown" and source.strip()
    yield fenced(source) if is_code else source
    for output in cell.get("outputs", ()):
        printed = output.get("text") or output.get("data", {}).get("text/plain", "")
        if told := _BLOB.sub("", _joined(printed)).strip():
            yield fenced(told)


def _joined(source: Any) -> str:
    return source if isinstance(source, str) else "".join(map(str, source))


def read_mail(content: bytes) -> DocumentText:
    """A message: who wrote to whom, and its text; the subject is the title."""
    message = message_from_bytes(content, policy=policy.default)
    assert isinstance(message, EmailMessage)
    body = message.get_body(("plain", "html"))
    text = _mail_text(body) if isinstance(body, EmailMessage) else DocumentText(())
    head = [f"{name}: {message[name]}" for name in ("From", "To", "Date") if message[name]]
    below = len(head) + 1 if head else 0
    blocks = [
        block._replace(start_line=block.start_line + below, end_line=block.end_line + below)
        for block in text.blocks
    ]
    if head and blocks:
        blocks.insert(0, TextBlock("\n".join(head), 1, len(head)))
    title = str(message["Subject"] or "") or None
    date = getattr(message["Date"], "datetime", None)
    return replace(
        text, blocks=tuple(blocks), title=title, date=date.astimezone() if date else None
    )


def _mail_text(body: EmailMessage) -> DocumentText:
    try:
        payload = body.get_content()
    except (LookupError, ValueError):  # an encoding that nobody knows
        payload = decode_text(bytes(body.get_payload(decode=True) or b""))
    is_html = body.get_content_subtype() == "html"
    return read_html(payload.encode(errors="replace")) if is_html else read_text(payload)
