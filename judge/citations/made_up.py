"""Finds what a text makes up: quotations and addresses that stand in nothing it was given.

A quotation is four words or more in the quotation marks of any language, in a sentence that cites.
Words to say ("Tell him: “…”") quote nobody.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from judge.citations.marks import Mark
from judge.text.english import sentences, words

MIN_QUOTED: Final = 4
"""Words of a quotation; fewer are a term or a tone."""

_QUOTATION: Final = re.compile(
    r"[“„«»‟]\s?(?P<double>[^“”„«»‟]{3,600}?)\s?[”“»«‟]|\"(?P<straight>[^\"]{3,600})\""
    r"|「(?P<corner>[^「」]{3,600})」|『(?P<white>[^『』]{3,600})』|[‹›](?P<single>[^‹›]{3,600})[›‹]"
    r"|(?<!\w)[‘‚'](?=\S)(?!\d0s)(?P<inner>(?:[^‘‚'’]|(?<=\w)['’](?=\w)){3,600})['’‘](?!\w)"
)
_LEFT_OUT: Final = re.compile(r"…|\.\.\.|\[[^\[\]]{0,60}\]")
"""Where a quotation leaves something out, or explains it."""

_TELLING: Final = re.compile(
    r"(?:^|[.;:,!?–—-]\s*"
    r"|\b(?:and|or|then|(?<!on )to|could|can|might|may|should|just|simply|please)\s)"
    r"(?:tell|say|ask|write|try|text|e-?mail|message|reply|answer|respond|explain|put|add|suggest"
    r"|phrase|begin|start|open|finish|end|close|offer|send|keep it|for (?:example|instance))"
    r"\b[^“”\"]{0,60}$"
    r"|\b(?:try|consider|by|start|begin) (?:saying|writing|asking|telling|adding)\b[^“”\"]{0,20}$"
    r"|\b(?:text|message|letter|e-?mail|note|line|sentence|words?|something)"
    r" (?:such as|like|with)\s*$",
    re.IGNORECASE,
)
_SOURCE_SAYS: Final = re.compile(
    r"(?:\b(?:guidance|page|law|rules?|source|text|reference|act|it)|\]) "
    r"(?:clearly |even |also |then )?"
    r"(?:says?|states?|tells?|puts?|adds?|explains?|writes?|reads?|asks?)\b",
    re.IGNORECASE,
)
_SAID: Final = re.compile(
    r"\b(?:sa(?:id|ys)|wr(?:ote|ites)|told|tells|stat(?:es|ed)|answer(?:s|ed)|repli(?:es|ed)"
    r"|texted|puts? it)\b[^“”\"]{0,40}$",
    re.IGNORECASE,
)
_SPEAKER: Final = re.compile(
    r"\b(?:I|I['’]\w+|my|me|we|us|our|please|(?:could|would|can|will) you)\b", re.IGNORECASE
)

_ADDRESS: Final = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"
    r"|(?:https?://|\bwww\.)[^\s<>\"“”«»]{2,400}"
    r"|(?<![\w.@/-])(?:[a-z0-9-]{1,63}\.)+(?:com|org|net|uk|eu|ie|info|io|gov|edu|scot|wales|cymru)"
    r"\b(?:/[^\s<>\"“”«»]{0,400})?",
    re.IGNORECASE,
)
_PHONE: Final = re.compile(
    r"(?<![\w£$€.,/+-])(?P<number>(?:\+|\(?0\d)[\d ().\u2010-\u2013-]{7,20}\d)(?![\w/])"
    r"|\b(?:call|ring|phone|dial|text|helpline)\b(?: \w+){0,3}? ?"
    r"(?P<dialled>\(?\d[\d ().\u2010-\u2013-]{3,20}\d)(?![\w/%])",
    re.IGNORECASE,
)
_DATE: Final = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}")
_BETWEEN_DIGITS: Final = re.compile(r"[ ().\u2010-\u2013-]+(?=\d)|\(0\)")
_EVERYBODY_KNOWS: Final = frozenset({"gov.uk", "www.gov.uk", "nhs.uk", "www.nhs.uk"})
"""Names of whole sites that everybody knows, without a path."""


def made_up_quotations(text: str, marks: Sequence[Mark], known: Iterable[str]) -> Iterator[str]:
    """The quotations in those sentences of *text* with one of *marks* that no text *known* has."""
    quotations = list(_QUOTATION.finditer(text)) if marks else []
    if not quotations:
        return
    texts = [_as_words(one) for one in known]
    spans = sentences(text)
    for quotation in quotations:
        around = [s for s in spans if s.start < quotation.end() and quotation.start() < s.end]
        is_cited = any(s.start <= mark.start < s.end for s in around for mark in marks)
        before = text[around[0].start : quotation.start()] if around else ""
        said = str(quotation[str(quotation.lastgroup)])
        if is_cited and not (_is_to_say(before, said) or _stands_in(said, texts)):
            yield quotation[0]


def made_up_addresses(text: str, known: Iterable[str]) -> Iterator[str]:
    """The addresses, e-mail addresses and telephone numbers of *text* that no text *known* has."""
    addresses = [found[0].rstrip(".,;:!?)]}'’*_") for found in _ADDRESS.finditer(text)]
    numbers = [found["number"] or found["dialled"] for found in _PHONE.finditer(text)]
    if not addresses and not numbers:
        return
    texts = "\n".join(known).lower()
    for address in addresses:
        plain = re.sub(r"^(?:https?://)?(?:www\.)?", "", address.lower()).rstrip("/")
        if plain not in texts and plain not in _EVERYBODY_KNOWS:
            yield address
    joined = _BETWEEN_DIGITS.sub("", texts)
    for number in numbers:
        digits = re.sub(r"\D", "", _BETWEEN_DIGITS.sub("", number))
        if len(digits) > 4 and not _DATE.search(number) and digits[-9:] not in joined:
            yield number


def _is_to_say(before: str, said: str) -> bool:
    """Whether the words *said* after *before* are words for the person to say."""
    if _TELLING.search(before) and not _SOURCE_SAYS.search(before):
        return True
    return bool(_SPEAKER.search(said)) and not _SAID.search(before)


def _stands_in(quotation: str, texts: Sequence[str]) -> bool:
    parts = [_as_words(part) for part in _LEFT_OUT.split(quotation) if words(part)]
    if sum(part.count(" ") - 1 for part in parts) < MIN_QUOTED:
        return True
    return any(all(part in text for part in parts) for text in texts)


def _as_words(text: str) -> str:
    """The words of *text* with a space around each."""
    return f" {' '.join(words(text))} "
