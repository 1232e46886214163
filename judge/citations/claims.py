"""What a text claims with its citations: the words that each mark stands for, without the marks."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge.citations.marks import Mark
from judge.text.english import Span, content_stems, sentences

_SPACE_BEFORE = re.compile(r" (?=[.,;:!?])")

MIN_CONTENT_WORDS = 3
"""A part of a sentence with fewer says nothing alone; its mark then stands for the sentence."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A mark, and what it is there to carry."""

    mark: Mark
    text: str


def find_claims(text: str, marks: Sequence[Mark]) -> Iterator[Claim]:
    """The claims that *text* makes with *marks*, one for each mark.

    A mark carries its sentence. Where a sentence has several with words between them, each carries
    the words since the one before, and the last the words after it too.
    """
    spans = sentences(text) if marks else []
    for mark in marks:
        sentence = _around(mark, spans, text)
        inside = [m for m in marks if sentence.start <= m.start and m.end <= sentence.end]
        yield Claim(mark, _part(text, sentence, inside, mark))


def _around(mark: Mark, spans: Sequence[Span], text: str) -> Span:
    """The sentence that holds *mark*."""
    holding = (span for span in spans if span.start <= mark.start and mark.end <= span.end)
    return next(holding, Span(0, len(text)))


def _part(text: str, sentence: Span, marks: Sequence[Mark], mark: Mark) -> str:
    """The words of *sentence* that *mark* is there for."""
    ends = [sentence.start, *(m.end for m in marks)]
    starts = [*(m.start for m in marks), sentence.end]
    pieces = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    parts: list[str] = []
    for piece in pieces[:-1]:
        # Marks side by side carry the same words.
        parts.append(piece if content_stems(piece) or not parts else parts[-1])
    last = parts[-1]
    parts = [f"{part} {pieces[-1]}" if part is last else part for part in parts]
    own = parts[marks.index(mark)]
    chosen = own if len(content_stems(own)) >= MIN_CONTENT_WORDS else " ".join(pieces)
    return _SPACE_BEFORE.sub("", " ".join(chosen.split())).lstrip(",;:) ")
