"""What every reader returns, and the readers of plain text and of the text of a PDF."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from judge.text.english import sentences
from judge.types.search import PdfText

MAX_TITLE = 160
"""Characters of the longest line that may be the title of a plain text."""

_LINE_END = re.compile(r"\r\n|\r|\n")


class TextBlock(NamedTuple):
    """Lines that belong together: a paragraph, a fence, a heading, a definition.

    `text` is those lines unchanged. `starts_passage` is whether a passage should begin here.
    `section` is the nearest heading or the definition, `chapter` the nearest above that, which may
    be the same but never the title.
    """

    text: str
    start_line: int
    end_line: int
    section: str | None = None
    starts_passage: bool = False
    is_heading: bool = False
    is_code: bool = False
    chapter: str | None = None
    # A tuple, since there are many: a frozen dataclass takes four times as long to make.


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document as read: its blocks in order, and its own metadata."""

    blocks: tuple[TextBlock, ...]
    title: str | None = None
    language: str = ""
    tags: tuple[str, ...] = ()
    date: datetime | None = None


def split_lines(text: str) -> list[str]:
    """The lines as editors count them."""
    return _LINE_END.split(text)


def paragraphs(lines: Sequence[str], *, first: int = 0, **traits: object) -> Iterator[TextBlock]:
    """Each run of nonblank lines from line *first* on, as a block with the fields *traits*."""
    start: int | None = None
    for at in range(first, len(lines) + 1):
        is_blank = at == len(lines) or not lines[at].strip()
        if is_blank and start is not None:
            yield block_of(lines, start, at, **traits)
            start = None
        elif not is_blank and start is None:
            start = at


def block_of(lines: Sequence[str], start: int, end: int, **traits: object) -> TextBlock:
    """`lines[start:end]` as a block."""
    return TextBlock("\n".join(lines[start:end]), start + 1, end, **traits)  # type: ignore[arg-type]


def read_text(text: str) -> DocumentText:
    """Plain text: its paragraphs, and the title that stands alone above them."""
    blocks = tuple(paragraphs(split_lines(text)))
    return DocumentText(blocks, title=_title(blocks))


def read_pages(pdf: PdfText) -> DocumentText:
    """The paragraphs of all pages in order; sections are pages, lines are counted through."""
    lines: list[str] = []
    blocks: list[TextBlock] = []
    for number, page in enumerate(pdf.pages, start=1):
        first = len(lines)
        lines += split_lines(page)
        own = paragraphs(lines, first=first, section=f"Page {number}")
        blocks += [block._replace(starts_passage=at == 0) for at, block in enumerate(own)]
    return DocumentText(tuple(blocks), title=pdf.title)


def _title(blocks: Sequence[TextBlock]) -> str | None:
    """The first paragraph, when it is a single short line; a sentence only above longer text."""
    if len(blocks) < 2 or "\n" in blocks[0].text:
        return None
    line = blocks[0].text.strip()
    is_short = len(line) <= MAX_TITLE and any(c.isalpha() for c in line)
    if not is_short or line[-1] in ",;:!":
        return None
    is_outweighed = sum(len(block.text) for block in blocks[1:]) > 2 * len(line)
    return line if line[-1] != "." or (is_outweighed and len(sentences(line)) == 1) else None
