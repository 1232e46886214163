"""Blocks -> passages of about 200 words on natural borders, with their lines and headings.

Nothing is lost: the passages of a document, one after another, hold every word of its blocks.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from judge.search.indexing.readers.text_blocks import DocumentText, TextBlock
from judge.text.english import sentences
from judge.types.search import Passage

TARGET_WORDS = 200
"""Words of a passage, as asked of us: two or three paragraphs."""

MAX_WORDS = 300
"""Words that are kept together when they are one block."""

MIN_CODE_WORDS = 30
"""Words; shorter definitions share a passage with the next one."""

_CHARACTERS_A_WORD = 8
"""English has 6 with the space. Where there are more, such as Chinese or packed code, these count.
"""

_OWN = frozenset("position text chapter section language start_line end_line".split())
"""What passages of a document do not share."""

_PIECE = re.compile(rf"\s*\S{{1,{TARGET_WORDS * _CHARACTERS_A_WORD}}}\s*")
"""A word with the white space around it, or a part of a long one."""


@dataclass(slots=True)
class _PassageBlocks:
    """The blocks of the passage that is being put together."""

    blocks: list[TextBlock] = field(default_factory=list)
    words: int = 0
    has_body: bool = False

    def has_room_for(self, block: TextBlock, words: int) -> bool:
        if not self.blocks:
            return True
        if block.opens and self._is_enough(block):
            return False
        return not self.has_body or self.words + words <= TARGET_WORDS

    def _is_enough(self, block: TextBlock) -> bool:
        return self.words >= MIN_CODE_WORDS if block.is_code else self.has_body

    def add(self, block: TextBlock, words: int) -> None:
        self.blocks.append(block)
        self.words += words
        self.has_body = self.has_body or not block.heads


def split_passages(document: DocumentText, template: Passage) -> tuple[Passage, ...]:
    """The passages of *document*, in order; what they have in common is that of *template*."""
    # `dataclasses.replace` takes as long as all the rest.
    shared = {name: getattr(template, name) for name in Passage.__slots__ if name not in _OWN}
    return tuple(
        Passage(
            **shared,
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
    """How long *text* is, in words or what is as long as one."""
    return max(len(text.split()), len(text) // _CHARACTERS_A_WORD)


def _grouped_blocks(blocks: Sequence[TextBlock]) -> Iterator[list[TextBlock]]:
    passage = _PassageBlocks()
    for whole in blocks:
        for block, words in _small_enough(whole):
            if not passage.has_room_for(block, words):
                yield passage.blocks
                passage = _PassageBlocks()
            passage.add(block, words)
    if passage.blocks:
        yield passage.blocks


def _nearest(blocks: Sequence[TextBlock], kind: Literal["section", "chapter"]) -> str | None:
    """The heading that is nearest to the text: of several on top the last one."""
    body = next((block for block in blocks if not block.heads), blocks[-1])
    named: Iterator[str | None] = (getattr(block, kind) for block in (body, *blocks))
    return next(filter(None, named), None)


def _joined(blocks: Sequence[TextBlock]) -> str:
    """The texts with as many line ends between them as there are lines."""
    parts = [blocks[0].text]
    for before, block in pairwise(blocks):
        lines = block.start_line - before.end_line
        parts += ["\n" * min(lines, 3) if lines else " ", block.text]
    return "".join(parts)


def _small_enough(block: TextBlock) -> Iterator[tuple[TextBlock, int]]:
    """*block*, or its pieces of at most about TARGET_WORDS words if it is too long; with sizes."""
    words = size(block.text)
    if words <= MAX_WORDS:
        yield block, words
        return
    line = block.start_line
    for number, text in enumerate(_grouped(_pieces(block))):
        shown = text.strip("\n")
        start = line + text[: len(text) - len(text.lstrip("\n"))].count("\n")
        end = start + shown.count("\n")
        line += text.count("\n")
        if shown.strip():
            piece = block._replace(
                text=shown,
                start_line=start,
                end_line=end,
                opens=block.opens and number == 0,
                heads=False,
            )
            yield piece, size(shown)


def _grouped(pieces: Iterator[str]) -> Iterator[str]:
    """Neighbours together as long as they stay within TARGET_WORDS words."""
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
    """The sentences of prose or the lines of code; what is too long still, word by word.

    Put together they are the block's text.
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
