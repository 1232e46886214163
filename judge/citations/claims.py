"""Finds the claims of a text, and what it makes up: quotations and addresses that stand nowhere.

A claim with a citation is the text that its mark stands for, without the marks. A sentence without
one is a claim if it states a fact about the world. By its form, without a parser, these are not: a
heading, a question, a greeting, a disclaimer, advice ("Write to them."), a feeling or opinion ("You
are right to be upset."), a line that introduces a list, or one of too few content words.

A quotation is four words or more in the quotation marks of any language, in a sentence that cites.
Words to say ("Tell him: “…”") quote nobody.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from itertools import pairwise
from typing import NamedTuple

from judge.citations.marks import Mark
from judge.citations.support import MIN_CONTENT_WORDS
from judge.text.data import package_data
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

_WORDS = {name: frozenset(listed.split()) for name, listed in package_data("claim_words").items()}
_PERSON_WITHIN, _FEELING_WITHIN = 6, 10
"""Both must be among this many first words: later ones belong to another clause."""


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
            shortest = min(len(content_stems(one)) for one in (piece, *parts[-1:]))
            if parts and shortest < MIN_CONTENT_WORDS:
                parts[-1] += f" {piece}"
            else:
                parts.append(piece)
            places.append(len(parts) - 1)
        parts[-1:] = [f"{part} {after}" for part in parts[-1:]]
        said = [fold_space(strip_invisible(part)) for part in parts]
        texts = [_SPACE_BEFORE.sub("", part).lstrip(",;:) ") for part in said]
        return [Claim(mark, texts[at]) for mark, at in zip(self.marks, places)]


def find_claims(text: str, marks: Sequence[Mark]) -> Iterator[Claim]:
    """The claim of each of *marks*, which are in order, in *text*."""
    for sentence in mark_sentences(text, sentences(text) if marks else [], marks):
        yield from sentence.claims()


def mark_sentences(
    text: str, spans: Sequence[Span], marks: Sequence[Mark]
) -> Iterator[MarkedSentence]:
    """Each sentence of *text*, given by *spans*, with the *marks* that begin in it.

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


def makes_claim(sentence: str) -> bool:
    """Whether *sentence*, which has no citation marks, states a fact about the world."""
    is_title = is_heading(sentence) or _BOLD.fullmatch(sentence)
    is_open = sentence.rstrip("\"'”’)]*_ ").endswith(("?", ":", "？"))
    if is_title or is_open or _DISCLAIMER.search(sentence):
        return False
    opening = words(_LABEL.sub("", sentence))[:_FEELING_WITHIN]
    if not opening or opening[0] in _WORDS["greetings"] | _WORDS["advice"]:
        return False
    is_judged = any(
        a in _WORDS["copulas"] and b in _WORDS["judgements"] for a, b in pairwise(opening)
    )
    is_felt = is_judged or not _WORDS["feelings"].isdisjoint(opening)
    if is_felt and not _WORDS["persons"].isdisjoint(opening[:_PERSON_WITHIN]):
        return False
    return len(set(content_stems(sentence))) >= MIN_CONTENT_WORDS


MIN_QUOTED = 4
"""Words of a quotation; fewer are a term or a tone."""

_QUOTATION = re.compile(
    r"[“„«»‟❝〝]\s?(?P<double>[^“”„«»‟❝❞〝〞]{3,600}?)\s?[”“»«‟❞〞]"
    r"|(?<!\d)[\"＂](?P<straight>[^\"＂]{3,600})[\"＂]|(?<!\S)”(?=\w)(?P<same>[^“”]{3,600})”"
    r"|「(?P<corner>[^「」]{3,600})」|『(?P<white>[^『』]{3,600})』|[‹›](?P<single>[^‹›]{3,600})[›‹]"
    r"|(?<!\w)[‘‚'](?=\S)(?!(?:\d0s|till?|em|cause)\b)(?P<inner>(?:[^‘‚'’]|(?<=\w)['’](?=\w)){3,600})['’‘](?!\w)"
)
_QUOTE = re.compile(r"&(?:quot|[lr]dquo|#34|#822[01]|#x201[cd]);|</?q>|``|(?<!\d)''", re.IGNORECASE)
_LEFT_OUT = re.compile(r"…|\. ?\. ?\.|\[[^\[\]]{0,60}\]")
"""Where a quotation leaves something out, or explains it."""

