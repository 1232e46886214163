"""The rules for each field of a reply; each yields the defects that break it.

A field is checked only against itself and what precedes it, so that it can be shown while the rest
is still being written.
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
    QuoteBody,
    shorten,
)
from judge.text.english import words
from judge.text.source_sentences import source_sentences
from judge.types.references import Reference
from judge.types.replies import Citation, Defect, Persona, PersonaVerdict


@dataclass(frozen=True, slots=True)
class ReplyField:
    """One field of a reply: its value, and its texts by name."""

    name: str
    """`paraphrase`, `personas.0` and so on, or `summary`."""
    value: str | PersonaVerdict
    citing: Mapping[str, str]
    """The texts that may cite, such as `personas.0.rationale`."""
    plain: Mapping[str, str]
    """The texts that must not."""

    def marks(self) -> "Marks":
        """The citation marks of each text, texts that may cite first."""
        return {name: find_marks(text) for name, text in {**self.citing, **self.plain}.items()}


Marks = Mapping[str, Sequence[Mark]]
"""The citation marks of texts, by the names of the texts."""

NamedSentences = Mapping[int, tuple[str, ...]]
"""The existing sentences that the reply names, by cited number; empty if it names none."""


def named_sentences(
    quotes: Sequence[QuoteBody], cited: Iterable[int], references: Sequence[Reference]
) -> NamedSentences:
    """The sentences of each *cited* reference that *quotes* name, in reading order."""
    return {number: _named(quotes, references[number - 1]) for number in cited}


def _named(quotes: Sequence[QuoteBody], reference: Reference) -> tuple[str, ...]:
    all_sentences = source_sentences(reference.text)
    named = {at for q in quotes if q.number == reference.number for at in q.sentences}
    return tuple(sentence for at, sentence in enumerate(all_sentences, start=1) if at in named)


def paraphrase_field(text: str) -> ReplyField:
    """The paraphrase, which cites nothing."""
    return ReplyField("paraphrase", text, {}, {"paraphrase": text})


def persona_field(index: int, persona: Persona, body: PersonaBody) -> ReplyField:
    """What the *persona* at *index* (from 0) says; its rationale may cite."""
    name = f"personas.{index}"
    points = {f"{name}.key_points.{at}": point for at, point in enumerate(body.key_points)}
    value = PersonaVerdict(persona.name, body.verdict, body.rationale, body.key_points)
    return ReplyField(name, value, {f"{name}.rationale": body.rationale}, points)


def summary_field(text: str) -> ReplyField:
    """The summary, which may cite."""
    return ReplyField("summary", text, {"summary": text}, {})


def citation_defects(marks: Marks, count: int) -> Iterator[Defect]:
    """Hard: in every text, each bracket with a digit must cite one of *count* references."""
    expected = f"a number from 1 to {count}, as [1]" if count else "no number in any bracket"
    for name, text_marks in marks.items():
        for mark in text_marks:
            if mark.is_malformed or not all(1 <= number <= count for number in mark.numbers):
                yield Defect("citation", name, shorten(mark.text), expected, is_hard=True)


def form_defects(field: ReplyField, marks: Marks, prompt_rules: str) -> Iterator[Defect]:
    """Soft: lengths, citations outside brackets or in a text that must not cite, repetition."""
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
        tokens = words(text)
        if repeats_itself(tokens) or repeats_prompt(tokens, prompt_rules):
            yield _soft("repetition", name, shorten(text), "a text that repeats nothing")


def _too_long(name: str, text: str, limit: int) -> Defect:
    return _soft("length", name, f"{len(text)} characters", f"at most {limit} characters")


def evidence_defects(
    marks: Marks, quoted: NamedSentences, references: Sequence[Reference], *, references_help: bool
) -> Iterator[Defect]:
    """Soft: the summary cites if the references help, else nothing does; sentences are named."""
    if references and references_help and not marks.get("summary", True):
        yield _soft("uncited", "summary", "no citation", "at least one [n]")
    if references and not references_help and any(marks.values()):
        yield _soft("unhelpful", "references_help", "false", "true, or no citation at all")
    for number, named in quoted.items():
        if not named:
            count = len(source_sentences(references[number - 1].text))
            expected = f"at least one of the sentences 1 to {count} of reference {number}"
            yield _soft("quote", f"quotes[{number}]", "no such sentence", expected)


def contradiction_defects(citations: Sequence[Citation]) -> Iterator[Defect]:
    """Soft: no citing sentence may contradict the sentences it relies on."""
    for citation in citations:
        if citation.contradicts:
            expected = f"what reference {citation.number} says, not its opposite"
            yield _soft("contradicts", citation.field, f"[{citation.number}]", expected)


def _soft(rule: str, field: str, value: str, expected: str) -> Defect:
    return Defect(rule, field, value, expected, is_hard=False)
