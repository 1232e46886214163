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

_PLACEHOLDER = re.compile(
    r"""\W*(?:
    (?:untitled|unnamed|unknown|anonymous|none|null|unbenannt|ohne\ titel|sans\ titre|无标题|無題
      |(?:insert\ )?title(?:\ here)?|(?:untitled\ |new\ |word\ )?document|dokument
      |(?:powerpoint\ )?presentation|slide|print|layout|default|blank|template|scan|no\ job\ name
      |full\ page\ photo)[\s_-]*\d*
    |(?:microsoft|libreoffice|openoffice)(?:\ \w+)?(?:\ -\ .*)?
    |[\d\W_]*
    |.*\.(?:docx?|pdf|odt|rtf|indd|qxd|pptx?|xlsx?|tex|dvi|ps|html?|txt|pages|md)
    )\W*""",
    re.IGNORECASE | re.VERBOSE,
)
"""Titles that programs write into a PDF by themselves."""

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
    warnings: tuple[str, ...] = ()
    """Sentences on what of it could not be read."""


def split_lines(text: str) -> list[str]:
    """The lines as editors count them."""
    return _LINE_END.split(text)


def paragraphs(lines: Sequence[str], *, first: int = 0, **traits: object) -> Iterator[TextBlock]:
    """Each run of nonblank lines from line *first* on, as a block with the fields *traits*."""
    start = first
    for at in range(first, len(lines) + 1):
        if at == len(lines) or not lines[at].strip():
            if start < at:
                yield block_of(lines, start, at, **traits)
            start = at + 1


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
    title = pdf.title
    if title is None or (len(title) <= MAX_TITLE and _PLACEHOLDER.fullmatch(title)):
        title = _first_heading(pdf.pages)
    missing = ", ".join(map(str, pdf.damaged))
    warnings = (f"Left out, since damaged: page {missing}.",) if missing else ()
    return DocumentText(tuple(blocks), title=title, warnings=warnings)


def _first_heading(pages: Sequence[str]) -> str | None:
    """The first line of the text, if it may be a heading."""
    line = next((line.strip() for page in pages for line in page.splitlines() if line.strip()), "")
    return line if _may_be_title(line) and line[-1] != "." else None


def _title(blocks: Sequence[TextBlock]) -> str | None:
    """The first paragraph, when it is a single short line; a sentence only above longer text."""
    if len(blocks) < 2 or "\n" in blocks[0].text:
        return None
    line = blocks[0].text.strip()
    if not _may_be_title(line):
        return None
    is_outweighed = sum(len(block.text) for block in blocks[1:]) > 2 * len(line)
    return line if line[-1] != "." or (is_outweighed and len(sentences(line)) == 1) else None


def _may_be_title(line: str) -> bool:
    is_short = len(line) <= MAX_TITLE and any(c.isalpha() for c in line)
    return is_short and line[-1] not in ",;:!"
