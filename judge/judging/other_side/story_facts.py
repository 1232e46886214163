"""What of a story can be held against its retelling: numbers, dates, names, quotes, addresses.

Words are compared and not what they mean: that "paid" became "did not pay" is not seen.
"""

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from unicodedata import normalize

from judge.citations.facts import Date, Fact, quantities
from judge.judging.dispute import fold
from judge.text.english import sentences, strip_invisible
from judge.text.names import find_names, find_public_names

Kind = Literal["number", "date", "name", "quote", "address"]

_PIECE = 1500
"""Characters of a long sentence that are read at once; `quantities` reads no more than 2000."""

_DAY_S = 86400.0
_WORD = re.compile(r"\w+")
_ALIKE = (
    (re.compile(r"\btwice\b", re.IGNORECASE), "two times"),
    (re.compile(r"(\w)[ -]years?[ -]old\b", re.IGNORECASE), r"\1"),  # or just "I am 14"
    (
        re.compile(
            r"\b(for|in|of|over|with|within|after|about|nearly|almost|gave|given|got|"
            r"had|has|have) an? "
            r"(?=(?:hour|day|week|fortnight|month|year)\b)",
            re.IGNORECASE,
        ),
        r"\1 one ",
    ),
    (
        re.compile(
            r"\ban? (?=fortnight\b|(?:hour|day|week|month|year) (?:later|ago|before|late|early)\b)",
            re.IGNORECASE,
        ),
        "one ",
    ),
)
"""Other ways to say a number, as they are counted here."""

_CURRENCY = re.compile(r"[£$€]|\b(?:pound|dollar|euro)s?\b", re.IGNORECASE)
_SIGNS = {"£": "pound", "$": "dollar", "€": "euro"}
_CALENDAR = re.compile(
    r"\b(?i:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|april|june|july|august|"
    r"september|october|november|december|christmas|easter|today|yesterday|tomorrow)\b"
    r"|(?<=[a-z,] )(?:March|May)\b"  # elsewhere these are verbs
)
_CODE = re.compile(r"\b[A-Za-z]+\d\w*\b")
"""Such as B12 and M25."""

_CAPITALS = re.compile(r"\b[A-Z]{2,}\b")
"""Such as BBC; but AIBU and DH are words of forums, and may go."""

_ADDRESS = re.compile(r"https?://[^\s\"”]+|\bwww\.[^\s\"”]+|[\w.+-]{1,64}@[\w.-]{3,100}")
_QUOTED = re.compile(r"“([^”]{2,300})”|\"([^\"]{2,300})\"|(?<!\w)['‘](\w[^\n]{1,300}?)['’](?!\w)")
_CAPITALISED_RUN = re.compile(r"[A-Z][\w'’-]*(?:(?: and| &)? [A-Z][\w'’-]*)*")


@dataclass(frozen=True, slots=True)
class ChangedFact:
    """A fact that a retelling left out, or has and may not have."""

    kind: Kind
    words: str
    """What it was, for the model alone: a check rejected it."""

    is_new: bool


def changed_facts(before: str, after: str) -> list[ChangedFact]:
    """What differs between a story and its retelling; none when the facts are the same.

    The name of one person or couple may go: who tells a story hardly names themselves.
    """
    before, after = (normalize("NFKC", strip_invisible(text)) for text in (before, after))
    old, new = _numbers(before), _numbers(after)
    gone = [*_others(old, new), *_missing(before, after)]
    come = [*_others(new, old), *_missing(after, before)]
    lost = [ChangedFact(kind, words, is_new=False) for kind, words in gone]
    added = [ChangedFact(kind, words, is_new=True) for kind, words in come]
    known = {*_WORD.findall(fold(before))}
    invented = [one for one in _CAPITALS.findall(after) if one.casefold() not in known]
    added += [ChangedFact("name", one, is_new=True) for one in dict.fromkeys(invented)]
    return [*_without_teller(before, lost), *added]


def in_short(changed: Sequence[ChangedFact]) -> str:
    """How many facts of which kind changed, without their words: "2 new numbers, 1 lost name"."""
    counts = Counter((one.is_new, one.kind) for one in changed)
    return ", ".join(
        f"{count} {'new' if is_new else 'lost'} {kind}{_plural(kind) if count > 1 else ''}"
        for (is_new, kind), count in counts.items()
    )


def _plural(kind: Kind) -> str:
    return "es" if kind == "address" else "s"


def _missing(here: str, there: str) -> Iterator[tuple[Kind, str]]:
    """The other facts of *here* that *there* has not."""
    if currencies := _currencies(there):
        yield from (("number", sign) for sign in _currencies(here) if sign not in currencies)
    folded = fold(there)
    known = {*_WORD.findall(folded)}
    for kind, words in dict.fromkeys(_days_and_names(here)):
        if not known.issuperset(_WORD.findall(fold(words))):
            yield kind, words
    for kind, words in dict.fromkeys(_verbatim(here)):
        if fold(words).strip(" .,;:!?…)") not in folded:
            yield kind, words


def _days_and_names(text: str) -> Iterator[tuple[Kind, str]]:
    """What must be there by its words, wherever they stand."""
    yield from (("date", day) for day in _CALENDAR.findall(text))
    names = [*find_names(text), *find_public_names(text), *_CODE.findall(text)]
    yield from (("name", name) for name in names)


def _verbatim(text: str) -> Iterator[tuple[Kind, str]]:
    """What must be there to the letter."""
    yield from (("quote", next(filter(None, found))) for found in _QUOTED.findall(text))
    yield from (("address", address) for address in _ADDRESS.findall(text))


def _numbers(text: str) -> dict[tuple[str, ...], None]:
    """The numbers and dates of *text* in words, whatever is counted."""
    for pattern, same in _ALIKE:
        text = pattern.sub(same, text)
    # Not `source_sentences`, which remembers what it was given.
    pieces = (
        text[at : min(at + _PIECE, span.end)]
        for span in sentences(text)
        for at in range(span.start, span.end, _PIECE)
    )
    return {_in_words(fact): None for piece in pieces for fact in quantities(piece)}


def _others(
    ours: Mapping[tuple[str, ...], None], theirs: Container[tuple[str, ...]]
) -> Iterator[tuple[Kind, str]]:
    for fact in ours:
        if fact not in theirs:
            yield ("date" if fact[0] == "date" else "number"), " ".join(fact).strip()


def _currencies(text: str) -> list[str]:
    found = (_SIGNS.get(one, one.lower().rstrip("s")) for one in _CURRENCY.findall(text))
    return list(dict.fromkeys(found))


def _in_words(fact: Fact) -> tuple[str, ...]:
    if isinstance(fact, Date):
        return ("date", *(str(part) for part in (fact.day, fact.month, fact.year) if part))
    in_days = fact.kind == "second" and fact.amount % _DAY_S == 0
    size, unit = (_DAY_S, "days") if in_days else (1.0, fact.kind)
    amounts = [f"{amount / size:.10g}" for amount in (fact.amount, fact.most) if amount]
    return (" to ".join(amounts) or "0", unit)


def _without_teller(before: str, lost: Sequence[ChangedFact]) -> list[ChangedFact]:
    """*lost* without the one name of which most words are in it."""
    gone = {word for one in lost if one.kind == "name" for word in _WORD.findall(one.words)}
    runs = [gone.intersection(_WORD.findall(run)) for run in _CAPITALISED_RUN.findall(before)]
    teller = max(runs, key=len, default=set())
    return [
        one for one in lost if one.kind != "name" or not teller.issuperset(_WORD.findall(one.words))
    ]
