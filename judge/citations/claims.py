"""Finds the claims of a text: the words behind each citation, and uncited statements of fact.

A claim with a citation is the text that its mark stands for, without the marks. A sentence without
one is a claim if it states a fact about the world. By its form, without a parser, these are not: a
heading, a question, a greeting, a disclaimer, advice ("Write to them."), a feeling or opinion ("You
are right to be upset."), a line that introduces a list, or one of too few content words.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from judge.citations.marks import Mark
from judge.citations.support import MIN_CONTENT_WORDS
from judge.text.english import (
    Span,
    content_stems,
    fold_space,
    is_heading,
    sentences,
    strip_invisible,
    words,
)

_SPACE_BEFORE = re.compile(r" (?=[.,;:!?])")

_BOLD = re.compile(r"\s*(?:\*\*[^*]*[^*.!…]\*\*|__[^_]*[^_.!…]__)\s*")
"""A line in bold type without a full stop is a heading."""

_LABEL = re.compile(r"\A\W*(?:\*\*|__)[^*_]{1,40}:(?:\*\*|__)\s*")
"""A label in bold type before a sentence: "**Next step:** write to them"."""

_DISCLAIMER = re.compile(r"\bnot (?:\w+ )?(?:legal|medical|financial) advice\b", re.IGNORECASE)

_GREETINGS = frozenset(
    "hello hi hey dear greetings thanks thank welcome congratulations regards cheers sorry "
    "apologies".split()
)
_ADVICE = frozenset(
    "ask write talk speak tell say explain describe call phone email send contact try consider "
    "remember make take keep check read look see find get go start begin offer suggest propose "
    "agree let use note avoid stop think give be do don't never please show listen wait bring "
    "collect gather put set pick choose decide stay report complain apply seek invite".split()
)
"""Imperatives that advice begins with."""

_PERSONS = frozenset(
    "i we you i'm we're you're i've we've you've i'd we'd you'd i'll we'll".split()
)
_FEELINGS = frozenset(
    "feel feels feeling feelings felt think thought believe know knew hope wish want understand "
    "hear guess suppose imagine sense mean worry worried sorry glad happy sad upset angry hurt "
    "afraid scared anxious tired exhausted frustrated stressed overwhelmed annoyed disappointed "
    "lonely confused torn unsure sure found find asked mentioned described".split()
)
_JUDGEMENTS = frozenset("right wrong fair unfair reasonable unreasonable alone".split())
_COPULAS = frozenset(
    "am are is be being been was were feel seem sound sounds not so very quite too really entirely "
    "completely perfectly totally i'm we're you're it's that's".split()
)
"""Words before a judgement: "you are right", but not "the right to cancel"."""

_PERSON_WITHIN, _FEELING_WITHIN = 6, 10
"""Both must be among this many first words: later ones belong to another clause."""

_OPENING = 400
"""Characters that are enough for the first words of any sentence."""


class Claim(NamedTuple):
    """A mark, and the text that it cites a source for."""

    mark: Mark
    text: str


class MarkedSentence(NamedTuple):
    """A sentence with the marks that begin in it, and the pieces of text around them."""

    span: Span
    marks: list[Mark]
    pieces: list[str]

    def claims(self) -> list[Claim]:
        """The claim of each mark.

        Each of several marks has the text since the mark before it, the last one also the text
        after it. Adjacent marks share one claim, and so do marks with too few words between them.
        """
        *before, after = self.pieces
        parts: list[str] = []
        places: list[int] = []
        for piece in before:
            if parts and not (_is_measurable(piece) and _is_measurable(parts[-1])):
                parts[-1] += f" {piece}"
            else:
                parts.append(piece)
            places.append(len(parts) - 1)
        if parts:
            parts[-1] += f" {after}"
        texts = [_tidy(part) for part in parts]
        return [Claim(mark, texts[at]) for mark, at in zip(self.marks, places)]


def find_claims(text: str, marks: Sequence[Mark]) -> Iterator[Claim]:
    """The claim of each of *marks*, which are in order, in *text*."""
    for sentence in mark_sentences(text, sentences(text) if marks else [], marks):
        yield from sentence.claims()


def mark_sentences(
    text: str, spans: Sequence[Span], marks: Sequence[Mark]
) -> Iterator[MarkedSentence]:
    """Each sentence of *text*, given by *spans*, with those of *marks* that begin in it.

    Both are in order, and every mark begins in some sentence. Takes linear time.
    """
    at = 0
    for span in spans:
        first = at
        while at < len(marks) and marks[at].start < span.end:
            at += 1
        inside, pieces, done = list(marks[first:at]), list[str](), span.start
        for mark in inside:
            pieces.append(text[done : mark.start])
            done = max(done, mark.end)
        yield MarkedSentence(span, inside, [*pieces, text[done : span.end]])


def _is_measurable(text: str) -> bool:
    return len(content_stems(text)) >= MIN_CONTENT_WORDS


def _tidy(text: str) -> str:
    return _SPACE_BEFORE.sub("", fold_space(strip_invisible(text))).lstrip(",;:) ")


def makes_claim(sentence: str) -> bool:
    """Whether *sentence*, which has no citation marks, states a fact about the world."""
    text = sentence.rstrip("\"'”’)]*_ ")
    if is_heading(sentence) or _BOLD.fullmatch(sentence) or text.endswith(("?", ":", "？")):
        return False
    if _DISCLAIMER.search(sentence):
        return False
    said = _LABEL.sub("", sentence[:_OPENING])
    opening = list(islice(words(said), _FEELING_WITHIN))
    if not opening or opening[0] in _GREETINGS | _ADVICE or _is_opinion(opening):
        return False
    return len(set(content_stems(sentence))) >= MIN_CONTENT_WORDS


def _is_opinion(opening: list[str]) -> bool:
    if _PERSONS.isdisjoint(opening[:_PERSON_WITHIN]):
        return False
    is_judged = any(a in _COPULAS and b in _JUDGEMENTS for a, b in pairwise(opening))
    return is_judged or not _FEELINGS.isdisjoint(opening)
