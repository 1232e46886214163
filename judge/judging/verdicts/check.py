"""Checks a reply against all rules: shape, then citations, then what is asked again or mended.

A text over its limit is cut at the end of a sentence; nothing else edits the model's words. A field
is checked by itself, so that it can be shown while the rest is still being written.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from judge.citations.claims import find_claims, makes_claim
from judge.citations.made_up import made_up_addresses, made_up_quotations
from judge.citations.marks import Marks, find_marks, read_marks
from judge.citations.support import MIN_SCORE, SourceReading
from judge.citations.support import support as measure
from judge.judging.verdicts.reply_schema import (
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

_OUR_NAMES = re.compile(r"\b(?:references_help|key_points|broke rules)\b", re.IGNORECASE)
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
    lengths: Mapping[str, int]
    """The characters of those texts that were cut, as they were written."""

    @property
    def texts(self) -> Mapping[str, str]:
        """All texts."""
        return {**self.citing, **self.uncited}


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
    repeated = _repeated_texts(fields) if needs_verdicts else frozenset[str]()
    checked = CheckedReply(
        tuple(
            _with_repetition(check_field(field, context), field.texts.keys() & repeated)
            for field in fields
        ),
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
    shown = cut(text, PARAPHRASE_LIMIT)
    return ReplyField("paraphrase", shown, {}, {"paraphrase": shown}, _lengths(paraphrase=text))


def persona_field(index: int, persona: Persona, body: PersonaBody) -> ReplyField:
    """What the *persona* at *index* (from 0) says; its rationale may cite."""
    name = f"personas.{index}"
    written = {f"{name}.key_points.{at}": point for at, point in enumerate(body.key_points)}
    points = {field: cut(point, KEY_POINT_LIMIT) for field, point in written.items()}
    headline, rationale = body.headline or VERDICT_SENTENCES[body.verdict], body.rationale
    written |= {f"{name}.headline": headline, f"{name}.rationale": rationale}
    rationale = cut(rationale, PROSE_LIMIT)
    value = PersonaVerdict(persona.name, body.verdict, headline, rationale, tuple(points.values()))
    uncited = {f"{name}.headline": headline, **points}
    return ReplyField(name, value, {f"{name}.rationale": rationale}, uncited, _lengths(**written))


def summary_field(text: str) -> ReplyField:
    """The summary, which may cite."""
    shown = cut(text, PROSE_LIMIT)
    return ReplyField("summary", shown, {"summary": shown}, {}, _lengths(summary=text))


def cut(text: str, limit: int) -> str:
    """*text* up to its last sentence that ends within *limit* characters, or else its last word."""
    if len(text) <= limit:
        return text
    ends = [span.end for span in sentences(text) if span.end <= limit]
    return text[: ends[-1]] if ends else f"{text[:limit].rpartition(' ')[0] or text[: limit - 1]}…"


def _lengths(**written: str) -> dict[str, int]:
    return {name: len(text) for name, text in written.items()}


def check_field(field: ReplyField, context: FieldContext) -> CheckedField:
    """*field* with its citations and its defects; soft rules are checked only without hard ones."""
    references = context.prompt.references
    marks = {name: read_marks(text) for name, text in field.texts.items()}
    hard = tuple(_citation_defects(field, marks, len(references)))
    if hard:
        return CheckedField(field.name, field.value, defects=hard)
    citations = tuple(_citations(field, marks, context))
    soft = (
        *_length_defects(field),
        *_reference_defects(field, marks, context),
        *_made_up_defects(field, marks, context.prompt),
        *_repetition_defects(field, context.prompt.rules),
        *_quote_defects(citations, references),
        *contradiction_defects(citations),
    )
    return CheckedField(field.name, field.value, citations, soft)


def _citations(
    field: ReplyField, marks: Mapping[str, Marks], context: FieldContext
) -> Iterator[Citation]:
    """A citation for every number of every mark, quoting the sentence that best supports its claim.

    If the reply names no sentence, support is measured over the whole reference.
    """
    for name, text in field.citing.items():
        for claim in find_claims(text, marks[name].marks):
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
        for text in field.citing.values()
        for claim in find_claims(text, find_marks(text))
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


def _citation_defects(
    field: ReplyField, marks: Mapping[str, Marks], count: int
) -> Iterator[Defect]:
    """Hard: each mark cites one of *count* references, in a text that may cite."""
    expected = f"a number from 1 to {count}, as [1]" if count else "no number in any bracket"
    for name in field.texts:
        for mark in marks[name].marks:
            if mark.is_malformed or not _are_in_range(mark.numbers, count):
                yield Defect("citation", name, shorten(mark.text), expected, is_hard=True)
            elif name in field.uncited:
                expected_here = "no citation in this text"
                yield Defect("misplaced", name, shorten(mark.text), expected_here, is_hard=True)


def _are_in_range(numbers: Sequence[int], count: int) -> bool:
    return all(1 <= number <= count for number in numbers)


def _length_defects(field: ReplyField) -> Iterator[Defect]:
    """Mended: texts that were cut."""
    for name, text in field.texts.items():
        if field.lengths[name] > len(text):
            limit = PROSE_LIMIT if name in field.citing else KEY_POINT_LIMIT
            found = f"{field.lengths[name]} characters"
            yield _soft("length", name, found, f"at most {limit} characters")


def _reference_defects(
    field: ReplyField, marks: Mapping[str, Marks], context: FieldContext
) -> Iterator[Defect]:
    """Asked again: the summary cites if the references help, and nothing else names a reference."""
    references, request = context.prompt.references, context.prompt.request
    may_cite = references and context.references_help
    if may_cite and "summary" in field.citing and not marks["summary"].marks:
        yield _soft("uncited", "summary", "no citation", "at least one [n]")
    dispute = f"{request.context}\n{request.query}".lower()
    for name in field.texts:
        for bare, numbers in marks[name].bare:
            if not _are_in_range(numbers, len(references)) and bare.lower() not in dispute:
                expected = "no reference that is not there, and citations as [1]"
                yield _soft("bare", name, shorten(bare), expected)
        for unclear in marks[name].unclear:
            yield _soft("unclear", name, shorten(unclear), "only numbers in brackets, as [1]")


def _made_up_defects(
    field: ReplyField, marks: Mapping[str, Marks], prompt: Prompt
) -> Iterator[Defect]:
    """Asked again: quotations and addresses that stand in no reference and not in the dispute."""
    known = [f"{one.title}\n{one.text}\n{one.url}" for one in prompt.references]
    known += [f"{prompt.request.context}\n{prompt.request.query}", *prompt.addresses]
    for name, text in field.texts.items():
        for quotation in made_up_quotations(text, marks[name].marks, known):
            expected = "words of a reference or of the dispute in quotation marks"
            yield _soft("misquoted", name, shorten(quotation), expected)
        for address in made_up_addresses(text, known):
            expected = "no address or number that is in no reference and not in the dispute"
            yield _soft("address", name, shorten(address), expected)


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
    return Defect(rule, field, value, expected, is_hard=False)


def _repetition_defects(field: ReplyField, prompt_rules: str) -> Iterator[Defect]:
    """Asked again: no text repeats itself, the prompt or the names of its fields."""
    for name, text in field.texts.items():
        tokens = words(text)
        is_ours = repeats_prompt(tokens, prompt_rules) or _OUR_NAMES.search(text)
        if is_ours or repeats_itself(tokens):
            yield _repetition(name, text)


def _repeated_texts(fields: Iterable[ReplyField]) -> frozenset[str]:
    """The names of texts that say what an earlier text of prose, or point of the persona, says."""
    names, seen = set(), set()
    for field in fields:
        for name, text in field.texts.items():
            said = ("" if name in field.citing else field.name, *words(text))
            names |= {name} if said in seen else set()
            seen.add(said)
    return frozenset(names)


def _with_repetition(field: CheckedField, names: Iterable[str]) -> CheckedField:
    new = tuple(_repetition(name, "the same text as before") for name in sorted(names))
    return replace(field, defects=(*field.defects, *new)) if new else field


def _repetition(name: str, text: str) -> Defect:
    return _soft("repetition", name, shorten(text), "a text that repeats nothing")


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
