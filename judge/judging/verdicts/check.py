"""Check a reply against all our rules, hard ones first: shape, citations, then what is soft.

The last step before a verdict leaves the house. Nothing here edits what the model said.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from judge.citations.claims import find_claims
from judge.citations.support import SourceReading
from judge.judging.verdicts.reply_schema import PointerBody, ReplyBody, parse_reply
from judge.judging.verdicts.rules import (
    Marks,
    PointedSentences,
    ReplyField,
    citation_defects,
    contradiction_defects,
    evidence_defects,
    form_defects,
    paraphrase_field,
    persona_field,
    pointed_sentences,
    summary_field,
)
from judge.text.source_sentences import source_sentences
from judge.types.references import Reference
from judge.types.replies import (
    CheckedField,
    CheckedReply,
    Citation,
    Defect,
    FinishReason,
    ModelReply,
    Persona,
    Prompt,
)

Settled = Mapping[str, CheckedField]
"""Fields that were shown and stay, by name. None of them breaks a rule."""

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


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What a field is held against: the prompt, and what its reply says of the references."""

    prompt: Prompt
    helps: bool
    pointers: Sequence[PointerBody]


def check_reply(
    reply: ModelReply,
    prompt: Prompt,
    *,
    personas: Sequence[Persona],
    needs_verdicts: bool = True,
    settled: Settled | None = None,
) -> Checked:
    """Apply every rule to the *reply* to *prompt*; a defect is data here, never an exception.

    Where a field is *settled* it counts, and not what the reply says in its place.
    """
    if reply.finish != "stop":
        expected = _UNFINISHED[reply.finish]
        return _rejected([Defect("unfinished", "reply", reply.finish, expected, is_hard=True)])
    settled = settled or {}
    said = {name: one.value for name, one in settled.items()}
    body, defects = parse_reply(reply.text, personas, needs_verdicts=needs_verdicts, settled=said)
    if body is None:
        return _rejected(defects)
    helps = settled_help(settled, prompt.references)
    context = CheckContext(prompt, body.references_help if helps is None else helps, body.quotes)
    fields = tuple(
        settled.get(field.name) or check_field(field, context) for field in _fields(body, personas)
    )
    checked = CheckedReply(fields, bool(prompt.references), context.helps)
    broken = checked.defects
    hard = [defect for defect in broken if defect.is_hard]
    return _rejected(hard) if hard else Checked(checked, broken)


def check_field(field: ReplyField, context: CheckContext) -> CheckedField:
    """*field* with its citations and every rule that it breaks; a hard defect is looked for first.

    It may be shown when there is none.
    """
    references, marks = context.prompt.references, field.marks()
    hard = tuple(citation_defects(marks, len(references)))
    if hard:
        return CheckedField(field.name, field.value, defects=hard)
    citing = {name: marks[name] for name in field.citing}
    pointed = pointed_sentences(context.pointers, _cited(citing), references)
    citations = tuple(_citations(field, citing, pointed, references))
    soft = (
        *form_defects(field, marks, context.prompt.instructions),
        *evidence_defects(citing, pointed, references, helps=context.helps),
        *contradiction_defects(citations),
    )
    return CheckedField(field.name, field.value, citations, soft)


def with_settled(reply: CheckedReply, settled: Settled) -> CheckedReply:
    """*reply* with each *settled* field in the place of its own."""
    helps = settled_help(settled, reply.has_references)
    return replace(
        reply,
        fields=tuple(settled.get(field.name, field) for field in reply.fields),
        references_help=reply.references_help if helps is None else helps,
    )


def settled_help(settled: Settled, references: object) -> bool | None:
    """Whether *references*, if there are any, help, as far as *settled* fields have said it."""
    if any(field.citations for field in settled.values()):
        return True
    return False if references and "summary" in settled else None


def _fields(body: ReplyBody, personas: Sequence[Persona]) -> Iterator[ReplyField]:
    yield paraphrase_field(body.paraphrase)
    for index, (persona, said) in enumerate(zip(personas, body.personas)):
        yield persona_field(index, persona, said)
    yield summary_field(body.summary)


def _rejected(defects: Sequence[Defect]) -> Checked:
    return Checked(None, tuple(defects))


def _cited(marks: Marks) -> list[int]:
    """Every number cited anywhere, once, in ascending order."""
    return sorted({n for found in marks.values() for mark in found for n in mark.numbers})


def _citations(
    field: ReplyField, marks: Marks, pointed: PointedSentences, references: Sequence[Reference]
) -> Iterator[Citation]:
    """Every number of every mark, with the sentence that carries most of what it claims.

    Where no sentence is named, support is measured over the whole reference.
    """
    readings = {
        number: _reading(named or source_sentences(references[number - 1].text))
        for number, named in pointed.items()
    }
    for name, text in field.citing.items():
        for claim in find_claims(text, marks[name]):
            for number in claim.mark.numbers:
                named, held = pointed[number], readings[number].support(claim.text)
                yield Citation(
                    number=number,
                    field=name,
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
