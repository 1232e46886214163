"""Extracts the numbers of a sentence: quantities with bounds, rates and dates; compares them.

"two weeks", "14 days" and "a fortnight" are equal; "24 hours" and "14 hours" are not.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Literal

from judge.citations.vocabulary import MONTHS, SMALL_NUMBERS, TENS, plain
from judge.text.english import fold_space

Bound = Literal["", "least", "most"]

_MAX_CHARACTERS = 2000
"""Characters read of a sentence; longer text is a table."""

_DAY = 86400.0
_UNITS = {
    "second": ("second", 1.0), "minute": ("second", 60.0), "min": ("second", 60.0),
    "hour": ("second", 3600.0), "hr": ("second", 3600.0), "day": ("second", _DAY),
    "week": ("second", 7 * _DAY), "fortnight": ("second", 14 * _DAY), "month": ("month", 1.0),
    "year": ("month", 12.0), "yr": ("month", 12.0), "metre": ("metre", 1.0),
    "meter": ("metre", 1.0), "m": ("metre", 1.0), "km": ("metre", 1000.0),
    "kilometre": ("metre", 1000.0), "mile": ("mile", 1.0), "mph": ("mph", 1.0),
    "percent": ("%", 1.0), "per cent": ("%", 1.0), "%": ("%", 1.0), "p": ("money", 0.01),
    "pence": ("money", 0.01), "pound": ("money", 1.0), "euro": ("money", 1.0),
    "dollar": ("money", 1.0), "decibel": ("decibel", 1.0), "db": ("decibel", 1.0),
    "time": ("time", 1.0), "am": ("clock", 1.0), "pm": ("clock", 1.0),
}  # fmt: skip
_LARGE = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "bn": 1e9}
_SUFFIXES = {"k": 1e3, "m": 1e6, "bn": 1e9}
"""After an amount of money only: £2m, but 2m alone is a length."""

_WORDS = (
    {word: float(n) for n, word in enumerate(SMALL_NUMBERS)}
    | {w: 10.0 * n for n, w in enumerate(TENS, 3)}
    | {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "dozen": 12.0}
)  # fmt: skip
_MULTIPLES = frozenset({"dozen", "hundred", "thousand", "million"})
_PARTS = {"half": 50.0, "quarter": 25.0, "third": 100 / 3}
_TIMES = {"once": 1.0, "twice": 2.0, "several times": 3.0, "many times": 3.0}
_RATES = {
    "daily": 1.0, "weekly": 7.0, "fortnightly": 14.0, "monthly": 30.0, "annually": 360.0,
    "yearly": 360.0,
}  # fmt: skip
_DAYS = {"day": 1.0, "week": 7.0, "fortnight": 14.0, "month": 30.0, "year": 360.0}

_MONTH = "|".join(f"{name}|{name[:3]}" for name in MONTHS)
_WORD = "|".join(_WORDS)
_DATE = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:[snrt][tdh])?(?: of)? (?P<month>{_MONTH})\b"
    rf"(?:,? (?P<year>\d{{4}}))?\b"
    rf"|\b(?P<month2>{_MONTH}) (?P<day2>\d{{1,2}})(?:[snrt][tdh])?\b(?:,? (?P<year2>\d{{4}}))?\b"
    rf"|\b(?P<month3>{_MONTH}) (?P<year3>\d{{4}})\b"
    rf"|(?<![\d.,£$€])(?P<year4>1\d{{3}}|20\d\d)\b(?![.,]\d| (?:{'|'.join(_UNITS)})s?\b)"
)
_RATE = re.compile(
    rf"\b(?:every|each) (?:(?P<number>\d+|{_WORD}) )?(?P<unit>{'|'.join(_DAYS)})s?\b"
    rf"|\b(?P<rate>{'|'.join(_RATES)})\b"
)

_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_ORDINAL = re.compile(
    rf"\b(?P<nth>{'|'.join(_ORDINALS)}|\d+(?:st|nd|rd|th)) (?P<unit>day|week|month|year)\b"
    rf"|\b(?P<unit2>day|week|month|year) (?P<number>\d+|{_WORD})\b"
)
_AMOUNT = re.compile(
    rf"(?:(?P<sign>[£$€]) ?)?(?<![\w.])(?P<digits>\d[\d,]*(?:\.\d+)?)(?P<suffix>[a-z]+\b|%)?"
    rf"|(?!(?<=\d[ -])(?:{'|'.join(_MULTIPLES)})\b)\b"
    rf"(?P<spelt>(?:{_WORD})(?:(?:[ -]|(?<=hundred) and |(?<=thousand) and )(?:{_WORD}))*)\b"
    rf"|\b(?P<part>{'|'.join(_PARTS)})\b"
    rf"|(?<!\bat )\b(?P<times>{'|'.join(_TIMES)})\b|\b(?P<a>an?)\b"
)
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_OR_TWO = re.compile(rf"\b(?:an?|one) (?P<unit>{_UNIT}) or (?P<more>two|so)\b")
_DIGITS = r"\d[\d,]*+(?:\.\d+)?+(?!\.\d)"
"""Neither a date such as 1.5.2024 nor a clause such as 2.3.4, which are no numbers."""

_SPAN = re.compile(
    rf"(?P<sign>[£$€] ?)?(?<![\w.])(?P<low>{_DIGITS}|{_WORD})(?: to | or | and |[ ]?[-–][ ]?)"
    rf"(?:[£$€] ?)?(?P<high>{_DIGITS}|{_WORD})(?:[ -]?(?P<unit>{_UNIT})s?\b)?"
)
_NOUN = re.compile(
    r"(?:[ -](?:working|calendar|clear|full|consecutive|whole))*[ -]?"
    rf"(?P<large>{'|'.join(_LARGE)})?[ -]?(?P<noun>per cent|[a-z]+)?"
)
_BOUND_BEFORE = re.compile(
    r"\b(?:(?P<most>at most|up to|not exceed(?:ing)?"
    r"|(?:no|not|never) (?:more|longer|later|higher|older|larger|greater) than"
    r"|(?:less|fewer|younger|shorter|lower) than|maximum(?: of)?|under|below|within|inside|before"
    r"|prior to|by|until|only|not after|just|down to)"
    r"|(?P<least>at least|(?:no|not|never) (?:less|fewer|earlier|sooner|lower|shorter|younger) than"
    r"|not (?:before|until)|(?:more|longer|older|greater|higher|later) than|minimum(?: of)?|over"
    r"|above|after|exceed(?:s|ing)?|from|since|aged|beyond|outside))"
    r"(?: the)?(?: age of)? ?$"
)
_BOUND_AFTER = re.compile(
    r"(?: a (?:day|week|month|year))? ?"
    r"(?:(?P<most>or (?:less|fewer|under|younger|below|sooner|earlier)|and under|maximum|at most)"
    r"|(?P<least>or (?:more|over|older|above|longer|later)|and (?:over|above|older)|minimum))\b"
)
_NEGATION = re.compile(
    r"\b(?:not|never|refuse|nobody|no one)\b"
    r"(?:(?! (?:if|unless|when|until|where|who|which|that|because|after) )[^,.;:])*$"
)
"""A negation some words before the comparison: "cannot work more than 48"."""

_NOUN_BEFORE = re.compile(r"\b(?:an?|the|your|for) [a-z]+ $")
"""A bound after such a noun is not negated: "no permission for a fence under two metres"."""

_FIGURE = re.compile(r"\d")
_LETTERS = re.compile(r"[a-z]+")
_COUNTING = frozenset(
    {*_ORDINALS, *_WORDS, *_RATES, *_PARTS, *_TIMES, *_UNITS, *(f"{u}s" for u in _UNITS), "cent"}
)

_BOUND_WITHIN = 60
"""Characters before and after a number."""

_MAX_EXTRA = 2
"""Numbers of a claim that its source may lack; more would be another list, and take seconds."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount of a `kind`, which is a base unit, or "" for a bare count of `noun`.

    `high` is the upper end of a span such as "24 to 48 hours", else 0.
    """

    amount: float
    kind: str
    bound: Bound = ""
    noun: str = ""
    high: float = 0.0
    is_negated: bool = field(default=False, compare=False)
    """Whether its bound is negated: "cannot work more than 48"."""


@dataclass(frozen=True, slots=True)
class Date:
    """A date, possibly partial: parts that are not given are 0.

    `bound` is `most` if it is the end of a period: "until", "on or before".
    """

    day: int
    month: int
    year: int
    bound: Bound = ""


Fact = Quantity | Date


def quantities(sentence: str) -> list[Fact]:
    """The dates, rates and other numbers of *sentence*."""
    text = fold_space(plain(sentence[:_MAX_CHARACTERS]))  # "two\nweeks", as in wrapped text
    if not _FIGURE.search(text) and _COUNTING.isdisjoint(_LETTERS.findall(text)):
        return []  # As in most sentences; each pattern takes 10 µs and more.
    facts: list[Fact] = [_date(match, text) for match in _DATE.finditer(text)]
    text = _DATE.sub(_blank, text) if facts else text
    facts += [_ordinal(match) for match in _ORDINAL.finditer(text)]
    text = _ORDINAL.sub(_blank, text)
    facts += [_rate(match) for match in _RATE.finditer(text)]
    text = _OR_TWO.sub(_span_in_figures, _RATE.sub(_blank, text))
    for match in _SPAN.finditer(text):
        if span := _span(match):
            facts.append(span)
            text = text[: match.start()] + _blank(match) + text[match.end() :]
    return [*facts, *_amounts(text)]


def differ(ours: Sequence[Fact], theirs: Sequence[Fact]) -> bool:
    """Whether a number of ours conflicts with those of the same kind in theirs.

    One or two besides all of theirs are no conflict but details of the case: "after 18 months, as
    two years are needed".
    """
    others = islice(_missing(ours, theirs), _MAX_EXTRA + 1)
    for count, (fact, same_kind) in enumerate(others, start=1):
        is_measured = isinstance(fact, Quantity) and fact.kind
        is_more = sum(_comparable(fact, other) for other in ours) > len(same_kind)
        if count > _MAX_EXTRA or not (is_measured and is_more and has_all(same_kind, ours)):
            return True
    return False


def _missing(ours: Sequence[Fact], theirs: Sequence[Fact]) -> Iterator[tuple[Fact, Sequence[Fact]]]:
    """The numbers of ours missing from theirs, each with those of the same kind in theirs."""
    for fact in ours:
        same_kind = [other for other in theirs if _comparable(fact, other)]
        if same_kind and not any(_agree(fact, other) for other in same_kind):
            yield fact, same_kind


def is_bound_reversed(ours: Sequence[Fact], theirs: Sequence[Fact]) -> bool:
    """Whether the numbers of one already express the negation of the other.

    "Less than a week is not enough" means "at least a week", and "not more than once" is "once".
    """
    is_reversed = False
    for fact in ours:
        same_kind = [other for other in theirs if _comparable(fact, other)]
        agreeing = [other for other in same_kind if _agree(fact, other)]
        if agreeing:
            is_reversed |= all(_is_negated(fact) != _is_negated(other) for other in agreeing)
        elif same_kind:
            if not any(_is_out_of_bounds(fact, other) for other in same_kind):
                return False
            is_reversed = True
    return is_reversed


def _is_negated(fact: Fact) -> bool:
    return isinstance(fact, Quantity) and fact.is_negated


def _is_out_of_bounds(one: Fact, other: Fact) -> bool:
    if isinstance(one, Date) or isinstance(other, Date) or one.kind != other.kind:
        return False
    if one.is_negated or other.is_negated or not other.bound or one.bound == other.bound:
        return False
    return one.amount == other.amount or not _is_within(one, other)


def has_all(ours: Sequence[Fact], theirs: Sequence[Fact]) -> bool:
    """Whether theirs has every number of ours."""
    return all(any(_agree(fact, other) for other in theirs) for fact in ours)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _date(match: re.Match[str], text: str) -> Date:
    group = match.groupdict()
    month = group["month"] or group["month2"] or group["month3"]
    return Date(
        int(group["day"] or group["day2"] or 0),
        next((n for n, name in enumerate(MONTHS, 1) if month and name.startswith(month)), 0),
        int(group["year"] or group["year2"] or group["year3"] or group["year4"] or 0),
        _bound(text[max(0, match.start() - _BOUND_WITHIN) : match.start()], ""),
    )


def _rate(match: re.Match[str]) -> Quantity:
    if match["rate"]:
        return Quantity(_RATES[match["rate"]], "every")
    return Quantity(_figure(match["number"] or "one") * _DAYS[match["unit"]], "every")


def _ordinal(match: re.Match[str]) -> Quantity:
    """Parse "the sixth day" or "day six"."""
    if match["number"]:
        return Quantity(_figure(match["number"]), f"{match['unit2']} number")
    nth = match["nth"]
    number = _ORDINALS.index(nth) + 1.0 if nth in _ORDINALS else float(nth[:-2])
    return Quantity(number, f"{match['unit']} number")


def _span_in_figures(match: re.Match[str]) -> str:
    """Write "a day or two" as a span, "1-2 day"; "a week or so" is too vague to compare."""
    return f"1-2 {match['unit']}" if match["more"] == "two" else "about then"


def _span(match: re.Match[str]) -> Quantity | None:
    """The span between two numbers of one unit; None if they are not a span."""
    low, high = _figure(match["low"]), _figure(match["high"])
    unit = ("money", 1.0) if match["sign"] else _unit(match["unit"] or "")
    if unit is None or unit[0] == "clock" or low >= high:
        return None
    return Quantity(low * unit[1], unit[0], high=high * unit[1])


def _figure(written: str) -> float:
    return _WORDS[written] if written in _WORDS else float(written.replace(",", ""))


def _amounts(text: str) -> Iterator[Quantity]:
    for match in _AMOUNT.finditer(text):
        before = text[max(0, match.start() - _BOUND_WITHIN) : match.start()]
        after = text[match.end() : match.end() + _BOUND_WITHIN]
        if match["a"] and _unit((before.split() or [""])[-1]):
            continue  # "28 days a year"
        quantity = _quantity(match, before, after)
        if quantity is not None:
            bound = _BOUND_BEFORE.search(before)
            is_negated = bound and _is_bound_negated(before[: bound.start()])
            yield replace(quantity, is_negated=True) if is_negated else quantity


def _quantity(match: re.Match[str], before: str, after: str) -> Quantity | None:
    if match["part"]:
        return Quantity(_PARTS[match["part"]], "%", _bound(before, after))
    if match["times"]:
        return Quantity(_TIMES[match["times"]], "time", _bound(before, ""))
    noun = _NOUN.match(after)
    following = (noun["noun"] if noun else None) or ""
    amount, written = _number(match)
    if noun and noun["large"]:
        amount *= _LARGE[noun["large"]]
    unit = _unit(written) or _unit(following)
    bound = _bound(before, after[noun.end() if noun and unit and not written else 0 :])
    if (match["a"] or match["spelt"] == "one") and (
        unit is None or (match["a"] and not (bound or before.endswith("for ")))
    ):
        return None
    if match["sign"]:
        return Quantity(amount * _SUFFIXES.get(written, 1.0), "money", bound)
    if unit is None:
        return Quantity(amount, "", bound, following)
    if unit[0] == "clock":
        amount = amount % 12 + 12 * ("pm" in {written, following})
    return Quantity(amount * unit[1], unit[0], bound)


def _number(match: re.Match[str]) -> tuple[float, str]:
    """The amount, and the suffix written to it: `m` for `£2m`."""
    if match["digits"]:
        return float(match["digits"].replace(",", "")), match["suffix"] or ""
    total = below = 0.0
    for word in re.split(r"[ -]", match["spelt"] or "one"):
        value = _WORDS.get(word, 0.0)  # "and" is none
        below = max(below, 1.0) * value if word in _MULTIPLES else below + value
        if value >= 1e3:
            total, below = total + below, 0.0
    return total + below, ""


def _unit(noun: str) -> tuple[str, float] | None:
    return _UNITS.get(noun) or (_UNITS.get(noun[:-1]) if noun.endswith("s") else None)


def _bound(before: str, after: str) -> Bound:
    match = _BOUND_BEFORE.search(before) or _BOUND_AFTER.match(after)
    if match is None:
        return ""
    is_least = bool(match["least"]) != _is_bound_negated(before[: match.start()])
    return "least" if is_least else "most"


def _is_bound_negated(before: str) -> bool:
    negation = _NEGATION.search(before)
    return negation is not None and not _NOUN_BEFORE.search(negation[0])


def _comparable(one: Fact, other: Fact) -> bool:
    if isinstance(one, Date) and isinstance(other, Date):
        return bool(one.month) == bool(other.month)
    if isinstance(one, Date) or isinstance(other, Date):
        return False
    if one.kind != other.kind:
        return {one.kind, other.kind} == {"second", "month"}
    return bool(one.kind) or one.noun[:4] == other.noun[:4]


def _agree(one: Fact, other: Fact) -> bool:
    bounds = {one.bound, other.bound}
    if isinstance(one, Date) and isinstance(other, Date):
        pairs = ((one.day, other.day), (one.month, other.month), (one.year, other.year))
        given = [(a, b) for a, b in pairs if a and b]
        return bool(given) and all(a == b for a, b in given) and bounds != {"least", "most"}
    if isinstance(one, Date) or isinstance(other, Date):
        return False
    if one.high or other.high:
        return one.kind == other.kind and _overlap(one, other)
    if bounds == {"least", "most"} or (one.kind == "time" and bounds == {"least", ""}):
        return False
    if {one.kind, other.kind} == {"second", "month"}:
        days, months = sorted((one, other), key=lambda fact: fact.kind == "month")
        return 28 * _DAY * months.amount <= days.amount <= 31 * _DAY * months.amount
    is_same = abs(one.amount - other.amount) < 1e-6 * max(1.0, one.amount)
    return one.kind == other.kind and is_same


def _is_within(one: Quantity, other: Quantity) -> bool:
    """Whether the amount of *one* is within the bound of the *other*."""
    if not other.bound:
        return False
    is_most = other.bound == "most"
    return one.amount <= other.amount if is_most else one.amount >= other.amount


def _overlap(one: Quantity, other: Quantity) -> bool:
    """Whether two spans, or a span and an amount, overlap."""
    return one.amount <= max(other.amount, other.high) and other.amount <= max(one.amount, one.high)
