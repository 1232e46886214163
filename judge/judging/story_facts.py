"""Compares the facts of a story and its retelling: numbers, dates, names, quotes, addresses.

Words are compared, not their meaning: "paid" that became "did not pay" is not noticed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from unicodedata import normalize

from judge.citations.facts import DATE, Date, Fact, quantities
from judge.library.dispute import fold
from judge.text.data import package_data
from judge.text.english import fold_space, is_english, sentences, strip_invisible
from judge.text.names import find_names, find_public_names
from judge.text.untrusted import quoted_text

Kind = Literal["number", "date", "name", "quote", "address"]

_CHUNK = 1500
"""Characters of a long sentence that are parsed at once; `quantities` reads at most 2000."""

_DAY_S = 86400.0
_WORD = re.compile(r"[^\W_]+")  # without the underscores that emphasise: _Sarah_
_AGE = re.compile(r"(\w)[ -]years?[ -]old\b", re.IGNORECASE)  # or just "I am 14"
_NTH = package_data("numbers")["nth"]
_A_PERIOD = re.compile(r"(?i)\ban? (?=(?:hour|day|week|fortnight|month|year)\b)")
"""May be told as "one week", or be a rate: "£50 a week" is "£50 per week"."""

_DATE = re.compile(DATE.pattern, re.IGNORECASE)
_NAMES = (
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February "
    "April June July August September October November December"
).split()
_IN_FULL = {name[:3]: name for name in _NAMES}
_SHORT = re.compile(
    r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:s|nes|rs|ur)?days\b"
    rf"|(?<=[a-z0-9,&][ /-])({'|'.join(_IN_FULL)})(?:rs?|s|t)?\b(?!['’])"
)
"""Fridays, and after another word Thurs and Sept: "Sat in the car" is no day."""

_CALENDAR = re.compile(
    rf"\b(?i:{'|'.join(_NAMES)}|christmas|easter|today|yesterday|tomorrow)\b"
    r"|(?<=[a-z,] )(?:March|May)\b"  # elsewhere these are verbs
)
_CODE = re.compile(r"\b[A-Za-z]+\d\w*\b")  # such as B12 and M25
_CAPITALS = re.compile(r"\b[A-Z]{2,}\b")
"""Such as BBC. A retelling may drop them, since AIBU and DH are forum slang, but not add any."""

_ADDRESS = re.compile(r"https?://[^\s\"”]+|\bwww\.[^\s\"”]+|[\w.+-]{1,64}@[\w.-]{3,100}")
_QUOTED = re.compile(r"“([^”]{2,300})”|\"([^\"]{2,300})\"|(?<!\w)['‘](\w[^\n]{1,300}?)['’](?!\w)")
_CAPITALISED_RUN = re.compile(r"[A-Z][\w'’-]*(?:(?: and| &)? [A-Z][\w'’-]*)*")


@dataclass(frozen=True, slots=True)
class ChangedFact:
    """A fact that a retelling left out, or added."""

    kind: Kind
    words: str
    """The fact itself; shown to the model only, since a check rejected it."""
    is_new: bool

    def __str__(self) -> str:
        """The change in words, for the model."""
        verb = "was added" if self.is_new else "was left out"
        return f"the {self.kind} {quoted_text(self.words)} {verb}"


def changed_facts(before: str, after: str) -> list[ChangedFact]:
    """The facts that differ between a story and its retelling.

    The name of one person or couple may be dropped: people hardly name themselves in a story.
    """
    texts = (normalize("NFKC", strip_invisible(text)) for text in (before, after))
    before, after = (_SHORT.sub(lambda day: _IN_FULL[day[1] or day[2]], text) for text in texts)
    lost = [ChangedFact(kind, words, is_new=False) for kind, words in _missing(before, after)]
    added = [ChangedFact(kind, words, is_new=True) for kind, words in _missing(after, before)]
    old_words = {*_WORD.findall(fold(before))}
    invented = [word for word in _CAPITALS.findall(after) if word.casefold() not in old_words]
    added += [ChangedFact("name", word, is_new=True) for word in dict.fromkeys(invented)]
    names = {word for fact in lost if fact.kind == "name" for word in _WORD.findall(fact.words)}
    runs = [names.intersection(_WORD.findall(run)) for run in _CAPITALISED_RUN.findall(before)]
    teller = max(runs, key=len, default=set())
    kept = (f for f in lost if f.kind != "name" or not teller.issuperset(_WORD.findall(f.words)))
    return [*kept, *added]


def _missing(text: str, other: str) -> Iterator[tuple[Kind, str]]:
    """The facts of *text* that *other* lacks."""
    others = _numbers(_A_PERIOD.sub("one ", other))
    amounts = {amount for amount, *_ in others}
    for fact in _numbers(text):
        is_bare = (fact[0], "") in others or (fact[1] == "" and fact[0] in amounts)
        if fact not in others and not is_bare:  # "950 a month" may be told as £950
            yield ("date" if fact[0] == "date" else "number"), " ".join(fact).strip()
    folded = fold(other)
    other_words = {*_WORD.findall(folded)}
    undated = _DATE.sub(";", text)
    guessed = find_names(undated) if is_english(text) else []  # others inflect, or capitalise nouns
    names = [*guessed, *find_public_names(text), *_CODE.findall(text)]
    days_and_names: list[tuple[Kind, str]] = [("date", day) for day in _CALENDAR.findall(undated)]
    days_and_names += [("name", name) for name in names]
    for kind, words in dict.fromkeys(days_and_names):
        if not other_words.issuperset(_WORD.findall(fold(words))):
            yield kind, words
    quotes = ("".join(groups) for groups in _QUOTED.findall(text))
    verbatim: list[tuple[Kind, str]] = [("quote", quote) for quote in quotes]
    verbatim += [("address", address) for address in _ADDRESS.findall(text)]
    for kind, words in dict.fromkeys(verbatim):
        if fold(words).strip(" .,;:!?…)") not in folded:
            yield kind, words


def _numbers(text: str) -> dict[tuple[str, ...], None]:
    """The numbers with their units, and the dates, in *text*; what is counted is ignored."""
    text = _WORD.sub(lambda word: _NTH.get(word[0], word[0]), text)
    text = _AGE.sub(r"\1", fold_space(text))
    # Not `source_sentences`, which would keep the dispute in its cache.
    chunks = (
        text[at : min(at + _CHUNK, span.end)]
        for span in sentences(text)
        for at in range(span.start, span.end, _CHUNK)
    )
    return {_in_words(fact): None for chunk in chunks for fact in quantities(chunk)}


def _in_words(fact: Fact) -> tuple[str, ...]:
    if isinstance(fact, Date):
        parts = (*sorted((fact.day, fact.month)), fact.year)  # 12/11 may be 11/12
        return ("date", *(str(part) for part in parts if part))
    in_days = fact.kind == "second" and fact.amount % _DAY_S == 0
    size, unit = (_DAY_S, "days") if in_days else (1.0, fact.kind)
    return (f"{fact.amount / size:.10g}", unit)
