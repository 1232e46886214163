"""Hits -> numbered sources for assistants; an assistant's reply -> its marks without a source.

[1] manuals/intro.md:10-25
```markdown
…
```
---
Sources: <cite i="1"/>
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from judge.citations.marks import find_cite_marks
from judge.library.extract.text_blocks import fenced
from judge.types.search import Hit, Passage

OPENING = "Based on the indexed files, here are the relevant sections:"
NOTHING = "Based on the indexed files, there are no relevant sections."

_BLOCK = re.compile(r"(?m)^\[(\d{1,6})\] \S.*:\d+-\d+[ \t]*$(?:\n(`{3,}+).*\n(?:.*\n)*?\2[ \t]*$)?")
"""A numbered block: its first line and, if that is closed, its fence."""


@dataclass(frozen=True, slots=True)
class ReplyMark:
    """A citation mark of a reply: its number, None if it is malformed, its text and its line."""

    number: int | None
    text: str
    line: int
    in_range: bool


def format_answer(hits: Sequence[Hit]) -> str:
    """*hits* as numbered blocks, followed by a citation mark for each; ends with a newline."""
    if not hits:
        return f"{NOTHING}\n"
    blocks = [_block(number, hit.passage) for number, hit in enumerate(hits, start=1)]
    marks = " ".join(f'<cite i="{number}"/>' for number in range(1, len(hits) + 1))
    return f"{OPENING}\n\n{''.join(blocks)}---\nSources: {marks}\n"


def count_sources(answer: str) -> int | None:
    """The highest number of a block in *answer*; None if it has no blocks."""
    return max((int(block[1]) for block in _BLOCK.finditer(answer)), default=None)


def reply_marks(reply: str, sources: int) -> list[ReplyMark]:
    """The citation marks in *reply*, outside its blocks, held against *sources*."""
    own_text = _BLOCK.sub(lambda block: "\n" * block[0].count("\n"), reply)  # Lines stay.
    return [
        ReplyMark(
            number := next(iter(mark.numbers), None),
            mark.text,
            own_text.count("\n", 0, mark.start) + 1,
            number is not None and 1 <= number <= sources,
        )
        for mark in find_cite_marks(own_text)
    ]


def _block(number: int, passage: Passage) -> str:
    place = f"{' '.join(passage.path.split())}:{passage.start_line}-{passage.end_line}"
    text = passage.text.rstrip("\n")
    return f"[{number}] {place}\n{fenced(text, passage.language)}\n\n"
