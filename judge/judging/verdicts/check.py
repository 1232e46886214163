"""Checks a reply against all rules, hard ones first: shape, then citations, then the soft rules.

The last step before a verdict is sent. Nothing here edits the model's text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from judge.citations.claims import find_claims
from judge.citations.support import SourceReading
from judge.judging.verdicts.reply_schema import QuoteBody, ReplyBody, parse_reply
from judge.judging.verdicts.rules import (
    Marks,
    NamedSentences,
    ReplyField,
    citation_defects,
    contradiction_defects,
    evidence_defects,
    form_defects,
    named_sentences,
    paraphrase_field,
    persona_field,
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

SettledFields = Mapping[str, CheckedField]
"""Fields already shown to the client, which stay, by name. None of them breaks a rule."""

_UNFINISHED: Mapping[FinishReason, str] = {
    "truncated": "a complete reply; keep it shorter",
    "empty": "a reply with text",
    "recitation": "a reply in your own words",
    "other": "a complete reply",
}


@dataclass(frozen=True, slots=True)
class ReplyCheck:
    """The outcome of checking a reply: the reply, None after a hard defect, and all defects."""

    reply: CheckedReply | None
    defects: tuple[Defect, ...]


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What a field is checked against: the prompt, and what the reply says about references."""

    prompt: Prompt
    references_help: bool = False
    quotes: Sequence[QuoteBody] = ()


def check_reply(
    reply: ModelReply,
    prompt: Prompt,
    *,
    needs_verdicts: bool = True,
    settled: SettledFields | None = None,
) -> ReplyCheck:
    """Apply every rule to the *reply* to *prompt*; a defect is data here, never an exception.

    *settled* fields replace those of the reply.
    """
    if reply.finish != "stop":
        expected = _UNFINISHED[reply.finish]
        return _rejected([Defect("unfinished", "reply", reply.finish, expected, is_hard=True)])
    settled = settled or {}
    values = {name: field.value for name, field in settled.items()}
    body, defects = parse_reply(
        reply.text, prompt.personas, needs_verdicts=needs_verdicts, settled=values
    )
    if body is None:
        return _rejected(defects)
    settled_help = settled_references_help(settled, prompt.references)
    references_help = body.references_help if settled_help is None else settled_help
    context = CheckContext(prompt, references_help, body.quotes)
    fields = tuple(
        settled.get(field.name) or check_field(field, context)
        for field in _fields(body, prompt.personas)
    )
    checked = CheckedReply(fields, bool(prompt.references), context.references_help)
    hard = [defect for defect in checked.defects if defect.is_hard]
    return _rejected(hard) if hard else ReplyCheck(checked, checked.defects)


def check_field(field: ReplyField, context: CheckContext) -> CheckedField:
    """*field* with its citations and its defects; soft rules are checked only without hard ones.

    A field without defects may be shown.
    """
    references, marks = context.prompt.references, field.marks()
    hard = tuple(citation_defects(marks, len(references)))
    if hard:
        return CheckedField(field.name, field.value, defects=hard)
    citing = {name: marks[name] for name in field.citing}
    quoted = named_sentences(context.quotes, _cited(citing), references)
    citations = tuple(_citations(field, citing, quoted, references))
    soft = (
        *form_defects(field, marks, context.prompt.rules),
        *evidence_defects(citing, quoted, references, references_help=context.references_help),
        *contradiction_defects(citations),
    )
    return CheckedField(field.name, field.value, citations, soft)


def with_settled_fields(reply: CheckedReply, settled: SettledFields) -> CheckedReply:
    """*reply* with its fields replaced by *settled* ones."""
    settled_help = settled_references_help(settled, reply.has_references)
    return replace(
        reply,
        fields=tuple(settled.get(field.name, field) for field in reply.fields),
        references_help=reply.references_help if settled_help is None else settled_help,
    )


def settled_references_help(settled: SettledFields, references: object) -> bool | None:
    """Whether the *references* help according to *settled* fields; None if these leave it open."""
    if any(field.citations for field in settled.values()):
        return True
    return False if references and "summary" in settled else None


def _fields(body: ReplyBody, personas: Sequence[Persona]) -> Iterator[ReplyField]:
    yield paraphrase_field(body.paraphrase)
    for index, (persona, part) in enumerate(zip(personas, body.personas)):
        yield persona_field(index, persona, part)
    yield summary_field(body.summary)


def _rejected(defects: Sequence[Defect]) -> ReplyCheck:
    return ReplyCheck(None, tuple(defects))


def _cited(marks: Marks) -> list[int]:
    """The distinct numbers cited in any text, in ascending order."""
    return sorted({n for text_marks in marks.values() for mark in text_marks for n in mark.numbers})


def _citations(
    field: ReplyField, marks: Marks, quoted: NamedSentences, references: Sequence[Reference]
) -> Iterator[Citation]:
    """A citation for every number of every mark, quoting the sentence that best supports its claim.

    If the reply names no sentence, support is measured over the whole reference.
    """
    readings = {
        number: _reading(named or source_sentences(references[number - 1].text))
        for number, named in quoted.items()
    }
    for name, text in field.citing.items():
        for claim in find_claims(text, marks[name]):
            for number in claim.mark.numbers:
                named, support = quoted[number], readings[number].support(claim.text)
                yield Citation(
                    number=number,
                    field=name,
                    start=claim.mark.start,
                    end=claim.mark.end,
                    quote=named[support.sentence or 0].removesuffix(" …") if named else None,
                    quote_status="verified" if named else "none",
                    support=support.score,
                    contradicts=bool(named) and support.contradicts,
                )


@lru_cache(maxsize=512)
def _reading(sentences: tuple[str, ...]) -> SourceReading:
    """Cached: the same few sentences of the same few pages are cited again and again."""
    return SourceReading.of(sentences)
