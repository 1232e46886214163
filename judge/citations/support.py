"""How much of a citing sentence does the cited reference carry?"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from judge.citations.marks import Mark
from judge.text.english import Span, content_stems, sentences
from judge.types.judgements import Reference

MIN_CONTENT_WORDS = 3
"""Under three content words a share says nothing."""

Stems = frozenset[str]


@dataclass(frozen=True, slots=True)
class Claim:
    """One number of one mark, with what its sentence says (`stems`) and how it is supported."""

    number: int
    mark: Mark
    stems: Stems
    support: float | None


def claims(text: str, marks: Sequence[Mark], held: Mapping[int, Stems]) -> Iterator[Claim]:
    """The claims that *text* makes with *marks*, each number of each mark being one.

    Support is the share (0 to 1) of the content words in the citing sentence that the reference
    of that number holds, both as stems; marks are no words, and neither are stop words. It is
    None under three content words. *held* are the stems of each cited reference.
    """
    spans = sentences(text) if marks else []
    for mark in marks:
        stems = _stems(text, marks, _around(mark, spans, text))
        for number in mark.numbers:
            yield Claim(number, mark, stems, _share(stems, held[number]))


def held_by(references: Sequence[Reference], cited: Iterable[int]) -> dict[int, Stems]:
    """The content stems of each reference whose number is *cited*."""
    return {number: frozenset(content_stems(references[number - 1].text)) for number in cited}


def _share(stems: Stems, held: Stems) -> float | None:
    if len(stems) < MIN_CONTENT_WORDS:
        return None
    return round(len(stems & held) / len(stems), 2)


def _around(mark: Mark, spans: Sequence[Span], text: str) -> Span:
    """The sentence that holds *mark*."""
    holding = (span for span in spans if span.start <= mark.start and mark.end <= span.end)
    return next(holding, Span(0, len(text)))


def _stems(text: str, marks: Sequence[Mark], sentence: Span) -> Stems:
    """The content stems of *sentence* without its marks."""
    pieces, at = [], sentence.start
    for mark in marks:
        if sentence.start <= mark.start < sentence.end:
            pieces.append(text[at : mark.start])
            at = mark.end
    pieces.append(text[at : sentence.end])
    return frozenset(content_stems(" ".join(pieces)))
