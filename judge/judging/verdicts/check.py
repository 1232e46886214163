"""Check a reply against all our rules, hard ones first: shape, citations, lengths, quotes.

The last step before a verdict leaves the house. Nothing here edits what the model said, except
that a quote is given in the page's own words.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from judge.citations.marks import Mark, find_marks
from judge.citations.quotes import CheckedQuote, check_quote
from judge.citations.support import Claim, claims, held_by
from judge.judging.verdicts.reply_schema import (
    KEY_POINT_LIMIT,
    PARAPHRASE_LIMIT,
    PROSE_LIMIT,
    QuoteBody,
    ReplyBody,
    parse_reply,
    shorten,
)
from judge.text.english import content_stems
from judge.types.judgements import (
    CheckedReply,
    Citation,
    Defect,
    Evidence,
    FinishReason,
    ModelReply,
    Persona,
    PersonaVerdict,
    Reference,
)

Quotes = Mapping[int, tuple[CheckedQuote, ...]]
"""For each cited number its best quotes, all of one status; at least one."""

_NO_QUOTE = CheckedQuote("none", None)
_BEST_FIRST = ("verified", "repaired", "unverified", "none")
_QUOTES_TRIED = 5
"""Quotes looked at for one reference; more are not needed and would only cost time."""

_UNFINISHED: Mapping[FinishReason, str] = {
    "truncated": "a complete reply; keep it shorter",
    "empty": "a reply with text",
    "recitation": "a reply in your own words, with short quotes only",
    "other": "a complete reply",
}


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of a reply: the verdict, unless a hard defect forbids it, and every defect."""

    reply: CheckedReply | None
    defects: tuple[Defect, ...]


def check_reply(
    reply: ModelReply,
    *,
    personas: Sequence[Persona],
    references: Sequence[Reference],
    needs_verdicts: bool = True,
) -> Checked:
    """Apply every rule to *reply*; a defect is data here, never an exception."""
    if reply.finish != "stop":
        expected = _UNFINISHED[reply.finish]
        return _rejected([Defect("unfinished", "reply", reply.finish, expected, is_hard=True)])
    shape, defects = parse_reply(reply.text, personas, needs_verdicts=needs_verdicts)
    if shape is None:
        return _rejected(defects)
    prose = _prose(shape)
    marks = {field: find_marks(text) for field, text in prose.items()}
    defects = list(_citation_defects(marks, len(references)))
    if defects:
        return _rejected(defects)
    quotes = _check_quotes(shape.quotes, _cited(marks), references)
    defects = [
        *_length_defects(shape),
        *_evidence_defects(marks, quotes, shape.quotes, has_references=bool(references)),
    ]
    checked = CheckedReply(
        paraphrase=shape.paraphrase,
        summary=shape.summary,
        personas=_persona_verdicts(shape, personas),
        citations=tuple(_citations(prose, marks, quotes, references)),
        evidence=_evidence(marks, quotes, has_references=bool(references)),
        defects=tuple(defects),
    )
    return Checked(checked, tuple(defects))


def _rejected(defects: Sequence[Defect]) -> Checked:
    return Checked(None, tuple(defects))


def _prose(shape: ReplyBody) -> dict[str, str]:
    """The texts in which a citation may stand, by field name."""
    rationales = {f"personas.{i}.rationale": p.rationale for i, p in enumerate(shape.personas)}
    return {"summary": shape.summary} | rationales


def _cited(marks: Mapping[str, Sequence[Mark]]) -> list[int]:
    """Every number cited anywhere, once, in ascending order."""
    return sorted({n for found in marks.values() for mark in found for n in mark.numbers})


def _citation_defects(marks: Mapping[str, Sequence[Mark]], count: int) -> Iterator[Defect]:
    expected = f"a number from 1 to {count}" if count else "no citation: there are no references"
    for field, found in marks.items():
        for mark in found:
            if mark.is_malformed or not all(1 <= number <= count for number in mark.numbers):
                yield Defect("citation", field, shorten(mark.text), expected, is_hard=True)


def _length_defects(shape: ReplyBody) -> Iterator[Defect]:
    texts = [("paraphrase", shape.paraphrase, PARAPHRASE_LIMIT)]
    texts += [(field, text, PROSE_LIMIT) for field, text in _prose(shape).items()]
    texts += [
        (f"personas.{i}.key_points.{j}", point, KEY_POINT_LIMIT)
        for i, persona in enumerate(shape.personas)
        for j, point in enumerate(persona.key_points)
    ]
    for field, text, limit in texts:
        if len(text) > limit:
            found, expected = f"{len(text)} characters", f"at most {limit} characters"
            yield Defect("length", field, found, expected, is_hard=False)


def _evidence_defects(
    marks: Mapping[str, Sequence[Mark]],
    quotes: Quotes,
    given: Sequence[QuoteBody],
    *,
    has_references: bool,
) -> Iterator[Defect]:
    if has_references and not marks["summary"]:
        yield Defect(
            "uncited", "summary", "no citation", "at least one [n]",
            is_hard=False,
        )  # fmt: skip
    for number, best in quotes.items():
        if best[0].text is None:
            words = next((q.quote for q in given if q.number == number), "no quote")
            yield Defect(
                "quote", f"quotes[{number}]", shorten(words),
                f"words copied exactly from reference {number}, three at least",
                is_hard=False,
            )  # fmt: skip


def _check_quotes(
    given: Sequence[QuoteBody], cited: Sequence[int], references: Sequence[Reference]
) -> Quotes:
    """For each cited number the best of the quotes given for it: several when they tie."""
    return {
        number: _best_quotes(
            [q.quote for q in given if q.number == number], references[number - 1].text
        )
        for number in cited
    }


def _best_quotes(quotes: Sequence[str], reference: str) -> tuple[CheckedQuote, ...]:
    checked = [check_quote(quote, reference) for quote in quotes[:_QUOTES_TRIED]]
    best = min((_BEST_FIRST.index(quote.status) for quote in checked), default=None)
    if best is None:
        return (_NO_QUOTE,)
    return tuple(quote for quote in checked if quote.status == _BEST_FIRST[best])


def _evidence(
    marks: Mapping[str, Sequence[Mark]], quotes: Quotes, *, has_references: bool
) -> Evidence:
    if not has_references:
        return "none"
    if not marks["summary"]:
        return "missing"
    is_grounded = all(best[0].text is not None for best in quotes.values())
    return "grounded" if is_grounded else "unverified"


def _citations(
    prose: Mapping[str, str],
    marks: Mapping[str, Sequence[Mark]],
    quotes: Quotes,
    references: Sequence[Reference],
) -> Iterator[Citation]:
    held = held_by(references, quotes)
    for field, text in prose.items():
        for claim in claims(text, marks[field], held):
            quote = _closest(quotes[claim.number], claim)
            yield Citation(
                number=claim.number,
                field=field,
                start=claim.mark.start,
                end=claim.mark.end,
                quote=quote.text,
                quote_status=quote.status,
                support=claim.support,
            )


def _closest(quotes: Sequence[CheckedQuote], claim: Claim) -> CheckedQuote:
    """Of several good quotes the one that says most of what the citing sentence says."""
    if len(quotes) == 1:
        return quotes[0]
    return max(quotes, key=lambda quote: len(claim.stems & set(content_stems(quote.text or ""))))


def _persona_verdicts(shape: ReplyBody, personas: Sequence[Persona]) -> tuple[PersonaVerdict, ...]:
    return tuple(
        PersonaVerdict(persona.name, said.verdict, said.rationale, said.key_points)
        for persona, said in zip(personas, shape.personas, strict=True)
    )
