"""Checks a reply against all rules: shape, then citations, then what is asked again or mended.

A text over its limit is cut at the end of a sentence; nothing else edits the model's words. A field
is checked by itself, so that it can be shown while the rest is still being written.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from judge.citations.claims import find_claims, made_up_addresses, made_up_quotations, makes_claim
from judge.citations.marks import Marks, find_marks, read_marks
from judge.citations.support import MIN_SCORE
from judge.citations.support import support as measure
from judge.judging.verdicts.reply_schema import (
    HEADLINE_LIMIT,
    KEY_POINT_LIMIT,
    PARAPHRASE_LIMIT,
    PROSE_LIMIT,
    PartialBody,
    PersonaBody,
    ReplyBody,
    hard,
    parse_reply,
    persona_defects,
    soft,
)
from judge.text.english import STOP_WORDS, is_english, sentences, source_sentences, words
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
_REPEATED_PHRASE = re.compile(rf"(?<![^ ])(?!\d)((?:[^ ]+ ){{1,{MAX_PHRASE_WORDS}}}?)\1\1(\1)?")
"""A phrase three times in direct succession is not English; "Document, document, document" is."""

MIN_WORDS = 12
MIN_DISTINCT_SHARE = 0.25
"""Least share of distinct words in a text of `MIN_WORDS`: the barest list of guidance has 0.28."""

RUN_WORDS = 12
"""A run of this many words that is in our instructions too was copied from there."""

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


def check_reply(reply: ModelReply, prompt: Prompt, *, needs_verdicts: bool = True) -> ReplyCheck:
    """Apply every rule to the *reply* to *prompt*; a defect is data here, never an exception."""
    if reply.finish != "stop":
        what = hard("unfinished", "reply", reply.finish, _UNFINISHED[reply.finish])
        return ReplyCheck(None, (what,))
    body, defects = parse_reply(reply.text, prompt.personas, needs_verdicts=needs_verdicts)
    if body is None:
        return ReplyCheck(None, tuple(defects))
    fields = tuple(FieldChecker(body, prompt, needs_verdicts).fields())
    checked = CheckedReply(fields, bool(prompt.references), body.references_help)
    care = tuple(name for name in prompt.care if name in body.care)
    if broken := tuple(defect for defect in checked.defects if defect.is_hard):
        return ReplyCheck(None, broken, care)
    checked = replace(checked, carries_nothing=_carries_nothing(checked, prompt.references))
    return ReplyCheck(checked, checked.defects, care)


@dataclass(slots=True)
class FieldChecker:
    """Checks the fields of *body*, a reply to *prompt* that is complete or still being written."""

    body: ReplyBody | PartialBody
    prompt: Prompt
    needs_verdicts: bool
    told: Collection[str] = ()
    """The names of fields that were checked before."""
    _said: set[tuple[str, ...]] = field(default_factory=set)

    def fields(self) -> Iterator[CheckedField]:
        """The fields in order, up to the first that is missing or cannot be checked yet.

        A text that may cite waits until `references_help` and `quotes` are known.
        """
        body, prompt = self.body, self.prompt
        if body.paraphrase is None:
            return
        fitted = self._fit("paraphrase", body.paraphrase, PARAPHRASE_LIMIT, "paraphrase")
        yield self._check("paraphrase", fitted.text, fitted)
        if prompt.references and (body.references_help is None or body.quotes is None):
            return
        personas = body.personas or ()
        for at, (persona, voice) in enumerate(zip(prompt.personas, personas)):
            needs_verdicts = self.needs_verdicts
            if not voice or persona_defects([voice], [persona], needs_verdicts=needs_verdicts):
                return
            yield self._persona(f"personas.{at}", persona.name, voice)
        if body.summary and len(personas) == len(prompt.personas):
            fitted = self._fit("summary", body.summary, PROSE_LIMIT)
            yield self._check("summary", fitted.text, fitted)

    def _persona(self, field: str, name: str, voice: PersonaBody) -> CheckedField:
        rationale = self._fit(f"{field}.rationale", voice.rationale, PROSE_LIMIT)
        line = voice.headline or VERDICT_SENTENCES[voice.verdict]
        headline = self._fit(f"{field}.headline", line, HEADLINE_LIMIT, field)
        points = [
            self._fit(f"{field}.key_points.{at}", point, KEY_POINT_LIMIT, field)
            for at, point in enumerate(voice.key_points)
        ]
        value = PersonaVerdict(
            name=name,
            verdict=voice.verdict,
            headline=headline.text,
            rationale=rationale.text,
            key_points=tuple(point.text for point in points),
        )
        return self._check(field, value, rationale, headline, *points)

    def _fit(self, name: str, text: str, limit: int, *among: str) -> FieldText:
        """*text* within its *limit*, and whether it is new *among* those of its field or prose."""
        kept = cut(text, limit)
        tokens = words(kept)
        defects = []
        if len(text) > limit:
            most = f"at most {limit} characters"
            defects.append(soft("length", name, f"{len(text)} characters", most))
        if self.needs_verdicts and (*among, *tokens) in self._said:
            defects.append(soft("repetition", name, "the same text as before", _NOTHING_TWICE))
        self._said.add((*among, *tokens))
        return FieldText(name, kept, tokens, not among, tuple(defects))

    def _check(self, name: str, value: str | PersonaVerdict, *texts: FieldText) -> CheckedField:
        """The field with its citations and defects; without hard ones with all soft ones."""
        if name in self.told:
            return CheckedField(name, value)
        read = [(text, read_marks(text.text)) for text in texts]
        if broken := tuple(defect for one in read for defect in self._hard_defects(*one)):
            return CheckedField(name, value, defects=broken)
        citations = tuple(citation for one in read for citation in self._citations(*one))
        defects = (
            *(defect for text in texts for defect in text.defects),
            *(defect for one in read for defect in self._soft_defects(*one)),
            *self._quote_defects(citations),
            *contradiction_defects(citations),
        )
        return CheckedField(name, value, citations, defects)

    def _hard_defects(self, text: FieldText, marks: Marks) -> Iterator[Defect]:
        """Each mark cites references that are there, in a text that may cite."""
        count = len(self.prompt.references)
        expected = f"a number from 1 to {count}, as [1]" if count else "no number in any bracket"
        for mark in marks.marks:
            if not mark.numbers or not self._are_there(mark.numbers):
                yield hard("citation", text.name, mark.text, expected)
            elif not text.may_cite and not text.name.endswith(".headline"):
                yield hard("misplaced", text.name, mark.text, "no citation in this text")

    def _are_there(self, numbers: Sequence[int]) -> bool:
        return all(1 <= number <= len(self.prompt.references) for number in numbers)

    def _citations(self, text: FieldText, marks: Marks) -> Iterator[Citation]:
        """A citation for every number of every mark, quoting the sentence that supports it best.

        If the reply names no sentence, support is measured over the whole reference.
        """
        quotes = self.body.quotes or ()
        for claim in find_claims(text.text, marks.marks):
            for number in claim.mark.numbers:
                every = source_sentences(self.prompt.references[number - 1].text)
                relied_on = {at for q in quotes if q.number == number for at in q.sentences}
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

    def _soft_defects(self, text: FieldText, marks: Marks) -> Iterator[Defect]:
        """Asked again: what a text leaves uncited, makes up, leaves unclear or repeats."""
        prompt, name = self.prompt, text.name
        must_cite = bool(prompt.references and self.body.references_help)
        if name == "summary" and must_cite and not marks.marks:
            yield soft("uncited", name, "no citation", "at least one [n]")
        dispute = f"{prompt.request.context}\n{prompt.request.query}"
        for bare, numbers in marks.bare:
            if not self._are_there(numbers) and bare.lower() not in dispute.lower():
                expected = "no reference that is not there, and citations as [1]"
                yield soft("bare", name, bare, expected)
        for unclear in marks.unclear:
            yield soft("unclear", name, unclear, "only numbers in brackets, as [1]")
        is_translated = not is_english(text.text) and any(
            is_english(one.text) for one in prompt.references
        )
        quoted = () if is_translated else made_up_quotations(text.text, marks.marks, self._known())
        for quotation in quoted:
            expected = "words of a reference or of the dispute in quotation marks"
            yield soft("misquoted", name, quotation, expected)
        for address in made_up_addresses(text.text, self._known()):
            expected = "no address or number that is in no reference and not in the dispute"
            yield soft("address", name, address, expected)
        is_ours = repeats_prompt(text.words, prompt.rules) or _OUR_NAMES.search(text.text)
        if is_ours or repeats_itself(text.words):
            yield soft("repetition", name, text.text, _NOTHING_TWICE)

    def _known(self) -> Iterator[str]:
        """What a reply may quote and name addresses from."""
        prompt = self.prompt
        yield from (f"{one.title}\n{one.text}\n{one.url}" for one in prompt.references)
        yield from (prompt.request.context, prompt.request.query, *prompt.addresses)

    def _quote_defects(self, citations: Iterable[Citation]) -> Iterator[Defect]:
        """Told only: each reference cited has a sentence named."""
        for number in dict.fromkeys(c.number for c in citations if c.quote_status == "none"):
            count = len(source_sentences(self.prompt.references[number - 1].text))
            expected = f"at least one of the sentences 1 to {count} of reference {number}"
            yield soft("quote", f"quotes[{number}]", "no such sentence", expected)


def cut(text: str, limit: int) -> str:
    """*text* up to its last sentence that ends within *limit* characters, or else its last word."""
    if len(text) <= limit:
        return text
    ends = [span.end for span in sentences(text) if span.end <= limit]
    return text[: ends[-1]] if ends else f"{text[:limit].rpartition(' ')[0] or text[: limit - 1]}…"


def _carries_nothing(reply: CheckedReply, references: Sequence[Reference]) -> bool:
    """Whether claims cite, and none shares a word of content with all of the reference it cites.

    Of another language than English, and of advice and opinions, nothing is said for sure.
    """
    scores = [citation.support for citation in reply.citations]
    if not scores or any(score is None or score > MIN_SCORE for score in scores):
        return False
    texts = [reply.summary, *(persona.rationale for persona in reply.personas)]
    return is_english(" ".join(texts)) and all(
        makes_claim(claim.text)
        and is_english(source.text)
        and measure(claim.text, [source.title, source.text]).sentence is None
        for text in texts
        for claim in find_claims(text, find_marks(text))
        for source in (references[number - 1] for number in claim.mark.numbers)
    )


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
    return any(
        again or phrase.count(" ") > 1 or phrase.strip() in STOP_WORDS
        for phrase, again in _REPEATED_PHRASE.findall(" ".join(tokens) + " ")
    )


def repeats_prompt(tokens: Sequence[str], instructions: str) -> bool:
    """Whether a run of twelve *tokens* of a text is in *instructions* too."""
    runs = (" ".join(tokens[at : at + RUN_WORDS]) for at in range(len(tokens) - RUN_WORDS + 1))
    return any(f" {run} " in _in_words(instructions) for run in runs)


@lru_cache(maxsize=32)
def _in_words(instructions: str) -> str:
    """Cached: the instructions hardly ever change."""
    return f" {' '.join(words(instructions))} "
