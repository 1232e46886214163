"""Checks any answer against its sources as a verdict is checked: no model, no network.

find the marks -> for each, compare the sentence around it with the source that it cites
               -> for each sentence without one, decide whether it makes a claim
Deterministic: the same answer and sources always have the same result.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Final, Literal

from judge.citations.claims import Claim, MarkedSentence, makes_claim, mark_sentences
from judge.citations.marks import find_cite_marks, find_marks
from judge.citations.support import SourceReading
from judge.errors import InvalidRequest
from judge.text.english import strip_invisible, structured_sentences, words

MarkForm = Literal["brackets", "cite"]
"""`[1]`, or `<cite i="1"/>`."""

AnswerVerdict = Literal["supported", "partly", "unsupported", "broken"]

SUPPORT_THRESHOLD = 0.5
"""Support from which a claim counts as supported by its source. On 349 claims of Wikipedia with
their sources (Kamoi et al. 2023) it separates supported ones from others with balanced accuracy
0.76; thresholds chosen in five-fold cross-validation are 0.52 to 0.53 and reach 0.77."""

MAX_CITATIONS = 500
"""Pairs of a claim and a cited source per answer: each takes up to milliseconds."""

_SENTENCE_CHUNK: Final = re.compile(r"\S.{0,1999}(?!\S)|\S.{0,1999}", re.DOTALL)
"""A sentence, or a chunk of it: longer text without a full stop is a list or a table, which would
take seconds for each mark, and be repeated whole in the reply."""

_NOT_TEXT: Final = re.compile(
    r"(?:\[(?P<words>[^\[\]\d]{1,300})\]|(?<=\]))\(<?(?:https?://|#)(?:[^()\s]|\([^()\s]*\))*(?:\s\"[^\"\n]*\")?\)|</cite\s*>",
    re.IGNORECASE,
)
"""A link but for its words, and the closing tag of a mark: not words of the answer."""

_LIST_HEADING: Final = re.compile(
    r"(?i)[\W_]*(?:references|sources|citations|bibliography|(?:foot)?notes)(?: used| cited)?[\W_]*"
)
_LIST_ENTRY: Final = re.compile(
    r"(?:[-*•]|\d+[.)])?\s*\[[\d ^]+\](:\s*<?https?://|(?<=\^\d\]):|(?<=\^\d\d\]):)?"
    r"|(?:[-*•]|\d+[.)])\s[^\n]*?https?://|\d+[.)]\s[^\n]*[^\s.!?]\Z"
)
"""The beginning of an entry in a list of sources; group 1 if Markdown defines a link or a note."""

_NOT_PROSE: Final = re.compile(
    r"^[ \t]*(```|~~~)[^`\n]*$.*?(?:^[ \t]*\1|\Z)"
    r"|^[^\n]*[^\s.!…](?=[ \t\r]*\n[ \t|:]*(?:==|--)[-=|: \t\r]*$)",
    re.MULTILINE | re.DOTALL,
)
"""Code blocks, table headings and underlined headings: they make no claims."""


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """A source of an answer; marks cite it by its position in the list, from 1."""

    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class CheckedMark:
    """A number in a citation mark of the answer, and how far its source supports the claim."""

    number: int | None
    """The source cited, counted from 1; null where the mark is malformed."""
    start: int
    """Where the mark begins, in code points; `[1, 3]` has an entry for each number."""
    end: int
    """Where it ends."""
    in_range: bool
    """Whether there is a source of that number."""
    sentence: str | None
    """The sentence of the source that supports most of the claim, or contradicts it; null where
    none supports any of it."""
    support: float | None
    """How far the source supports the claim of the mark, 0 to 1; null under three content words,
    and where there is no source."""
    contradicts: bool
    """Whether that sentence says the opposite."""


@dataclass(frozen=True, slots=True)
class UncitedClaim:
    """A sentence of the answer that makes a claim and cites nothing."""

    start: int
    """Where it begins, in code points."""
    end: int
    """Where it ends."""


@dataclass(frozen=True, slots=True)
class CheckedSource:
    """A source as it was read."""

    number: int
    """What marks refer to, from 1."""
    title: str
    """Its title, or empty."""
    text: str
    """The text that the answer was compared with."""


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """What came of checking an answer against its sources; deterministic."""

    marks: tuple[CheckedMark, ...]
    """Every citation, in order."""
    uncited: tuple[UncitedClaim, ...]
    """Sentences that make a claim and cite nothing, in order."""
    verdict: AnswerVerdict
    """`broken`: a mark is malformed or out of range; `unsupported`: no cited claim is
    supported; `partly`: some are, and others are not or cite nothing; `supported`: all are."""
    sources: tuple[CheckedSource, ...]
    """The sources, in the order of their numbers."""


def check_answer(
    answer: str, sources: Sequence[AnswerSource], marks: MarkForm | None = None
) -> CheckedAnswer:
    """Check *answer* against the *sources* that its citation marks cite.

    *marks* says which form is a citation; without it both are, so that none can hide. A claim is
    supported if a source it cites supports it by `SUPPORT_THRESHOLD` or more and none contradicts
    it. Raises InvalidRequest for more than `MAX_CITATIONS`. Takes time linear in the answer and,
    for each citation, in its source.

    >>> source = AnswerSource("The landlord must repair the boiler within a week.")
    >>> check_answer("The landlord must repair the boiler [1].", [source]).verdict
    'supported'
    """
    sentences = _marked_sentences(answer, marks)
    by_sentence = [groupby(sentence.claims(), attrgetter("text")) for sentence in sentences]
    claims = [list(same) for groups in by_sentence for _, same in groups]
    cited = [{number for claim in same for number in claim.mark.numbers} for same in claims]
    found = [number for numbers in cited for number in numbers if 1 <= number <= len(sources)]
    if len(found) > MAX_CITATIONS:
        raise InvalidRequest(
            f"The answer has {len(found)} citations, and at most {MAX_CITATIONS} can be checked at "
            "once. Check it in parts."
        )
    readings = {number: _reading(sources[number - 1].text) for number in set(found)}
    checked = [
        [
            _check_mark(claim, number, readings.get(number or 0))
            for claim in same
            for number in claim.mark.numbers or (None,)
        ]
        for same in claims
    ]
    prose = _NOT_PROSE.sub(lambda match: " " * len(match[0]), answer)
    spans = [sentence.span for sentence in sentences if not sentence.marks]
    uncited = tuple(UncitedClaim(*s) for s in spans if makes_claim(prose[s.start : s.end]))
    return CheckedAnswer(
        marks=tuple(mark for marks_of_claim in checked for mark in marks_of_claim),
        uncited=uncited,
        verdict=_verdict(checked, has_uncited=bool(uncited)),
        sources=tuple(
            CheckedSource(number, source.title, source.text)
            for number, source in enumerate(sources, start=1)
        ),
    )


def _marked_sentences(answer: str, form: MarkForm | None) -> list[MarkedSentence]:
    """The sentences of *answer* with their marks.

    Tags are replaced by brackets of the same length, which belong to the sentence before them, as
    do marks alone in a paragraph or a cell. Marks in a list of sources have no claim.
    """
    tags = [] if form == "brackets" else find_cite_marks(answer)
    pieces, at = [], 0
    for tag in tags:
        pieces += [answer[at : tag.start], f"[{' ' * (tag.end - tag.start - 2)}]"]
        at = tag.end
    text = "".join([*pieces, answer[at:]])
    brackets = [] if form == "cite" else find_marks(text)
    all_marks = sorted([*tags, *brackets], key=lambda mark: mark.start)
    text = _NOT_TEXT.sub(lambda link: f" {link['words'] or ''}".ljust(len(link[0])), text)
    end = _end_of_prose(text)
    text = text[:end] + re.sub(r"(\[[\d ^]+\])|[^\n]", lambda part: part[1] or " ", text[end:])
    marked: list[MarkedSentence] = []
    for sentence in mark_sentences(text, structured_sentences(text), all_marks):
        is_alone = sentence.marks and not any(map(words, sentence.pieces))
        if marked and is_alone and sentence.span.start < end:
            marked[-1].marks.extend(sentence.marks)
            marked[-1].pieces.extend(sentence.pieces[1:])
        else:
            marked.append(sentence)
    return marked


def _end_of_prose(text: str) -> int:
    """The offset of the list of sources at the end of *text*, or the length of *text*.

    Its entries begin with a mark and are under a heading, or are Markdown link definitions.
    """
    start, are_links = len(text), True
    for line in reversed(text.splitlines(keepends=True)):
        if _LIST_HEADING.fullmatch(line.strip()):
            return start - len(line)
        if line.strip():
            entry = _LIST_ENTRY.match(line.strip())
            if not entry:
                break
            are_links = are_links and entry[1] is not None
        start -= len(line)
    return start if are_links else len(text)


def _reading(text: str) -> SourceReading:
    text = strip_invisible(text)
    return SourceReading.of(
        part
        for span in structured_sentences(text)
        for part in _SENTENCE_CHUNK.findall(text[span.start : span.end])
    )


def _check_mark(claim: Claim, number: int | None, reading: SourceReading | None) -> CheckedMark:
    """The mark of *claim* for one *number*; without a *reading* there is no such source."""
    start, end = claim.mark.start, claim.mark.end
    if reading is None:
        return CheckedMark(number, start, end, False, None, None, False)
    score, contradicts, at = reading.support(claim.text)
    sentence = None if at is None else reading.sentences[at]
    return CheckedMark(number, start, end, True, sentence, score, contradicts)


def _verdict(checked: Sequence[Sequence[CheckedMark]], *, has_uncited: bool) -> AnswerVerdict:
    """The verdict on all claims, each given by its marks."""
    if any(not mark.in_range for marks in checked for mark in marks):
        return "broken"
    are_supported = [
        any((mark.support or 0.0) >= SUPPORT_THRESHOLD for mark in marks)
        and not any(mark.contradicts for mark in marks)
        for marks in checked
        # Claims of too few words to measure count neither way.
        if any(mark.support is not None or mark.contradicts for mark in marks)
    ]
    if not any(are_supported):
        return "unsupported"
    return "supported" if all(are_supported) and not has_uncited else "partly"
