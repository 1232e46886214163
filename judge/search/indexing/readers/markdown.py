"""Markdown -> blocks: headings, fences, paragraphs and lists, with the lines they stand on.

Line by line and linear in the length; what it does not know stays part of a paragraph, so that
nothing is lost. (A full parser would give lines too, but 40 times slower.)
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge.search.indexing.readers.text_blocks import DocumentText, TextBlock, block_of, split_lines

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE_OF_FRONT_MATTER = "---"
_TITLE_FIELD = re.compile(r"title:\s*[\"']?(.+?)[\"']?\s*", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()\s]{0,2000}\)")
_MARKS = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)|\s*\{#[\w-]{1,80}\}\s*")


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    text: str


def read_markdown(text: str) -> DocumentText:
    """The blocks of *text*; its title is the first heading of level 1, or the front matter's."""
    lines = split_lines(text)
    front = _front_matter(lines)
    found = list(_blocks(lines, front))
    headings = [heading for _, heading in found if heading and heading.text]
    top = next((heading.text for heading in headings if heading.level == 1), None)
    blocks = list(_with_sections(found))
    if front:
        blocks.insert(0, block_of(lines, 0, front))
    return DocumentText(
        tuple(blocks),
        title=_title_field(lines[:front]) or top,
        chapter=headings[0].text if headings else None,
        language="markdown",
    )


def plain(text: str) -> str:
    """*text* without the marks of links, emphasis and code."""
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", text)).split())


def _with_sections(found: Sequence[tuple[TextBlock, _Heading | None]]) -> Iterator[TextBlock]:
    section: str | None = None
    for block, heading in found:
        if heading:
            section = heading.text or section
        yield TextBlock(
            block.text,
            block.start_line,
            block.end_line,
            section,
            opens=heading is not None,
            heads=heading is not None,
            is_code=block.is_code,
        )


def _blocks(lines: Sequence[str], at: int) -> Iterator[tuple[TextBlock, _Heading | None]]:
    """The blocks from line *at* on, each with the heading that it is."""
    start = at
    while at < len(lines):
        line = lines[at]
        fence = _FENCE.match(line)
        heading = _HEADING.fullmatch(line)
        if start < at and (fence or heading or not line.strip()):
            yield block_of(lines, start, at), None
        if fence:
            end = _end_of_fence(lines, at, fence[1])
            yield block_of(lines, at, end, is_code=True), None
            at = start = end
        elif heading:
            yield block_of(lines, at, at + 1), _Heading(len(heading[1]), plain(heading[2] or ""))
            at = start = at + 1
        elif not line.strip():
            at = start = at + 1
        elif start < at and (underline := _UNDERLINE.fullmatch(line)) and at - start == 1:
            level = 1 if underline[1][0] == "=" else 2
            yield block_of(lines, start, at + 1), _Heading(level, plain(lines[start]))
            at = start = at + 1
        else:
            at += 1
    if start < at:
        yield block_of(lines, start, at), None


def _end_of_fence(lines: Sequence[str], at: int, mark: str) -> int:
    """Behind the line that closes the fence opened at *at*, or behind the last line."""
    for end in range(at + 1, len(lines)):
        closing = lines[end].strip()
        if len(closing) >= len(mark) and not closing.strip(mark[0]):
            return end + 1
    return len(lines)


def _front_matter(lines: Sequence[str]) -> int:
    """How many lines the YAML block at the top has; 0 without one."""
    if lines[0].rstrip() != _RULE_OF_FRONT_MATTER:
        return 0
    for at, line in enumerate(lines[1:200], start=1):
        if line.rstrip() in {_RULE_OF_FRONT_MATTER, "..."}:
            return at + 1
    return 0


def _title_field(lines: Sequence[str]) -> str | None:
    fields = (_TITLE_FIELD.fullmatch(line) for line in lines)
    return next((field[1] for field in fields if field), None)
