"""What every reader returns, plain text and PDFs as blocks, and blocks -> passages.

Passages have about 200 words and end at natural boundaries. Nothing is lost: together, those of a
document hold every word of its blocks.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Literal, NamedTuple

from judge.text.data import package_data
from judge.text.english import grouped, sentences
from judge.types.search import Passage, PdfText

MAX_TITLE = 160
"""Characters of the longest line that may be the title of a plain text."""


def _is_placeholder(title: str) -> bool:
    """Whether a program wrote *title* by itself, as far as `documents.toml` knows."""
    data = package_data("documents")["titles"]
    numbered, others = ("|".join(data[name]) for name in ("placeholders", "unnumbered"))
    pattern = rf"\W*(?:(?:{numbered})(?:[\s_-]*\d[\d\s_.:-]*)?|[\d\W_]*|{others})\W*"
    return len(title) <= MAX_TITLE and bool(re.fullmatch(pattern, title, re.IGNORECASE))


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


def below_header(rows: Sequence[TextBlock], header: Sequence[TextBlock]) -> Iterator[TextBlock]:
    """*rows* in blocks of about a passage, each below *header*; no row is cut."""
    start = (header or rows)[0].start_line
    for group in grouped(rows, lambda row: size(row.text), TARGET_WORDS):
        text = "\n".join(row.text for row in (*header, *group))
        end = group[-1].end_line
        yield group[0]._replace(text=text, start_line=start, end_line=end, is_code=True)
        start = end + 1
        if sum(size(row.text) for row in header) > TARGET_WORDS // 2:
            header = ()  # The questions of a survey would fill passages of their own.


def fenced(code: str, language: str = "") -> str:
    """*code* between fences that are longer than any in it."""
    longest = max(map(len, re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


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
    if title is None or _is_placeholder(title):
        top = next((line for line in map(str.strip, lines) if not _is_placeholder(line)), ".")
        title = top if _may_be_title(top) and top[-1] != "." else None
    missing = ", ".join(map(str, pdf.damaged))
    warnings = (f"Left out, since damaged: page {missing}.",) if missing else ()
    return DocumentText(tuple(blocks), title=title, warnings=warnings)


def _title(blocks: Sequence[TextBlock]) -> str | None:
    """The first paragraph, when it is a single short line; a sentence only above longer text."""
    text = blocks[0].text.removeprefix("WEBVTT") if len(blocks) > 1 else ""
    line, *more = text.strip("=*-–_~ \t\n").lstrip("# ").split("\n")
    is_underlined = len(more) == 1 and not any(map(str.isalnum, more[0]))
    if (more and not is_underlined) or not _may_be_title(line):
        return None
    is_outweighed = sum(len(block.text) for block in blocks[1:]) > 2 * len(line)
    return line if line[-1] != "." or (is_outweighed and len(sentences(line)) == 1) else None


def _may_be_title(line: str) -> bool:
    is_short = len(line) <= MAX_TITLE and any(c.isalpha() for c in line)
    return is_short and line[-1] not in ",;:!"


TARGET_WORDS = 200
"""Words of a passage, as required: two or three paragraphs."""

MAX_WORDS = 300
"""Words of the longest block that is not split."""

MIN_CODE_WORDS = 30
"""Words; shorter definitions share a passage with the next one."""

_CHARACTERS_A_WORD = 8
"""English has 6 with the space; longer ones, as in Chinese or minified code, count as several."""

_PIECE = re.compile(rf"\s*\S{{1,{TARGET_WORDS * _CHARACTERS_A_WORD}}}|\s+")
"""A word with the white space before it, or a part of a long word."""

_RUNS_ON = re.compile(r"[^\s.!?:;|]\n\s*[a-z(]")
"""The end of a line within a sentence."""


_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)|[@-_])")
"""What colours the text of a log on a terminal."""

PICTURE = r"(?<=data:)[\w.+-]{1,60}/[\w.+-]{1,60};base64,[\w+/=%]+"
"""The content of a picture in an address; one may be longer than the text around it."""

_UNSEEN = dict.fromkeys((0xAD, 0x200B, 0x2060, 0xFEFF))
"""Characters that only say where a line may end: they would hide a word from who looks for it."""


def split_passages(document: DocumentText, template: Passage) -> tuple[Passage, ...]:
    """The passages of *document*, in order; *template* has the fields that they share."""
    return tuple(
        replace(
            template,
            position=position,
            text=_TERMINAL.sub("", _joined(blocks)).translate(_UNSEEN),
            chapter=_nearest(blocks, "chapter") or template.chapter,
            section=_nearest(blocks, "section"),
            language=document.language,
            start_line=blocks[0].start_line,
            end_line=blocks[-1].end_line,
        )
        for position, blocks in enumerate(_grouped_blocks(document.blocks))
    )


def size(text: str) -> int:
    """The length of *text* in words, or in units of _CHARACTERS_A_WORD if those are more."""
    return max(len(text.split()), len(text) // _CHARACTERS_A_WORD)


def _grouped_blocks(blocks: Sequence[TextBlock]) -> Iterator[list[TextBlock]]:
    """The blocks of each passage: a new one where one should begin, or where there is no room."""
    group: list[TextBlock] = []
    words, has_body = 0, False
    for whole in blocks:
        for block, more in _split_block(whole):
            is_enough = words >= MIN_CODE_WORDS if block.is_code else has_body
            is_full = has_body and words + more > TARGET_WORDS
            if group and (is_full or (block.starts_passage and is_enough)):
                yield group
                group, words, has_body = [], 0, False
            group.append(block)
            words += more
            has_body = has_body or not block.is_heading
    if group:
        yield group


def _nearest(blocks: Sequence[TextBlock], kind: Literal["section", "chapter"]) -> str | None:
    """The heading nearest to the text: the last one, if the passage begins with several."""
    body = next((block for block in blocks if not block.is_heading), blocks[-1])
    named: Iterator[str | None] = (getattr(block, kind) for block in (body, *blocks))
    return next(filter(None, named), None)


def _joined(blocks: Sequence[TextBlock]) -> str:
    """The texts with the newlines that separate them in the document, 3 at most."""
    parts = [blocks[0].text]
    for before, block in pairwise(blocks):
        lines = block.start_line - before.end_line
        parts += ["\n" * min(lines, 3) if lines else " ", block.text]
    return "".join(parts)


def _split_block(block: TextBlock) -> Iterator[tuple[TextBlock, int]]:
    """*block*, or its pieces of at most about TARGET_WORDS words if it is too long; with sizes."""
    words = size(block.text)
    if words <= MAX_WORDS:
        yield block, words
        return
    line, starts_passage = block.start_line, block.starts_passage
    for text in map("".join, grouped(_pieces(block), size, TARGET_WORDS)):
        if stripped := text.strip("\n") if text.strip() else "":
            start = line + text[: text.index(stripped)].count("\n")
            piece = block._replace(
                text=stripped,
                start_line=start,
                end_line=start + stripped.count("\n"),
                starts_passage=starts_passage,
                is_heading=False,
            )
            yield piece, size(stripped)
            starts_passage = False
        line += text.count("\n")


def _pieces(block: TextBlock) -> Iterator[str]:
    """The sentences of prose, or the lines of anything else; long ones word by word."""
    text, ends = block.text, block.text.count("\n")
    wholes = text.splitlines(keepends=True)
    if not block.is_code and 3 * len(_RUNS_ON.findall(text)) >= ends:
        starts = [0, *(span.start for span in sentences(text)[1:]), len(text)]
        wholes = [text[start:end] for start, end in pairwise(starts)]
    for whole in wholes:
        yield from [whole] if size(whole) <= TARGET_WORDS else _PIECE.findall(whole)
