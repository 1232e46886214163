"""Checks a reply against all rules: shape, then citations, then what is asked again or mended.

A text over its limit is cut at the end of a sentence; nothing else edits the model's words. A field
is checked by itself, so that it can be shown while the rest is still being written.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from judge.citations.claims import (
    find_claims,
    made_up_addresses,
    made_up_quotations,
    makes_claim,
)
from judge.citations.marks import Marks, find_marks, read_marks
from judge.citations.support import MIN_SCORE, SourceReading
from judge.citations.support import support as measure
from judge.judging.verdicts.reply_schema import (
    HEADLINE_LIMIT,
    KEY_POINT_LIMIT,
    PARAPHRASE_LIMIT,
    PROSE_LIMIT,
    PartialBody,
    ReplyBody,
    hard,
    matches_persona,
    parse_reply,
    soft,
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
_NOTHING_TWICE = "a text that repeats nothing"


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


class FieldText(NamedTuple):
    """A text of a field, such as `personas.0.rationale`, as it is shown."""

    name: str
    text: str
    words: Sequence[str]
    may_cite: bool
    defects: tuple[Defect, ...]
    """That it was cut, or says what an earlier text says."""


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
        return ReplyCheck(None, (hard("unfinished", "reply", reply.finish, expected),))
    body, defects = parse_reply(reply.text, prompt.personas, needs_verdicts=needs_verdicts)
    if body is None:
        return ReplyCheck(None, tuple(defects))
    fields = list(complete_fields(body, prompt, needs_verdicts=needs_verdicts))
    checked = CheckedReply(
        tuple(check_field(field, body, prompt) for field in fields),
        bool(prompt.references),
        body.references_help,
    )
    care = tuple(name for name in prompt.care if name in body.care)
    if broken := tuple(defect for defect in checked.defects if defect.is_hard):
        return ReplyCheck(None, broken, care)
    if _carries_nothing(fields, checked.citations, prompt.references):
        checked = replace(checked, carries_nothing=True)
    return ReplyCheck(checked, checked.defects, care)


def complete_fields(
    body: ReplyBody | PartialBody, prompt: Prompt, *, needs_verdicts: bool
) -> Iterator[ReplyField]:
    """The fields of *body* in order, up to the first that is missing or cannot be checked yet.

    A text that may cite waits until `references_help` and `quotes` are known.
    """
    said: set[tuple[str, ...]] = set()

    def fit(name: str, text: str, limit: int, *among: str) -> FieldText:
        """*text* within its *limit*, and whether it is new *among* those of its field."""
        shown = cut(text, limit)
        tokens = words(shown)
        told = (*among, *tokens)
        defects = []
        if len(text) > limit:
            defects = [
                soft("length", name, f"{len(text)} characters", f"at most {limit} characters")
            ]
        if needs_verdicts and told in said:
            defects.append(soft("repetition", name, "the same text as before", _NOTHING_TWICE))
        said.add(told)
        return FieldText(name, shown, tokens, not among, tuple(defects))

    if body.paraphrase is None:
        return
    shown = fit("paraphrase", body.paraphrase, PARAPHRASE_LIMIT, "paraphrase")
    yield ReplyField("paraphrase", shown.text, [shown])
    if prompt.references and (body.references_help is None or body.quotes is None):
        return
    personas = body.personas or ()
    for at, (persona, voice) in enumerate(zip(prompt.personas, personas)):
        if voice is None or not matches_persona(persona, voice, needs_verdict=needs_verdicts):
            return
        name = f"personas.{at}"
        rationale = fit(f"{name}.rationale", voice.rationale, PROSE_LIMIT)
        line = voice.headline or VERDICT_SENTENCES[voice.verdict]
        headline = fit(f"{name}.headline", line, HEADLINE_LIMIT, name)
        points = [
            fit(f"{name}.key_points.{place}", point, KEY_POINT_LIMIT, name)
            for place, point in enumerate(voice.key_points)
        ]
        said_by = PersonaVerdict(
            name=persona.name,
            verdict=voice.verdict,
            headline=headline.text,
            rationale=rationale.text,
            key_points=tuple(point.text for point in points),
        )
        yield ReplyField(name, said_by, [rationale, headline, *points])
    if body.summary and len(personas) == len(prompt.personas):
        shown = fit("summary", body.summary, PROSE_LIMIT)
        yield ReplyField("summary", shown.text, [shown])


def cut(text: str, limit: int) -> str:
    """*text* up to its last sentence that ends within *limit* characters, or else its last word."""
    if len(text) <= limit:
        return text
    ends = [span.end for span in sentences(text) if span.end <= limit]
    return text[: ends[-1]] if ends else f"{text[:limit].rpartition(' ')[0] or text[: limit - 1]}…"


def check_field(field: ReplyField, body: ReplyBody | PartialBody, prompt: Prompt) -> CheckedField:
    """*field* of *body* with its citations and defects; without hard ones with all soft ones."""
    read = [(text, read_marks(text.text)) for text in field.texts]
    if broken := tuple(_citation_defects(read, len(prompt.references))):
        return CheckedField(field.name, field.value, defects=broken)
    citations = tuple(_citations(read, body, prompt.references))
    defects = (
        *(defect for text in field.texts for defect in text.defects),
        *_soft_defects(read, prompt, must_cite=bool(body.references_help)),
        *_quote_defects(citations, prompt.references),
        *contradiction_defects(citations),
    )
    return CheckedField(field.name, field.value, citations, defects)


def _citation_defects(read: ReadTexts, count: int) -> Iterator[Defect]:
    """Hard: each mark cites one of *count* references, in a text that may cite."""
    expected = f"a number from 1 to {count}, as [1]" if count else "no number in any bracket"
    for text, marks in read:
        for mark in marks.marks:
            if mark.is_malformed or not _are_in_range(mark.numbers, count):
                yield hard("citation", text.name, mark.text, expected)
            elif not text.may_cite and not text.name.endswith(".headline"):
                yield hard("misplaced", text.name, mark.text, "no citation in this text")


def _are_in_range(numbers: Sequence[int], count: int) -> bool:
    return all(1 <= number <= count for number in numbers)


def _citations(
    read: ReadTexts, body: ReplyBody | PartialBody, references: Sequence[Reference]
) -> Iterator[Citation]:
    """A citation for every number of every mark, quoting the sentence that best supports its claim.

    If the reply names no sentence, support is measured over the whole reference.
    """
    for text, marks in read:
        for claim in find_claims(text.text, marks.marks):
            for number in claim.mark.numbers:
                every = source_sentences(references[number - 1].text)
                relied_on = {
                    at for q in body.quotes or () if q.number == number for at in q.sentences
                }
                named = [one for at, one in enumerate(every, start=1) if at in relied_on]
                support = measure(claim.text, named or every)
                yield Citation(
                    number=number,
                    field=text.name,
                    start=claim.mark.start,
                    end=claim.mark.end,
                    quote=named[support.sentence or 0].removesuffix(" …") if named else None,
                    quote_status="verified" if named else "none",
                    support=support.score,
                    contradicts=bool(named) and support.contradicts,
                )


def _carries_nothing(
    fields: Iterable[ReplyField], citations: Sequence[Citation], references: Sequence[Reference]
) -> bool:
    """Whether claims cite, and none shares a word of content with all of the reference it cites.

    In another language than English, and where it is no claim but advice or an opinion, nothing is
    said for sure.
    """
    if not citations or any(one.support is None or one.support > MIN_SCORE for one in citations):
        return False
    return all(
        makes_claim(claim.text)
        and _is_english(claim.text)
        and _is_english(source.text)
        and not SourceReading.of([source.title, source.text]).shares_words(claim.text)
        for field in fields
        for text in field.texts
        for claim in find_claims(text.text, find_marks(text.text))
        for source in (references[number - 1] for number in claim.mark.numbers)
    )


def _is_english(text: str) -> bool:
    tokens = words(text)
    return sum(token in STOP_WORDS for token in tokens) >= MIN_FUNCTION_WORDS * len(tokens)


def _soft_defects(read: ReadTexts, prompt: Prompt, *, must_cite: bool) -> Iterator[Defect]:
    """Asked again: what each text names, quotes or repeats that it should not.

    A summary cites if the references help; nothing names a reference, quotation or address that is
    not there; no text repeats itself, the prompt or the names of its fields.
    """
    count, dispute = len(prompt.references), f"{prompt.request.context}\n{prompt.request.query}"
    known = [f"{one.title}\n{one.text}\n{one.url}" for one in prompt.references]
    known += [dispute, *prompt.addresses]
    for (name, text, tokens, *_), marks in read:
        if name == "summary" and count and must_cite and not marks.marks:
            yield soft("uncited", name, "no citation", "at least one [n]")
        for bare, numbers in marks.bare:
            if not _are_in_range(numbers, count) and bare.lower() not in dispute.lower():
                expected = "no reference that is not there, and citations as [1]"
                yield soft("bare", name, bare, expected)
        for unclear in marks.unclear:
            yield soft("unclear", name, unclear, "only numbers in brackets, as [1]")
        for quotation in made_up_quotations(text, marks.marks, known):
            expected = "words of a reference or of the dispute in quotation marks"
            yield soft("misquoted", name, quotation, expected)
        for address in made_up_addresses(text, known):
            expected = "no address or number that is in no reference and not in the dispute"
            yield soft("address", name, address, expected)
        is_ours = repeats_prompt(tokens, prompt.rules) or _OUR_NAMES.search(text)
        if is_ours or repeats_itself(tokens):
            yield soft("repetition", name, text, _NOTHING_TWICE)


def _quote_defects(
    citations: Iterable[Citation], references: Sequence[Reference]
) -> Iterator[Defect]:
    """Told only: each reference cited has a sentence named."""
    for number in dict.fromkeys(one.number for one in citations if one.quote_status == "none"):
        count = len(source_sentences(references[number - 1].text))
        expected = f"at least one of the sentences 1 to {count} of reference {number}"
        yield soft("quote", f"quotes[{number}]", "no such sentence", expected)


def contradiction_defects(citations: Iterable[Citation]) -> Iterator[Defect]:
    """Asked again: no citing sentence may contradict the sentences it relies on."""
    for citation in citations:
        if citation.contradicts:
            expected = f"what reference {citation.number} says, not its opposite"
            yield soft("contradicts", citation.field, f"[{citation.number}]", expected)


def repeats_itself(tokens: Sequence[str]) -> bool:
    """Whether a word or phrase comes three times in a row, or hardly any words are distinct."""
    if len(tokens) >= MIN_WORDS and len(set(tokens)) < MIN_DISTINCT_SHARE * len(tokens):
        return True
    return _REPEATED_PHRASE.search(" ".join(tokens) + " ") is not None


def repeats_prompt(tokens: Sequence[str], instructions: str) -> bool:
    """Whether a run of twelve *tokens* of a text is in *instructions* too."""
    runs = (" ".join(tokens[at : at + RUN_WORDS]) for at in range(len(tokens) - RUN_WORDS + 1))
    return any(f" {run} " in _in_words(instructions) for run in runs)


@lru_cache(maxsize=32)
def _in_words(instructions: str) -> str:
    """Cached: the instructions hardly ever change."""
    return f" {' '.join(words(instructions))} "
