"""What a text claims with its citations: the words that each mark stands for, without the marks."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from judge.citations.marks import Mark
from judge.text.english import Span, content_stems, sentences

_SPACE_BEFORE = re.compile(r" (?=[.,;:!?])")

MIN_CONTENT_WORDS = 3
"""A part of a sentence with fewer says nothing alone; its mark then stands for the sentence."""


class Claim(NamedTuple):
    """A mark, and what it is there to carry."""

    mark: Mark
    text: str


class MarkedSentence(NamedTuple):
    """A sentence with the marks that begin in it, and what stands around and between them."""

    span: Span
    marks: Sequence[Mark]
    pieces: Sequence[str]

    @property
    def text(self) -> str:
        """What it says without its marks."""
        return _tidy(" ".join(self.pieces))


def find_claims(text: str, marks: Sequence[Mark]) -> Iterator[Claim]:
    """The claims that *text* makes with *marks*, which are in order, one for each mark.

    A mark carries its sentence. Where a sentence has several with words between them, each carries
    the words since the one before, and the last the words after it too.
    """
    for sentence in mark_sentences(text, sentences(text) if marks else [], marks):
        if len(sentence.marks) == 1:
            yield Claim(sentence.marks[0], sentence.text)
            continue
        for mark, part in zip(sentence.marks, _parts(sentence)):
            is_telling = len(content_stems(part)) >= MIN_CONTENT_WORDS
            yield Claim(mark, part if is_telling else sentence.text)


def mark_sentences(
    text: str, spans: Sequence[Span], marks: Sequence[Mark]
) -> Iterator[MarkedSentence]:
    """Each sentence of *text*, which stand at *spans*, with those of *marks* that begin in it.

    Both are in order, and every mark begins in some sentence. Linear in the text.
    """
    at = 0
    for span in spans:
        first = at
        while at < len(marks) and marks[at].start < span.end:
            at += 1
        inside, pieces, done = marks[first:at], list[str](), span.start
        for mark in inside:
            pieces.append(text[done : mark.start])
            done = max(done, mark.end)
        yield MarkedSentence(span, inside, [*pieces, text[done : span.end]])


def _parts(sentence: MarkedSentence) -> list[str]:
    """The words that each mark of *sentence* is there for; marks side by side share theirs."""
    *before, after = sentence.pieces
    parts: list[str] = []
    group: list[int] = []
    for piece in before:
        if content_stems(piece) or not parts:
            parts.append(piece)
        else:
            parts[-1] += f" {piece}"
        group.append(len(parts) - 1)
    if parts:
        parts[-1] += f" {after}"
    return [_tidy(parts[at]) for at in group]


def _tidy(text: str) -> str:
    return _SPACE_BEFORE.sub("", " ".join(text.split())).lstrip(",;:) ")
