"""Blocks -> passages of about 200 words at natural boundaries, with their lines and headings.

Nothing is lost: together, the passages of a document hold every word of its blocks.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from judge.library.extract.text_blocks import DocumentText, TextBlock
from judge.text.english import sentences
from judge.types.search import Passage

TARGET_WORDS = 200
"""Words of a passage, as required: two or three paragraphs."""

MAX_WORDS = 300
"""Words of the longest block that is not split."""

MIN_CODE_WORDS = 30
"""Words; shorter definitions share a passage with the next one."""

_CHARACTERS_A_WORD = 8
"""English has 6 with the space; longer ones, as in Chinese or minified code, count as several."""

_LONGEST = TARGET_WORDS * _CHARACTERS_A_WORD
_PIECE = re.compile(rf"\s{{0,{_LONGEST}}}+\S{{1,{_LONGEST}}}\s{{0,{_LONGEST}}}+|\s{{1,{_LONGEST}}}")
"""A word with the white space around it, or a part of a long word or of long white space."""


@dataclass(slots=True)
class _PassageBuilder:
    """Collects the blocks of one passage."""

    blocks: list[TextBlock] = field(default_factory=list)
    words: int = 0
    has_body: bool = False

    def has_room_for(self, block: TextBlock, words: int) -> bool:
        if not self.blocks:
            return True
        if block.starts_passage and self._is_enough(block):
            return False
        return not self.has_body or self.words + words <= TARGET_WORDS

    def _is_enough(self, block: TextBlock) -> bool:
        return self.words >= MIN_CODE_WORDS if block.is_code else self.has_body

    def add(self, block: TextBlock, words: int) -> None:
        self.blocks.append(block)
        self.words += words
        self.has_body = self.has_body or not block.is_heading


def split_passages(document: DocumentText, template: Passage) -> tuple[Passage, ...]:
    """The passages of *document*, in order; *template* has the fields that they share."""
    return tuple(
        replace(
            template,
            position=position,
            text=_joined(blocks),
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
    passage = _PassageBuilder()
    for whole in blocks:
        for block, words in _split_block(whole):
            if not passage.has_room_for(block, words):
                yield passage.blocks
                passage = _PassageBuilder()
            passage.add(block, words)
    if passage.blocks:
        yield passage.blocks


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
    line = block.start_line
    for number, text in enumerate(_joined_pieces(_pieces(block))):
        shown = text.strip("\n")
        start = line + text[: len(text) - len(text.lstrip("\n"))].count("\n")
        end = start + shown.count("\n")
        line += text.count("\n")
        if shown.strip():
            piece = block._replace(
                text=shown,
                start_line=start,
                end_line=end,
                starts_passage=block.starts_passage and number == 0,
                is_heading=False,
            )
            yield piece, size(shown)


def _joined_pieces(pieces: Iterator[str]) -> Iterator[str]:
    """*pieces* joined to texts of at most TARGET_WORDS words."""
    group: list[str] = []
    words = 0
    for piece in pieces:
        more = size(piece)
        if group and words + more > TARGET_WORDS:
            yield "".join(group)
            group, words = [], 0
        group.append(piece)
        words += more
    yield "".join(group)


def _pieces(block: TextBlock) -> Iterator[str]:
    """The sentences of prose or the lines of code; those over TARGET_WORDS, word by word.

    Joined they are the block's text.
    """
    wholes = block.text.splitlines(keepends=True) if block.is_code else _sentences(block.text)
    for whole in wholes:
        if size(whole) <= TARGET_WORDS:
            yield whole
        else:
            yield from _PIECE.findall(whole)


def _sentences(text: str) -> Iterator[str]:
    starts = [span.start for span in sentences(text)][1:]
    for start, end in zip([0, *starts], [*starts, len(text)], strict=True):
        yield text[start:end]
