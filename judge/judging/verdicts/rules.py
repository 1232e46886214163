"""The rules that a reply of the right shape must keep, each as the defects that break it."""

from collections.abc import Iterator, Mapping, Sequence

from judge.citations.marks import Mark, find_bare_citations, find_marks
from judge.judging.verdicts.pointers import PointedSentences
from judge.judging.verdicts.repetition import repeats_itself, repeats_prompt
from judge.judging.verdicts.reply_schema import (
    KEY_POINT_LIMIT,
    PARAPHRASE_LIMIT,
    PROSE_LIMIT,
    ReplyBody,
    shorten,
)
from judge.text.source_sentences import sentence_spans
from judge.types.judgements import Citation, Defect, Reference

Marks = Mapping[str, Sequence[Mark]]
"""The marks of each text in which a citation may stand, by field name."""


def prose(body: ReplyBody) -> dict[str, str]:
    """The texts in which a citation may stand, by field name."""
    rationales = {f"personas.{i}.rationale": p.rationale for i, p in enumerate(body.personas)}
    return {"summary": body.summary} | rationales


def _plain_texts(body: ReplyBody) -> dict[str, str]:
    """The texts in which no citation belongs, by field name."""
    return {"paraphrase": body.paraphrase} | {
        f"personas.{i}.key_points.{j}": point
        for i, persona in enumerate(body.personas)
        for j, point in enumerate(persona.key_points)
    }


def citation_defects(body: ReplyBody, marks: Marks, count: int) -> Iterator[Defect]:
    """Hard: every bracket that holds a digit cites one of *count* references, in any text."""
    expected = f"a number from 1 to {count}, as [1]" if count else "no number in any bracket"
    elsewhere = {field: find_marks(text) for field, text in _plain_texts(body).items()}
    for field, found in {**marks, **elsewhere}.items():
        for mark in found:
            if mark.is_malformed or not all(1 <= number <= count for number in mark.numbers):
                yield Defect("citation", field, shorten(mark.text), expected, is_hard=True)


def form_defects(body: ReplyBody, instructions: str) -> Iterator[Defect]:
    """Soft: lengths, citations outside brackets or where none belongs, and repetition."""
    texts = prose(body)
    yield from _length_defects({field: (text, PROSE_LIMIT) for field, text in texts.items()})
    plain = _plain_texts(body)
    limits = {
        field: (text, PARAPHRASE_LIMIT if field == "paraphrase" else KEY_POINT_LIMIT)
        for field, text in plain.items()
    }
    yield from _length_defects(limits)
    for field, text in texts.items():
        for bare in find_bare_citations(text):
            yield _soft("bare", field, shorten(bare), "a citation in square brackets, as [1]")
    for field, text in plain.items():
        for mark in find_marks(text):
            yield _soft("misplaced", field, shorten(mark.text), "no citation in this text")
    for field, text in (texts | plain).items():
        if repeats_itself(text) or repeats_prompt(text, instructions):
            yield _soft("repetition", field, shorten(text), "a text that repeats nothing")


def _length_defects(texts: Mapping[str, tuple[str, int]]) -> Iterator[Defect]:
    for field, (text, limit) in texts.items():
        if len(text) > limit:
            yield _soft("length", field, f"{len(text)} characters", f"at most {limit} characters")


def evidence_defects(
    body: ReplyBody, marks: Marks, pointed: PointedSentences, references: Sequence[Reference]
) -> Iterator[Defect]:
    """Soft: what is said to help is cited, and each cited reference has a sentence named."""
    is_cited = any(marks.values())
    if references and body.references_help and not marks["summary"]:
        yield _soft("uncited", "summary", "no citation", "at least one [n]")
    if references and not body.references_help and is_cited:
        yield _soft("unhelpful", "references_help", "false", "true, or no citation at all")
    for number, named in pointed.items():
        if not named:
            count = len(sentence_spans(references[number - 1].text))
            expected = f"at least one of the sentences 1 to {count} of reference {number}"
            yield _soft("quote", f"quotes[{number}]", "no such sentence", expected)


def contradiction_defects(citations: Sequence[Citation]) -> Iterator[Defect]:
    """Soft: no citing sentence says the opposite of the sentences it relies on."""
    for citation in citations:
        if citation.contradicts:
            expected = f"what reference {citation.number} says, not its opposite"
            yield _soft("contradicts", citation.field, f"[{citation.number}]", expected)


def _soft(rule: str, field: str, value: str, expected: str) -> Defect:
    return Defect(rule, field, value, expected, is_hard=False)
