"""Checks a reply against all rules, hard ones first: shape, then citations, then the soft rules.

Nothing here edits the model's text. A field is checked by itself, so that it can be shown while
the rest is still being written.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from judge.citations.claims import find_claims
from judge.citations.marks import Mark, find_bare_citations, find_marks
from judge.citations.support import SourceReading
from judge.judging.verdicts.reply_schema import (
    KEY_POINT_LIMIT,
    PARAPHRASE_LIMIT,
    PROSE_LIMIT,
    PersonaBody,
    QuoteBody,
    parse_reply,
    shorten,
)
from judge.text.english import source_sentences, words
from judge.types.references import Reference
from judge.types.replies import (
    VERDICT_SENTENCES,
    CheckedField,
    CheckedReply,
    Citation,
    Defect,
    FinishReason,
    ModelReply,
    Persona,
    PersonaVerdict,
    Prompt,
)

_UNFINISHED: Mapping[FinishReason, str] = {
    "truncated": "a complete reply; keep it shorter",
    "empty": "a reply with text",
    "recitation": "a reply in your own words",
    "other": "a complete reply",
}

MAX_PHRASE_WORDS = 40
"""Words of the longest phrase whose repetition is looked for: a long sentence."""
_REPEATED_PHRASE = re.compile(rf"(?<![^ ])((?:[^ ]+ ){{1,{MAX_PHRASE_WORDS}}}?)\1\1")
"""A word or phrase three times in direct succession is not English."""

MIN_WORDS = 12
MIN_DISTINCT_SHARE = 0.25
"""Least share of distinct words in a text of `MIN_WORDS`: the barest list of guidance has 0.28."""

RUN_WORDS = 12
"""A run of this many words that is in our instructions too was copied from there."""

Marks = Mapping[str, Sequence[Mark]]
"""The citation marks of texts, by the names of the texts."""

NamedSentences = Mapping[int, tuple[str, ...]]
"""The existing sentences that the reply names, by cited number; empty if it names none."""


@dataclass(frozen=True, slots=True)
class ReplyCheck:
    """The outcome of checking a reply: the reply, None after a hard defect, and all defects."""

    reply: CheckedReply | None
    defects: tuple[Defect, ...]
    care: tuple[str, ...] = ()
    """The names of the safety rules that the reply names, whatever its defects."""


@dataclass(frozen=True, slots=True)
class FieldContext:
    """What a field is checked against: the prompt, and what the reply says about references."""

    prompt: Prompt
    references_help: bool = False
    quotes: Sequence[QuoteBody] = ()


@dataclass(frozen=True, slots=True)
class ReplyField:
    """One field of a reply: its value, and its texts by name."""

    name: str
    """`paraphrase`, `personas.0` and so on, or `summary`."""
    value: str | PersonaVerdict
    citing: Mapping[str, str]
    """The texts that may cite, such as `personas.0.rationale`."""
    uncited: Mapping[str, str]
    """The texts that must not."""


def check_reply(reply: ModelReply, prompt: Prompt, *, needs_verdicts: bool = True) -> ReplyCheck:
    """Apply every rule to the *reply* to *prompt*; a defect is data here, never an exception."""
    if reply.finish != "stop":
        expected = _UNFINISHED[reply.finish]
        return _rejected([Defect("unfinished", "reply", reply.finish, expected, is_hard=True)])
    body, defects = parse_reply(reply.text, prompt.personas, needs_verdicts=needs_verdicts)
    if body is None:
        return _rejected(defects)
    context = FieldContext(prompt, body.references_help, body.quotes)
    voices = zip(prompt.personas, body.personas)
    fields = (
        paraphrase_field(body.paraphrase),
        *(persona_field(index, *voice) for index, voice in enumerate(voices)),
        summary_field(body.summary),
    )
    checked = CheckedReply(
        tuple(check_field(field, context) for field in fields),
        bool(prompt.references),
        body.references_help,
    )
    care = tuple(name for name in prompt.care if name in body.care)
    hard = tuple(defect for defect in checked.defects if defect.is_hard)
    return ReplyCheck(None, hard, care) if hard else ReplyCheck(checked, checked.defects, care)


def _rejected(defects: Sequence[Defect]) -> ReplyCheck:
    return ReplyCheck(None, tuple(defects))


def paraphrase_field(text: str) -> ReplyField:
    """The paraphrase, which cites nothing."""
    return ReplyField("paraphrase", text, {}, {"paraphrase": text})


def persona_field(index: int, persona: Persona, body: PersonaBody) -> ReplyField:
    """What the *persona* at *index* (from 0) says; its rationale may cite."""
    name = f"personas.{index}"
    points = {f"{name}.key_points.{at}": point for at, point in enumerate(body.key_points)}
    headline = body.headline or VERDICT_SENTENCES[body.verdict]
    value = PersonaVerdict(persona.name, body.verdict, headline, body.rationale, body.key_points)
    uncited = {f"{name}.headline": headline, **points}
    return ReplyField(name, value, {f"{name}.rationale": body.rationale}, uncited)


def summary_field(text: str) -> ReplyField:
    """The summary, which may cite."""
    return ReplyField("summary", text, {"summary": text}, {})


def check_field(field: ReplyField, context: FieldContext) -> CheckedField:
    """*field* with its citations and its defects; soft rules are checked only without hard ones.

    A field without defects may be shown.
    """
    references = context.prompt.references
    marks = {name: find_marks(text) for name, text in {**field.citing, **field.uncited}.items()}
    hard = tuple(_citation_defects(marks, len(references)))
    if hard:
        return CheckedField(field.name, field.value, defects=hard)
    citing = {name: marks[name] for name in field.citing}
    cited = sorted({n for found in citing.values() for mark in found for n in mark.numbers})
    named = {n: _named_sentences(context.quotes, references[n - 1]) for n in cited}
    citations = tuple(_citations(field, citing, named, references))
    soft = (
        *_form_defects(field, marks, context.prompt.rules),
        *_evidence_defects(citing, named, context),
        *contradiction_defects(citations),
    )
    return CheckedField(field.name, field.value, citations, soft)


def _named_sentences(quotes: Sequence[QuoteBody], reference: Reference) -> tuple[str, ...]:
    """The sentences of *reference* that *quotes* name, in reading order."""
    named = {at for q in quotes if q.number == reference.number for at in q.sentences}
    sentences = enumerate(source_sentences(reference.text), start=1)
    return tuple(sentence for at, sentence in sentences if at in named)


def _citations(
    field: ReplyField, marks: Marks, named: NamedSentences, references: Sequence[Reference]
) -> Iterator[Citation]:
    """A citation for every number of every mark, quoting the sentence that best supports its claim.

    If the reply names no sentence, support is measured over the whole reference.
    """
    for name, text in field.citing.items():
        for claim in find_claims(text, marks[name]):
            for number in claim.mark.numbers:
                sentences = named[number]
                reading = _reading(sentences or source_sentences(references[number - 1].text))
                support = reading.support(claim.text)
                best = sentences[support.sentence or 0] if sentences else None
                yield Citation(
                    number=number,
                    field=name,
                    start=claim.mark.start,
                    end=claim.mark.end,
                    quote=best.removesuffix(" …") if best is not None else None,
                    quote_status="verified" if sentences else "none",
                    support=support.score,
                    contradicts=bool(sentences) and support.contradicts,
                )


@lru_cache(maxsize=512)
def _reading(sentences: tuple[str, ...]) -> SourceReading:
    """Cached: the same few sentences of the same few pages are cited again and again."""
    return SourceReading.of(sentences)


def _citation_defects(marks: Marks, count: int) -> Iterator[Defect]:
    """Hard: in every text, each bracket with a digit must cite one of *count* references."""
    expected = f"a number from 1 to {count}, as [1]" if count else "no number in any bracket"
    for name, text_marks in marks.items():
        for mark in text_marks:
            if mark.is_malformed or not all(1 <= number <= count for number in mark.numbers):
                yield Defect("citation", name, shorten(mark.text), expected, is_hard=True)


def _form_defects(field: ReplyField, marks: Marks, prompt_rules: str) -> Iterator[Defect]:
    """Soft: lengths, citations outside brackets or in a text that must not cite, repetition."""
    limit = PARAPHRASE_LIMIT if field.name == "paraphrase" else KEY_POINT_LIMIT
    limits = dict.fromkeys(field.citing, PROSE_LIMIT) | dict.fromkeys(field.uncited, limit)
    for name, text in {**field.citing, **field.uncited}.items():
        if len(text) > limits[name]:
            found = f"{len(text)} characters"
            yield _soft("length", name, found, f"at most {limits[name]} characters")
        for bare in find_bare_citations(text) if name in field.citing else ():
            yield _soft("bare", name, shorten(bare), "a citation in square brackets, as [1]")
        for mark in marks[name] if name in field.uncited else ():
            yield _soft("misplaced", name, shorten(mark.text), "no citation in this text")
        tokens = words(text)
        if repeats_itself(tokens) or repeats_prompt(tokens, prompt_rules):
            yield _soft("repetition", name, shorten(text), "a text that repeats nothing")


def _evidence_defects(
    marks: Marks, named: NamedSentences, context: FieldContext
) -> Iterator[Defect]:
    """Soft: the summary cites if the references help, else nothing does; sentences are named."""
    references, references_help = context.prompt.references, context.references_help
    if references and references_help and not marks.get("summary", True):
        yield _soft("uncited", "summary", "no citation", "at least one [n]")
    if references and not references_help and any(marks.values()):
        yield _soft("unhelpful", "references_help", "false", "true, or no citation at all")
    for number in (number for number, sentences in named.items() if not sentences):
        count = len(source_sentences(references[number - 1].text))
        expected = f"at least one of the sentences 1 to {count} of reference {number}"
        yield _soft("quote", f"quotes[{number}]", "no such sentence", expected)


def contradiction_defects(citations: Iterable[Citation]) -> Iterator[Defect]:
    """Soft: no citing sentence may contradict the sentences it relies on."""
    for citation in citations:
        if citation.contradicts:
            expected = f"what reference {citation.number} says, not its opposite"
            yield _soft("contradicts", citation.field, f"[{citation.number}]", expected)


def _soft(rule: str, field: str, value: str, expected: str) -> Defect:
    return Defect(rule, field, value, expected, is_hard=False)


def repeats_itself(tokens: Sequence[str]) -> bool:
    """Whether a word or phrase comes three times in a row, or hardly any words are distinct."""
    if len(tokens) >= MIN_WORDS and len(set(tokens)) < MIN_DISTINCT_SHARE * len(tokens):
        return True
    return _REPEATED_PHRASE.search(" ".join(tokens) + " ") is not None


def repeats_prompt(tokens: Sequence[str], instructions: str) -> bool:
    """Whether a run of twelve *tokens* of a text is in *instructions* too."""
    return not _instruction_runs(instructions).isdisjoint(_runs(tokens))


@lru_cache(maxsize=32)
def _instruction_runs(instructions: str) -> frozenset[tuple[str, ...]]:
    """Cached: the instructions hardly ever change."""
    return frozenset(_runs(words(instructions)))


def _runs(tokens: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The runs of twelve words."""
    return zip(*(tokens[at:] for at in range(RUN_WORDS)), strict=False)
