"""The rules that each field of a reply must keep, as the defects that break them.

A field is held against itself and against what came before it, so that it can be shown while the
rest is still being written.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from judge.citations.marks import Mark, find_bare_citations, find_marks
from judge.judging.verdicts.repetition import repeats_itself, repeats_prompt
from judge.judging.verdicts.reply_schema import (
    KEY_POINT_LIMIT,
    PARAPHRASE_LIMIT,
    PROSE_LIMIT,
    PersonaBody,
    PointerBody,
    shorten,
)
from judge.text.english import words
from judge.text.source_sentences import source_sentences
from judge.types.references import Reference
from judge.types.replies import Citation, Defect, Persona, PersonaVerdict


@dataclass(frozen=True, slots=True)
class ReplyField:
    """One field of a reply: what it says, and its texts, each under a name of its own."""

    name: str
    """`paraphrase`, `personas.0` and so on, or `summary`."""
    value: str | PersonaVerdict
    citing: Mapping[str, str]
    """The texts in which a citation may stand, such as `personas.0.rationale`."""
    plain: Mapping[str, str]
    """Those in which none belongs."""

    def marks(self) -> "Marks":
        """The marks of each text, those first that may cite."""
        return {name: find_marks(text) for name, text in {**self.citing, **self.plain}.items()}


Marks = Mapping[str, Sequence[Mark]]
"""The marks of texts, by their names."""


PointedSentences = Mapping[int, tuple[str, ...]]
"""For each cited number the sentences named for it that exist; none when none was."""


def pointed_sentences(
    pointers: Sequence[PointerBody], cited: Iterable[int], references: Sequence[Reference]
) -> PointedSentences:
    """The sentences that *pointers* name of each *cited* reference, in reading order."""
    return {number: _named(pointers, references[number - 1]) for number in cited}


def _named(pointers: Sequence[PointerBody], reference: Reference) -> tuple[str, ...]:
    there = source_sentences(reference.text)
    named = {at for p in pointers if p.number == reference.number for at in p.sentences}
    return tuple(sentence for at, sentence in enumerate(there, start=1) if at in named)


def paraphrase_field(text: str) -> ReplyField:
    """The paraphrase, which cites nothing."""
    return ReplyField("paraphrase", text, {}, {"paraphrase": text})


def persona_field(index: int, persona: Persona, said: PersonaBody) -> ReplyField:
    """What the *persona* at *index* says, from 0; its rationale may cite."""
    name = f"personas.{index}"
    points = {f"{name}.key_points.{at}": point for at, point in enumerate(said.key_points)}
    value = PersonaVerdict(persona.name, said.verdict, said.rationale, said.key_points)
    return ReplyField(name, value, {f"{name}.rationale": said.rationale}, points)


def summary_field(text: str) -> ReplyField:
    """The summary, which may cite."""
    return ReplyField("summary", text, {"summary": text}, {})


def citation_defects(marks: Marks, count: int) -> Iterator[Defect]:
    """Hard: every bracket that holds a digit cites one of *count* references, in any text."""
    expected = f"a number from 1 to {count}, as [1]" if count else "no number in any bracket"
    for name, found in marks.items():
        for mark in found:
            if mark.is_malformed or not all(1 <= number <= count for number in mark.numbers):
                yield Defect("citation", name, shorten(mark.text), expected, is_hard=True)


def form_defects(field: ReplyField, marks: Marks, instructions: str) -> Iterator[Defect]:
    """Soft: lengths, citations outside brackets or where none belongs, and repetition."""
    for name, text in field.citing.items():
        if len(text) > PROSE_LIMIT:
            yield _too_long(name, text, PROSE_LIMIT)
        for bare in find_bare_citations(text):
            yield _soft("bare", name, shorten(bare), "a citation in square brackets, as [1]")
    limit = PARAPHRASE_LIMIT if field.name == "paraphrase" else KEY_POINT_LIMIT
    for name, text in field.plain.items():
        if len(text) > limit:
            yield _too_long(name, text, limit)
        for mark in marks[name]:
            yield _soft("misplaced", name, shorten(mark.text), "no citation in this text")
    for name, text in {**field.citing, **field.plain}.items():
        found = words(text)
        if repeats_itself(found) or repeats_prompt(found, instructions):
            yield _soft("repetition", name, shorten(text), "a text that repeats nothing")


def _too_long(name: str, text: str, limit: int) -> Defect:
    return _soft("length", name, f"{len(text)} characters", f"at most {limit} characters")


def evidence_defects(
    marks: Marks, pointed: PointedSentences, references: Sequence[Reference], *, helps: bool
) -> Iterator[Defect]:
    """Soft: a summary cites what *helps*, nothing else does, and sentences are named."""
    if references and helps and not marks.get("summary", True):
        yield _soft("uncited", "summary", "no citation", "at least one [n]")
    if references and not helps and any(marks.values()):
        yield _soft("unhelpful", "references_help", "false", "true, or no citation at all")
    for number, named in pointed.items():
        if not named:
            count = len(source_sentences(references[number - 1].text))
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
