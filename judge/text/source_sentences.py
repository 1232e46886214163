"""The sentences of a source, as they are numbered for a model and held against its claims.

In a text that has lines a heading and a list item end where their line ends.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from judge.text.english import Span, sentences

_OPENS_BLOCK = re.compile(r"[ \t]*(?:#{1,6}[ \t]|[-*+•][ \t]|\d{1,3}[.)][ \t]|[|>]|```|~~~)")
"""A line of Markdown that goes on with nothing above it."""

_LIST_MARKER = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]")


def sentence_spans(text: str) -> tuple[Span, ...]:
    """Where the sentences of *text* stand, in order; what has no word belongs to the one before."""
    spans: list[Span] = []
    for span in sentences(text):
        if spans and not any(c.isalnum() for c in text[span.start : span.end]):
            spans[-1] = Span(spans[-1].start, span.end)
        else:
            spans.append(span)
    return tuple(spans)


@lru_cache(maxsize=512)
def source_sentences(text: str) -> tuple[str, ...]:
    """The sentences of *text* themselves; remembered, as the same pages are cited all day."""
    return tuple(text[span.start : span.end] for span in sentence_spans(text))


def is_heading(sentence: str) -> bool:
    """Whether *sentence*, one of those that `structured_sentences` gives, is a Markdown heading."""
    return _HEADING.match(sentence) is not None


def structured_sentences(text: str) -> tuple[Span, ...]:
    """Where the sentences of *text* stand, in order; what holds no word belongs to the one before.

    Of a single line they are those that `sentence_spans` gives. Linear in the text.
    """
    return tuple(
        Span(block.start + span.start, block.start + span.end)
        for block in _blocks(text)
        for span in sentence_spans(text[block.start : block.end])
    )


def _blocks(text: str) -> Iterator[Span]:
    """The paragraphs, headings and list items of *text*; the marker of an item is no part of it."""
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
