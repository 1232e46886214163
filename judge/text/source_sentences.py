"""The sentences of a source, as they are numbered for the model and compared with its claims.

In a text of several lines a heading or list item ends with its line.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from judge.text.english import Span, sentences

_OPENS_BLOCK = re.compile(r"[ \t]*(?:#{1,6}[ \t]|[-*+•][ \t]|\d{1,3}[.)][ \t]|[|>]|```|~~~)")
"""The start of a Markdown line that does not continue the line above."""

_LIST_MARKER = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]")


def sentence_spans(text: str) -> tuple[Span, ...]:
    """The sentences of *text*, in order; one without letters or digits joins the one before."""
    spans: list[Span] = []
    for span in sentences(text):
        if spans and not any(c.isalnum() for c in text[span.start : span.end]):
            spans[-1] = Span(spans[-1].start, span.end)
        else:
            spans.append(span)
    return tuple(spans)


@lru_cache(maxsize=512)
def source_sentences(text: str) -> tuple[str, ...]:
    """The texts of `sentence_spans`; cached, since the same pages are cited all day."""
    return tuple(text[span.start : span.end] for span in sentence_spans(text))


def is_heading(sentence: str) -> bool:
    """Whether *sentence*, one of `structured_sentences`, is a Markdown heading."""
    return _HEADING.match(sentence) is not None


def structured_sentences(text: str) -> tuple[Span, ...]:
    """As `sentence_spans`, but no sentence goes across two blocks of Markdown *text*.

    The same for a single line. Linear in the text.
    """
    return tuple(
        Span(block.start + span.start, block.start + span.end)
        for block in _blocks(text)
        for span in sentence_spans(text[block.start : block.end])
    )


def _blocks(text: str) -> Iterator[Span]:
    """The paragraphs, headings and list items of *text*; items without their markers."""
    start = at = 0
    is_open = False
    for line in text.splitlines(keepends=True):
        is_blank = not line.strip()
        if is_open and (is_blank or _OPENS_BLOCK.match(line)):
            yield Span(start, at)
            is_open = False
        if not is_open and not is_blank:
            marker = _LIST_MARKER.match(line)
            start, is_open = at + (marker.end() if marker else 0), True
        at += len(line)
        if is_open and _HEADING.match(line):
            yield Span(start, at)
            is_open = False
    if is_open:
        yield Span(start, at)
