"""Code, tables, JSON, notebooks and mail -> blocks: what a person reads in them."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from codegraph.query.sections import PROSE, guess_sections

from judge.library.extract.markdown import read_html, read_markdown
from judge.library.extract.text_blocks import (
    DocumentText,
    TextBlock,
    block_of,
    fenced,
    paragraphs,
    read_text,
    split_lines,
)
from judge.text.decoding import decode_text
from judge.text.english import grouped


def read_code(text: str, language: str) -> DocumentText:
    """The definitions of *text* in *language*, each a block with its name as the section."""
    lines = split_lines(text)
    if language in PROSE:
        return DocumentText(tuple(paragraphs(lines, is_code=True)), language=language)
    blocks = []
    for start, end, name in guess_sections(lines, language):
        if shown := [at for at in range(start - 1, end) if lines[at].strip()]:
            first, last = shown[0], shown[-1] + 1
            traits = {"section": name or None, "starts_passage": True, "is_code": True}
            blocks.append(block_of(lines, first, last, **traits))
    return DocumentText(tuple(blocks), language=language)


ROW_CHARACTERS = 1_200
"""Of the rows in one block: about a passage."""

_BLOB = re.compile(r"[A-Za-z0-9+/=_-]{200,}|(?:[A-Za-z0-9+/]{60,}={0,2}(?:\\n)?){4,}")
"""Encoded data, such as pictures in base64."""

_ESCAPE = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\.")


def read_table(text: str) -> DocumentText:
    """The rows of CSV or TSV in blocks, each below the header row; no row is cut."""
    return DocumentText(tuple(_tables(split_lines(text))))


def _tables(lines: list[str]) -> Iterator[TextBlock]:
    rows, first = list[TextBlock](), 0
    while first < len(lines):
        end = first + 1
        # Line ends may stand between quotation marks.
        while "\n".join(lines[first:end]).count('"') % 2 and end < min(first + 100, len(lines)):
            end += 1
        row = block_of(lines, first, end, starts_passage=True, is_code=True)
        rows += [row] if row.text.strip() else []
        first = end
    header = rows[:1]
    for group in grouped(rows[1:] or header, lambda row: len(row.text), ROW_CHARACTERS):
        whole = group if group == header else [*header, *group]
        text = "\n".join(row.text for row in whole)
        yield group[0]._replace(text=text, end_line=group[-1].end_line)


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
    text = _mail_text(body) if isinstance(body, EmailMessage) else ""
    head = [f"{name}: {message[name]}" for name in ("From", "To", "Date") if message[name]]
    whole = "\n".join([*head, "", text]) if head and text.strip() else text
    title = str(message["Subject"] or "") or None
    date = getattr(message["Date"], "datetime", None)
    return replace(read_text(whole), title=title, date=date.astimezone() if date else None)


def _mail_text(body: EmailMessage) -> str:
    try:
        payload = str(body.get_content())
    except (LookupError, ValueError):  # an encoding that nobody knows
        payload = decode_text(bytes(body.get_payload(decode=True) or b""))
    if body.get_content_subtype() != "html":
        return payload
    return "\n\n".join(block.text for block in read_html(payload.encode(errors="replace")).blocks)
