"""Code, tables, JSON, notebooks and mail -> blocks: what a person reads in them."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.headerregistry import HeaderRegistry
from email.utils import parsedate_to_datetime
from typing import Any

from codegraph.query.sections import PROSE, guess_sections

from judge.errors import UnreadableDocument
from judge.library.extract.markdown import read_html, read_markdown
from judge.library.extract.text_blocks import (
    DocumentText,
    TextBlock,
    below_header,
    block_of,
    fenced,
    paragraphs,
    read_text,
    size,
    split_lines,
)
from judge.text.decoding import decode_text


def read_code(text: str, language: str) -> DocumentText:
    """The definitions of *text* in *language*, each a block with its name as the section."""
    lines = split_lines(text)
    if language in PROSE:
        return DocumentText(tuple(paragraphs(lines, is_code=True)), language=language)
    blocks = []
    for start, end, name in guess_sections(lines, language):
        if filled := [at for at in range(start - 1, end) if lines[at].strip()]:
            first, last = filled[0], filled[-1] + 1
            traits = {"section": name or None, "starts_passage": True, "is_code": True}
            blocks.append(block_of(lines, first, last, **traits))
    return DocumentText(tuple(blocks), language=language)


_BLOB = re.compile(r"[A-Za-z0-9+/=_-]{200,}|(?:[A-Za-z0-9+/]{60,}={0,2}(?:\\n)?){4,}")
"""Encoded data, such as pictures in base64."""

_ESCAPE = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\.")

_WHOLE_ROW = re.compile(r'(?:(?<![^,;|\s])"(?:[^"]|"")*+"|(?<=[^,;|\s])"|[^"]++)*+')
"""A row whose quoted fields are closed; a quotation mark within a field is text, as in 24"."""


def read_table(text: str) -> DocumentText:
    """The rows of CSV or TSV in blocks, each below the header row; no row is cut."""
    rows = [*_rows(split_lines(text))]
    top = _header_at(rows)
    below = below_header(rows[top + 1 :], rows[top : top + 1]) if rows[top + 1 :] else rows[top:]
    return DocumentText((*rows[:top], *below))


def _header_at(rows: Sequence[TextBlock]) -> int:
    """The first row with over half as many filled cells as any; above it banks tell of accounts."""
    bare = [re.sub(r'"[^"]*+"', lambda cell: cell[0].strip('" ')[:1], r.text) for r in rows[:30]]
    mark = max(";\t|,", key=lambda mark: sum(mark in row for row in bare))
    filled = [sum(bool(cell.strip()) for cell in row.split(mark)) for row in bare]
    return next((at for at, count in enumerate(filled) if 2 * count > max(filled)), 0)


def _rows(lines: list[str]) -> Iterator[TextBlock]:
    # Excel may say in a line above what separates: `sep=;`.
    first = 1 if lines[0].lower().startswith("sep=") else 0
    while first < len(lines):
        end, most = first + 1, min(first + 100, len(lines))
        while end < most and not _WHOLE_ROW.fullmatch("\n".join(lines[first:end])):
            end += 1
        row = block_of(lines, first, end, starts_passage=True, is_code=True)
        yield from [row] if row.text.strip() else []
        first = end


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
    for output in cell.get("outputs") or ():
        data = output.get("data", {})
        printed = output.get("text") or data.get("text/markdown") or data.get("text/plain", "")
        if told := _BLOB.sub("", _joined(printed)).strip():
            yield fenced(told)


def _joined(source: Any) -> str:
    return source if isinstance(source, str) else "".join(map(str, source))


def read_cards(text: str) -> DocumentText:
    """The entries of a calendar or an address book, lines unfolded and pictures left out."""
    unfolded = _BLOB.sub("", re.sub(r"\r?\n[ \t]", "", text))
    unescaped = re.sub(r"\\[nN]|\\(.)", lambda sign: sign[1] or " ", unfolded)
    entries = re.sub(r"\n(?=BEGIN:V)", "\n\n", unescaped, flags=re.IGNORECASE)
    return DocumentText(tuple(paragraphs(split_lines(entries), is_code=True)))


_AS_TEXT = HeaderRegistry(use_default_map=False)
"""Python's parser of addresses fails on some that mail programs write."""
# Reading a header takes time quadratic in its length.
_MAIL = policy.EmailPolicy(header_factory=lambda name, value: _AS_TEXT(name, value[:20_000]))

_NAMES = ("From", "To", "Cc", "Date")


def read_mail(content: bytes) -> DocumentText:
    """A message: who wrote to whom, and its text; the subject is the title."""
    try:
        message = message_from_bytes(content, policy=_MAIL)
        reading = read_text(_mail_text(message, _NAMES))
    except RecursionError:
        raise UnreadableDocument("Its parts are nested too deeply.") from None
    date = parse_mail_date(str(message["Date"]))
    return replace(reading, title=str(message["Subject"] or "") or None, date=date)


def parse_mail_date(text: str) -> datetime | None:
    """A date as mail and HTTP write it; None for anything else."""
    try:
        moment = parsedate_to_datetime(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _mail_text(part: Any, names: Sequence[str]) -> str:
    """The headers in *names* and what a reader sees of *part*, without attached files."""
    kind, text = part.get_content_type(), ""
    if part.is_multipart():
        inner = (_mail_text(one, ("Subject", *_NAMES)) for one in part.get_payload())
        texts = [text for text in inner if text.strip()]
        if kind == "multipart/alternative" and texts:
            # Some plain texts only say that there is another.
            texts = [max(texts, key=lambda text: size(text) > 2 * size(texts[0]))]
        text = "\n\n".join(texts)
    elif not str(part["Content-Disposition"]).lower().startswith("attachment"):
        text = _part_text(part, kind)
    head = [f"{name}: {part[name]}" for name in names if part[name]]
    return "\n".join([*head, "", text]) if head and text.strip() else text


def _part_text(part: Any, kind: str) -> str:
    if kind not in {"text/plain", "text/html"}:
        return ""
    try:
        text = str(part.get_content())
    except (LookupError, ValueError, TypeError):  # an encoding that nobody knows
        text = decode_text(bytes(part.get_payload(decode=True) or b""))
    if kind == "text/plain":
        return text
    return "\n\n".join(block.text for block in read_html(text.encode(errors="replace")).blocks)
