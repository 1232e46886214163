"""Which words of a text are probably names; a guess, since a surname may be a town."""

import re
from collections.abc import Iterator

from judge.text.english import STOP_WORDS, sentences

_TITLED = re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Dr|Prof|Sir)\.? ([A-Z][a-z]+(?:[ -][A-Z][a-z]+)?)")
_CAPITALISED = re.compile(r"\b[A-Z][a-z]+(?:[-'’][A-Z][a-z]+)*\b")
_SPEAKS = re.compile(r"(?:'s|’s)?,? (?:said|says|told|thinks|wants|asked|refuse[sd]|replied)\b")
_PUBLIC = frozenset(
    """
    english british scottish welsh irish england scotland wales ireland britain kingdom london
    american acas facebook whatsapp google amazon ebay tesco sky shelter
    """.split()
)
"""Names, but nobody's own."""

_NO_NAMES = (
    STOP_WORDS
    | _PUBLIC
    | frozenset(
        """
        monday tuesday wednesday thursday friday saturday sunday january february march april may
        june july august september october november december christmas easter ramadan eid diwali
        council citizens advice god mum dad mom nan gran grandma grandad internet universal credit
        whereas street road landlord manager neighbour boss
        """.split()
    )
)
"""Capitalised without being anybody's name."""


def find_public_names(text: str) -> list[str]:
    """The names in *text* that are nobody's own: nations, and what everybody knows by its name."""
    return [word for word in _CAPITALISED.findall(text) if word.casefold() in _PUBLIC]


def find_names(text: str) -> list[str]:
    """The words of *text* that are probably names of people or places, each once."""
    titled = [match.group(1) for match in _TITLED.finditer(text)]
    return list(dict.fromkeys([*titled, *_capitalised(text)]))


def _capitalised(text: str) -> Iterator[str]:
    """Words with a capital inside a sentence, or at its beginning when they speak."""
    starts = {span.start for span in sentences(text)}
    for match in _CAPITALISED.finditer(text):
        if match.group().casefold() in _NO_NAMES:
            continue
        opens = match.start() in starts or text[: match.start()].rstrip()[-1:] in {
            "", *'"“\'‘:([{\n'
        }  # fmt: skip
        if not opens or _SPEAKS.match(text, match.end()):
            yield match.group()