_TELLING = re.compile(
    r"(?:^|[.;:,!?–—-]\s*"
    r"|\b(?:and|or|then|(?<!on )to|could|can|might|may|should|just|simply|please)\s)"
    r"(?:tell|say|ask|write|try|text|e-?mail|message|reply|answer|respond|explain|put|add|suggest"
    r"|phrase|begin|start|open|finish|end|close|offer|send|keep it|for (?:example|instance))"
    r"\b[^“”\"]{0,60}$"
    r"|\b(?:try|consider|by|start|begin) (?:saying|writing|asking|telling|adding)\b[^“”\"]{0,20}$"
    r"|\b(?:text|message|letter|e-?mail|note|line|sentence|words?|something)"
    r" (?:such as|like|with)\s*$|\b(?:script|draft|wording|template|message):\s*$"
    r"|\b(?:(?:could|might|should) (?:read|go|run)|let (?:him|her|them) know)\b[^“”\"]{0,20}$"
    r"|\b(?:if|when) (?:\w+ ){1,3}(?:says?|answers?|asks?|repl(?:ies|y)|claims?)\b[^“”\"]{0,20}$",
    re.IGNORECASE,
)
_DETERMINER = re.compile(r"(?i:\b(?:an?|the|this|that|his|her|their|your)|\w['’]s) $")
_SOURCE_SAYS = re.compile(
    r"(?:\b(?:guidance|page|law|rules?|source|text|reference|act|it)|\]) "
    r"(?:clearly |even |also |then )?"
    r"(?:says?|states?|tells?|puts?|adds?|explains?|writes?|reads?|asks?)\b",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"\b(?:sa(?:id|ys)|wr(?:ote|ites)|told|tells|stat(?:es|ed)|answer(?:s|ed)|repli(?:es|ed)"
    r"|texted|puts? it)\b[^“”\"]{0,40}$",
    re.IGNORECASE,
)
_SPEAKER = re.compile(
    r"\b(?:I|I['’]\w+|my|me|we|us|our|please|(?:could|would|can|will) you)\b", re.IGNORECASE
)

_PERSON = re.compile(
    r" (?:(?:i|you|s?he|we|they)(?:'\w+| am| are| is| was)?|m[ey]|your|h(?:is|im|er)|our|their)\b"
)

_PATH = r"[^\s<>\"“”«»`—\[\]]"
_ADDRESS = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"
    rf"|(?:https?://|\bwww\.){_PATH}{{2,400}}|(?<![\w.@/-])(?:[a-z0-9-]{{1,63}}\.)+"
    r"(?:com|org|net|uk|eu|ie|info|io|gov|edu|scot|wales|cymru|au|ca|nz)"
    rf"\b(?:/{_PATH}{{0,400}})?",
    re.IGNORECASE,
)
_DIGIT = r"(?: ?\(0\))?[ ).\u2010-\u2013-]{0,2}\d"
_PHONE = re.compile(
    rf"(?<![\w£$€.,/+-])(?P<number>(?:\+\d|\(?0\d)(?:{_DIGIT}){{7,13}}|1[38]00(?:{_DIGIT}){{6}}"
    r"|(?:1[ .-]?)?\(?[2-9]\d\d(?:\) ?|[ .-])\d{3}[ .-]\d{4})(?![\w/])"
    r"|\b(?:call|ring|phone|dial|text|helpline)\b(?: \w+){0,3}? ?"
    rf"(?P<dialled>\(?\d(?:{_DIGIT}){{4,14}})(?![\w/%])",
    re.IGNORECASE,
)
_NO_PHONE = re.compile(r"\d\d?[./-]\d\d?[./-]\d\d|^\d\d?\.\d\d ?[-–] ?\d|^(?:19|20)\d\d[ –-]")
"""Dates, hours and years."""
_BETWEEN_DIGITS = re.compile(r"[ ().\u2010-\u2013-]+(?=\d)|\(0\)")
_DIALLING_CODE = re.compile(r"^\D*(?:(?:\+|00)(?:1|35\d|\d\d)|0|1(?=\d{10}))|\D")
"""Of a country, or the 0 before the rest: one number may be written with either."""


