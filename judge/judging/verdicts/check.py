"""Checks a reply against all rules: shape, then citations, then what is asked again or mended.

A text over its limit is cut at the end of a sentence; nothing else edits the model's words. A field
is checked by itself, so that it can be shown while the rest is still being written.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from judge.citations.claims import find_claims, makes_claim
from judge.citations.made_up import made_up_addresses, made_up_quotations
from judge.citations.marks import Marks, find_marks, read_marks
from judge.citations.support import MIN_SCORE, SourceReading
from judge.citations.support import support as measure
from judge.judging.verdicts.reply_schema import (
    HEADLINE_LIMIT,
    KEY_POINT_LIMIT,
    PARAPHRASE_LIMIT,
    PROSE_LIMIT,
    PersonaBody,
    QuoteBody,
    parse_reply,
    shorten,
)
from judge.text.english import STOP_WORDS, sentences, source_sentences, words
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

MIN_FUNCTION_WORDS = 0.1
"""Share of function words from which a text is taken for English; most of it has 0.4."""

_OUR_NAMES = re.compile(
    r"\b(?:references_help|key_points|last answer broke rules)\b", re.IGNORECASE
)
"""Field names of the reply, and words of the request to mend it, that no person uses."""


@dataclass(frozen=True, slots=True)
class ReplyCheck:
    """The outcome of checking a reply: the reply, None after a hard defect, and all defects."""

    reply: CheckedReply | None
    defects: tuple[Defect, ...]
    care: tuple[str, ...] = ()
    """The names of the safety rules that the reply names, whatever its defects."""

    @property
    def asked_again(self) -> tuple[Defect, ...]:
        """The defects for which the model is asked again."""
        return tuple(defect for defect in self.defects if defect.is_asked_again)


@dataclass(frozen=True, slots=True)
class FieldContext:
    """What a field is checked against: the prompt, and what the reply says about references."""

    prompt: Prompt
    references_help: bool = False
    quotes: Sequence[QuoteBody] = ()


class FieldText(NamedTuple):
    """A text of a field, such as `personas.0.rationale`, as it is shown."""

    name: str
    text: str
    may_cite: bool
    length: int
    """Its characters as it was written; more than it has now if it was cut."""
    limit: int
    """The most that it may have."""


class ReplyField(NamedTuple):
    """One field of a reply (`paraphrase`, `personas.0` and so on, or `summary`)."""

    name: str
    value: str | PersonaVerdict
    texts: Sequence[FieldText]


ReadTexts = Sequence[tuple[FieldText, Marks]]
"""The texts of a field, each with what cites in it."""


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
    repeated = _repeated_texts(fields) if needs_verdicts else []
    checked = CheckedReply(
        tuple(_with_repetition(check_field(field, context), repeated) for field in fields),
        bool(prompt.references),
        body.references_help,
    )
    if _all_unsupported(checked.citations) and _carries_nothing(fields, prompt.references):
        checked = replace(checked, carries_nothing=True)
    care = tuple(name for name in prompt.care if name in body.care)
    hard = tuple(defect for defect in checked.defects if defect.is_hard)
    return ReplyCheck(None, hard, care) if hard else ReplyCheck(checked, checked.defects, care)


def _rejected(defects: Sequence[Defect]) -> ReplyCheck:
    return ReplyCheck(None, tuple(defects))


def paraphrase_field(text: str) -> ReplyField:
    """The paraphrase, which cites nothing."""
    shown = _fitted("paraphrase", text, PARAPHRASE_LIMIT)
    return ReplyField("paraphrase", shown.text, [shown])


def persona_field(index: int, persona: Persona, body: PersonaBody) -> ReplyField:
    """What the *persona* at *index* (from 0) says; its rationale may cite."""
    name = f"personas.{index}"
    points = [
        _fitted(f"{name}.key_points.{at}", point, KEY_POINT_LIMIT)
        for at, point in enumerate(body.key_points)
    ]
    headline = _fitted(
        f"{name}.headline", body.headline or VERDICT_SENTENCES[body.verdict], HEADLINE_LIMIT
    )
    rationale = _fitted(f"{name}.rationale", body.rationale, PROSE_LIMIT, may_cite=True)
    value = PersonaVerdict(
        name=persona.name,
        verdict=body.verdict,
        headline=headline.text,
        rationale=rationale.text,
        key_points=tuple(point.text for point in points),
    )
    return ReplyField(name, value, [rationale, headline, *points])


def summary_field(text: str) -> ReplyField:
    """The summary, which may cite."""
    shown = _fitted("summary", text, PROSE_LIMIT, may_cite=True)
    return ReplyField("summary", shown.text, [shown])


def _fitted(name: str, text: str, limit: int, *, may_cite: bool = False) -> FieldText:
    return FieldText(name, cut(text, limit), may_cite, len(text), limit)


def cut(text: str, limit: int) -> str:
    """*text* up to its last sentence that ends within *limit* characters, or else its last word."""
    if len(text) <= limit:
        return text
    ends = [span.end for span in sentences(text) if span.end <= limit]
    return text[: ends[-1]] if ends else f"{text[:limit].rpartition(' ')[0] or text[: limit - 1]}…"


def check_field(field: ReplyField, context: FieldContext) -> CheckedField:
    """*field* with its citations and its defects; soft rules are checked only without hard ones."""
    references = context.prompt.references
    read = [(text, read_marks(text.text)) for text in field.texts]
    hard = tuple(_citation_defects(read, len(references)))
    if hard:
        return CheckedField(field.name, field.value, defects=hard)
    citations = tuple(_citations(read, context))
    soft = (
        *_length_defects(field.texts),
        *_reference_defects(read, context),
        *_made_up_defects(read, context.prompt),
        *_repetition_defects(field.texts, context.prompt.rules),
        *_quote_defects(citations, references),
        *contradiction_defects(citations),
    )
    return CheckedField(field.name, field.value, citations, soft)


def _citations(read: ReadTexts, context: FieldContext) -> Iterator[Citation]:
    """A citation for every number of every mark, quoting the sentence that best supports its claim.

    If the reply names no sentence, support is measured over the whole reference.
    """
    for (name, text, *_), marks in read:
        for claim in find_claims(text, marks.marks):
            for number in claim.mark.numbers:
                reference = context.prompt.references[number - 1]
                named = _named_sentences(context.quotes, reference)
                support = measure(claim.text, named or source_sentences(reference.text))
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


def _carries_nothing(fields: Iterable[ReplyField], references: Sequence[Reference]) -> bool:
    """Whether no claim shares a word of content with all of the reference that it cites.

    In another language than English, and where it is no claim but advice or an opinion, nothing is
    said for sure.
    """
    return all(
        makes_claim(claim.text)
        and _is_english(claim.text)
        and _is_english(reference.text)
        and not SourceReading.of([reference.title, reference.text]).shares_words(claim.text)
        for field in fields
        for text in field.texts
        for claim in find_claims(text.text, find_marks(text.text))
        for reference in (references[number - 1] for number in claim.mark.numbers)
    )


def _all_unsupported(citations: Sequence[Citation]) -> bool:
    scores = [citation.support for citation in citations]
    return bool(scores) and all(score is not None and score <= MIN_SCORE for score in scores)


def _is_english(text: str) -> bool:
    tokens = words(text)
    return sum(token in STOP_WORDS for token in tokens) >= MIN_FUNCTION_WORDS * len(tokens)


def _named_sentences(quotes: Sequence[QuoteBody], reference: Reference) -> tuple[str, ...]:
    """The sentences of *reference* that *quotes* name, in reading order."""
    named = {at for q in quotes if q.number == reference.number for at in q.sentences}
    all_sentences = enumerate(source_sentences(reference.text), start=1)
    return tuple(sentence for at, sentence in all_sentences if at in named)


def _citation_defects(read: ReadTexts, count: int) -> Iterator[Defect]:
    """Hard: each mark cites one of *count* references, in a text that may cite."""
    expected = f"a number from 1 to {count}, as [1]" if count else "no number in any bracket"
    for text, marks in read:
        for mark in marks.marks:
            if mark.is_malformed or not _are_in_range(mark.numbers, count):
                yield Defect("citation", text.name, shorten(mark.text), expected, is_hard=True)
            elif not text.may_cite and not text.name.endswith(".headline"):
                nothing = "no citation in this text"
                yield Defect("misplaced", text.name, shorten(mark.text), nothing, is_hard=True)


def _are_in_range(numbers: Sequence[int], count: int) -> bool:
    return all(1 <= number <= count for number in numbers)


def _length_defects(texts: Iterable[FieldText]) -> Iterator[Defect]:
    """Mended: texts that were cut."""
    for name, text, _, length, limit in texts:
        if length > len(text):
            yield _soft("length", name, f"{length} characters", f"at most {limit} characters")


def _reference_defects(read: ReadTexts, context: FieldContext) -> Iterator[Defect]:
    """Asked again: the summary cites if the references help, and nothing else names a reference."""
    count, request = len(context.prompt.references), context.prompt.request
    dispute = f"{request.context}\n{request.query}".lower()
    for (name, *_), marks in read:
        if name == "summary" and count and context.references_help and not marks.marks:
            yield _soft("uncited", name, "no citation", "at least one [n]")
        for bare, numbers in marks.bare:
            if not _are_in_range(numbers, count) and bare.lower() not in dispute:
                expected = "no reference that is not there, and citations as [1]"
                yield _soft("bare", name, bare, expected)
        for unclear in marks.unclear:
            yield _soft("unclear", name, unclear, "only numbers in brackets, as [1]")


def _made_up_defects(read: ReadTexts, prompt: Prompt) -> Iterator[Defect]:
    """Asked again: quotations and addresses that stand in no reference and not in the dispute."""
    known = [f"{one.title}\n{one.text}\n{one.url}" for one in prompt.references]
    known += [f"{prompt.request.context}\n{prompt.request.query}", *prompt.addresses]
    for (name, text, *_), marks in read:
        for quotation in made_up_quotations(text, marks.marks, known):
            expected = "words of a reference or of the dispute in quotation marks"
            yield _soft("misquoted", name, quotation, expected)
        for address in made_up_addresses(text, known):
            expected = "no address or number that is in no reference and not in the dispute"
            yield _soft("address", name, address, expected)


def _quote_defects(
    citations: Iterable[Citation], references: Sequence[Reference]
) -> Iterator[Defect]:
    """Told only: each reference cited has a sentence named."""
    for number in dict.fromkeys(one.number for one in citations if one.quote_status == "none"):
        count = len(source_sentences(references[number - 1].text))
        expected = f"at least one of the sentences 1 to {count} of reference {number}"
        yield _soft("quote", f"quotes[{number}]", "no such sentence", expected)


def contradiction_defects(citations: Iterable[Citation]) -> Iterator[Defect]:
    """Asked again: no citing sentence may contradict the sentences it relies on."""
    for citation in citations:
        if citation.contradicts:
            expected = f"what reference {citation.number} says, not its opposite"
            yield _soft("contradicts", citation.field, f"[{citation.number}]", expected)


def _soft(rule: str, field: str, value: str, expected: str) -> Defect:
    return Defect(rule, field, shorten(value), expected, is_hard=False)


def _repetition_defects(texts: Iterable[FieldText], prompt_rules: str) -> Iterator[Defect]:
    """Asked again: no text repeats itself, the prompt or the names of its fields."""
    for name, text, *_ in texts:
        tokens = words(text)
        is_ours = repeats_prompt(tokens, prompt_rules) or _OUR_NAMES.search(text)
        if is_ours or repeats_itself(tokens):
            yield _soft("repetition", name, text, "a text that repeats nothing")


def _repeated_texts(fields: Iterable[ReplyField]) -> list[str]:
    """The names of texts that say what an earlier text of prose, or point of the persona, says."""
    names, seen = [], set()
    for field in fields:
        for name, text, may_cite, *_ in field.texts:
            said = ("" if may_cite else field.name, *words(text))
            names += [name] if said in seen else []
            seen.add(said)
    return names


def _with_repetition(field: CheckedField, names: Iterable[str]) -> CheckedField:
    """*field* with a defect for each text of it among *names*."""
    new = tuple(
        _soft("repetition", name, "the same text as before", "a text that repeats nothing")
        for name in names
        if f"{name}.".startswith(f"{field.name}.")
    )
    return replace(field, defects=(*field.defects, *new)) if new else field


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
