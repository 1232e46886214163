"""Check a reply against all our rules, hard ones first: shape, citations, then what is soft.

The last step before a verdict leaves the house. Nothing here edits what the model said.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from judge.citations.claims import find_claims
from judge.citations.marks import find_marks
from judge.citations.support import SourceReading
from judge.judging.verdicts.pointers import PointedSentences, pointed_sentences
from judge.judging.verdicts.reply_schema import ReplyBody, parse_reply
from judge.judging.verdicts.rules import (
    Marks,
    citation_defects,
    contradiction_defects,
    evidence_defects,
    form_defects,
    prose,
)
from judge.text.source_sentences import source_sentences
from judge.types.judgements import (
    CheckedReply,
    Citation,
    Defect,
    Evidence,
    FinishReason,
    ModelReply,
    Persona,
    PersonaVerdict,
    Prompt,
    Reference,
)

_UNFINISHED: Mapping[FinishReason, str] = {
    "truncated": "a complete reply; keep it shorter",
    "empty": "a reply with text",
    "recitation": "a reply in your own words",
    "other": "a complete reply",
}


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of a reply: the verdict, unless a hard defect forbids it, and every defect."""

    reply: CheckedReply | None
    defects: tuple[Defect, ...]


def check_reply(
    reply: ModelReply, prompt: Prompt, *, personas: Sequence[Persona], needs_verdicts: bool = True
) -> Checked:
    """Apply every rule to the *reply* to *prompt*; a defect is data here, never an exception."""
    if reply.finish != "stop":
        expected = _UNFINISHED[reply.finish]
        return _rejected([Defect("unfinished", "reply", reply.finish, expected, is_hard=True)])
    body, defects = parse_reply(reply.text, personas, needs_verdicts=needs_verdicts)
    if body is None:
        return _rejected(defects)
    references = prompt.references
    marks = {field: find_marks(text) for field, text in prose(body).items()}
    defects = list(citation_defects(body, marks, len(references)))
    if defects:
        return _rejected(defects)
    pointed = pointed_sentences(body.quotes, _cited(marks), references)
    citations = tuple(_citations(body, marks, pointed, references))
    soft = (
        *form_defects(body, prompt.instructions),
        *evidence_defects(body, marks, pointed, references),
        *contradiction_defects(citations),
    )
    checked = CheckedReply(
        paraphrase=body.paraphrase,
        summary=body.summary,
        personas=_persona_verdicts(body, personas),
        citations=citations,
        evidence=_evidence(body, marks, pointed, has_references=bool(references)),
        defects=soft,
    )
    return Checked(checked, soft)


def _rejected(defects: Sequence[Defect]) -> Checked:
    return Checked(None, tuple(defects))


def _cited(marks: Marks) -> list[int]:
    """Every number cited anywhere, once, in ascending order."""
    return sorted({n for found in marks.values() for mark in found for n in mark.numbers})


def _evidence(
    body: ReplyBody, marks: Marks, pointed: PointedSentences, *, has_references: bool
) -> Evidence:
    if not has_references:
        return "none"
    if not body.references_help and not any(marks.values()):
        return "not_applicable"
    if not marks["summary"]:
        return "missing"
    return "grounded" if all(pointed.values()) else "unverified"


def _citations(
    body: ReplyBody, marks: Marks, pointed: PointedSentences, references: Sequence[Reference]
) -> Iterator[Citation]:
    """Every number of every mark, with the sentence that carries most of what it claims.

    Where no sentence is named, support is measured over the whole reference.
    """
    for field, text in prose(body).items():
        for claim in find_claims(text, marks[field]):
            for number in claim.mark.numbers:
                named = pointed[number]
                source = named or source_sentences(references[number - 1].text)
                held = _reading(source).support(claim.text)
                yield Citation(
                    number=number,
                    field=field,
                    start=claim.mark.start,
                    end=claim.mark.end,
                    quote=named[held.sentence or 0] if named else None,
                    quote_status="verified" if named else "none",
                    support=held.score,
                    contradicts=bool(named) and held.contradicts,
                )


@lru_cache(maxsize=512)
def _reading(sentences: tuple[str, ...]) -> SourceReading:
    """Remembered: the same few sentences of the same few pages are cited all day."""
    return SourceReading.of(sentences)


def _persona_verdicts(body: ReplyBody, personas: Sequence[Persona]) -> tuple[PersonaVerdict, ...]:
    return tuple(
        PersonaVerdict(persona.name, said.verdict, said.rationale, said.key_points)
        for persona, said in zip(personas, body.personas, strict=True)
    )