def made_up_quotations(text: str, marks: Sequence[Mark], known: Iterable[str]) -> Iterator[str]:
    """The quotations in those sentences of *text* with one of *marks* that no text *known* has."""
    straight = _QUOTE.sub(lambda mark: '"'.ljust(len(mark[0])), text)
    quotations = list(_QUOTATION.finditer(straight))
    if not quotations:
        return
    texts = [_as_words(one) for one in known]
    spans = sentences(text)
    for quotation in quotations:
        overlapping = [s for s in spans if s.start < quotation.end() and quotation.start() < s.end]
        is_cited = any(s.start <= mark.start < s.end for s in overlapping for mark in marks)
        before = text[overlapping[0].start : quotation.start()] if overlapping else ""
        said = str(quotation[str(quotation.lastgroup)])
        is_before_noun = text[quotation.end() + 1 : quotation.end() + 2].islower()
        is_short = is_before_noun and len(words(said)) <= MIN_QUOTED + 1
        is_rule = is_short and _DETERMINER.search(before)  # a “use it or lose it” rule
        if is_cited and not (is_rule or _is_to_say(before, said) or _stands_in(said, texts)):
            yield text[slice(*quotation.span())]


def made_up_addresses(text: str, known: Iterable[str]) -> Iterator[str]:
    """The addresses, e-mail addresses and telephone numbers of *text* that no text *known* has."""
    text = fold_space(text)
    addresses = [found[0].rstrip(".,;:!?)]}'’*_") for found in _ADDRESS.finditer(text)]
    numbers = [found["number"] or found["dialled"] for found in _PHONE.finditer(text)]
    if not addresses and not numbers:
        return
    texts = "\n".join([*known, "gov.uk nhs.uk"]).lower()
    for address in addresses:
        bare = re.sub(r"^(?:https?://)?(?:www\.)?", "", address.lower()).rstrip("/")
        if not re.search(rf"(?<![\w-]){re.escape(bare)}(?![\w-])", texts):
            yield address
    joined = _BETWEEN_DIGITS.sub("", texts)
    for number in numbers:
        national = _DIALLING_CODE.sub("", _BETWEEN_DIGITS.sub("", number))
        is_known = national[:10] in joined  # not the hours after it: "0808 800 4444 24 hours"
        if len(national) > 4 and not _NO_PHONE.search(number) and not is_known:
            yield number


def _is_to_say(before: str, said: str) -> bool:
    """Whether the words *said* after *before* are words for the person to say."""
    if _TELLING.search(before) and not _SOURCE_SAYS.search(before):
        return True
    return bool(_SPEAKER.search(said)) and not _SAID.search(before)


def _stands_in(quotation: str, texts: Sequence[str]) -> bool:
    pieces = _LEFT_OUT.split(re.sub(r"\[(\w)\](?=\w)", r"\1", quotation))  # [y]our
    if len(words(" ".join(pieces))) < MIN_QUOTED:
        return True
    return any(all(_as_words(part) in text for part in pieces if words(part)) for text in texts)


def _as_words(text: str) -> str:
    """The words of *text* as displayed, with spaces around: of "I'm late" as of "you are late"."""
    return _PERSON.sub(" they", f" {' '.join(words(unescape(text)))} ")
