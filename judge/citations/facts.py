"""Extracts the numbers of a sentence, quantities and dates, and compares them.

"two weeks", "14 days" and "a fortnight" are equal; "24 hours" and "14 hours" are not.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass

from judge.text.english import fold_space

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
    "dollar": ("money", 1.0), "time": ("time", 1.0),
}  # fmt: skip
"""The kind of each unit, and its size in the base unit of that kind."""

_LARGE = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "bn": 1e9}
_LARGE_MONEY = {"k": 1e3, "m": 1e6}
"""After an amount of money only: £2m, but 2m alone is a length."""

SMALL_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
).split()
_TENS = "thirty forty fifty sixty seventy eighty ninety".split()
_WORDS = (
    {word: float(n) for n, word in enumerate(SMALL_NUMBERS)}
    | {word: 10.0 * n for n, word in enumerate(_TENS, 3)}
    | {"dozen": 12.0, "hundred": 1e2, "thousand": 1e3, "million": 1e6}
)
_MONTHS = (
    "january february march april may june july august september october november december"
).split()

FIGURES = frozenset(
    "half third quarter thirds quarters first second fourth fifth sixth seventh eighth ninth tenth "
    "per cent twice aged am pm noon midday midnight".split()
).union(_WORDS, _LARGE, _UNITS, _MONTHS, (f"{unit}s" for unit in _UNITS))
"""Words of numbers, units and dates, which are compared as facts and not as words."""

_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS).replace("|sep", "|sept?")
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
DATE = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:[snrt][tdh])?(?: of)? (?P<month>{_MONTH})\b\.?"
    rf"(?:,? (?P<year>\d{{4}}))?\b"
    rf"|\b(?P<month2>{_MONTH})\.? (?P<day2>\d{{1,2}})(?:[snrt][tdh])?\b(?:,? (?P<year2>\d{{4}}))?\b"
    rf"|\b(?P<month3>{_MONTH})\.? (?P<year3>\d{{4}})\b"
    rf"|(?<![\d.,£$€])(?P<year4>1\d{{3}}|20\d\d)\b(?![.,]\d| (?:{_UNIT})s?\b)"
)
_WORD = "|".join(_WORDS)
_NUMBER = (
    r"(?<=[£$€])\d{1,3}(?: \d{3})+\b|\d[\d,]*+(?:\.\d+)?+(?!\.\d)"
    rf"|\b(?:{_WORD})(?:(?:[ -]|(?<=hundred) and |(?<=thousand) and )(?:{_WORD}))*\b"
)
"""In figures or words; a date such as 1.5.2024 and a clause such as 2.3.4 are no numbers."""

_AMOUNT = re.compile(
    rf"(?P<sign>[£$€] ?)?(?<![\w.])(?P<low>{_NUMBER})"
    rf"(?:(?: to | or | and | ?[-–] ?)(?:[£$€] ?)?(?P<high>{_NUMBER}))?"
    rf"(?P<large> ?(?:{'|'.join(_LARGE)})\b|[km]\b)?"
    r"(?=(?:[ -](?:working|business|calendar|clear|full|consecutive|whole))*[ -]?"
    r"(?P<noun>per cent|%|[a-z]+)?)"
    r"|\b(?:(?:for|within|after|than|least|most|to|under|over|have|has|takes?|lasts?|is) an?"
    rf"|an?(?= (?:{_UNIT})'s)) (?P<unit>{_UNIT})\b(?! and a)"
)

_HOURS = re.compile(rf"\b(an?|{_NUMBER}) ?(h(?:ou)?r?|y(?:ea)?r)s?[, and]+({_NUMBER})(?= ?m[io])")
_OR_TWO = re.compile(rf"\b(?:an?|one) ({_UNIT}) or two\b")
_ONCE = re.compile(
    rf"\bonce(?= (?:an?|in|every|per|each)(?: any)?(?: (?:{_NUMBER}))? (?:{_UNIT})s?\b)"
)
_NOON = re.compile(r"\b(?:12 )?(?:noon|midday|(midnight))\b")
_CLOCK = re.compile(
    r"(?<![\w.:£$€])(?P<hour>[01]?\d|2[0-4])(?:[:.](?P<minutes>[0-5]\d))?"
    r"(?: ?(?P<half>[ap])\.?m\b|(?<=:\d\d)(?![\d:])"
    r"|(?= ?(?:to|till|until|and|[-–]) ?[\d:.]{1,5} ?[ap]\.?m\b))"
)
"""A time of day, also the first of "9 to 5pm"."""
_CONTRACTION = re.compile(r"(?<=\w)n't\b|(?<=\bcan)not\b")


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount of a `kind`, which is a base unit, or "" for a bare count of `noun`."""

    amount: float
    kind: str
    noun: str = ""

    def is_like(self, other: "Fact") -> bool:
        """Whether *other* is about the same thing, so that the two agree or differ."""
        if isinstance(other, Date):
            return False
        if self.kind != other.kind:
            return {self.kind, other.kind} == {"second", "month"}
        return bool(self.kind) or self.noun[:4] == other.noun[:4]

    def agrees(self, other: "Fact") -> bool:
        """Whether *other* is the same amount; a month has 28 to 31 days."""
        if isinstance(other, Date):
            return False
        if {self.kind, other.kind} == {"second", "month"}:
            days, months = sorted((self, other), key=lambda fact: fact.kind == "month")
            return 28 * _DAY * months.amount <= days.amount <= 31 * _DAY * months.amount
        gap = abs(self.amount - other.amount)
        if self.kind == "clock" and self.noun + other.noun:
            gap %= 12
        return self.kind == other.kind and gap < 1e-6 * max(1.0, self.amount)


@dataclass(frozen=True, slots=True)
class Date:
    """A date, possibly partial: parts that are not given are 0."""

    day: int
    month: int
    year: int

    def is_like(self, other: "Fact") -> bool:
        """Whether *other* is a date that can be compared with this one."""
        return isinstance(other, Date) and bool(self.month) == bool(other.month)

    def agrees(self, other: "Fact") -> bool:
        """Whether *other* is the same date, as far as both are given."""
        if not isinstance(other, Date):
            return False
        given = [a == b for a, b in zip(astuple(self), astuple(other)) if a and b]
        return bool(given) and all(given)


Fact = Quantity | Date


def lowered(text: str) -> str:
    """*text* in lower case with straight apostrophes, and "can't" written as "can not"."""
    text = text.lower().replace("’", "'").replace("*", "").replace("can't", "cannot")
    return _CONTRACTION.sub(" not", text.replace("won't", "willn't").replace("shan't", "shalln't"))


def quantities(sentence: str) -> list[Fact]:
    """The dates and other numbers of *sentence*; a span such as "2 to 3 days" has two."""
    text = fold_space(lowered(sentence[:_MAX_CHARACTERS])).replace("twice", "two times")
    text = _OR_TWO.sub(r"1 to 2 \1", _ONCE.sub("one time", text))
    size = {"h": 60, "y": 12}
    text = _HOURS.sub(lambda n: f"{(_value(n[1]) or 1) * size[n[2][0]] + _value(n[3]):g}", text)
    facts: list[Fact] = [_date(match) for match in DATE.finditer(text)]
    text = _NOON.sub(lambda at: "12am" if at[1] else "12pm", DATE.sub(";", text))
    facts += map(_clock, _CLOCK.finditer(text))
    found = _AMOUNT.finditer(_CLOCK.sub(";", text))
    return [*facts, *(amount for match in found for amount in _amounts(match))]


def _clock(match: re.Match[str]) -> Quantity:
    """The time in hours; its noun says that it may be in either half of the day."""
    hour, half = int(match["hour"]), match["half"]
    noun = "" if half or hour > 12 or match["hour"][0] == "0" else "am or pm"
    hour = hour % 12 + 12 * (half == "p") if half else hour % 24
    return Quantity(hour + int(match["minutes"] or 0) / 60, "clock", noun)


def _date(match: re.Match[str]) -> Date:
    group = match.groupdict()
    month = group["month"] or group["month2"] or group["month3"]
    return Date(
        int(group["day"] or group["day2"] or 0),
        next((n for n, name in enumerate(_MONTHS, 1) if month and name.startswith(month)), 0),
        int(group["year"] or group["year2"] or group["year3"] or group["year4"] or 0),
    )


def _amounts(match: re.Match[str]) -> Iterator[Quantity]:
    if match["unit"]:
        kind, size = _UNITS[match["unit"]]
        yield Quantity(size, kind)
        return
    large, noun = (match["large"] or "").strip(), "pound" if match["sign"] else match["noun"] or ""
    if large in _LARGE_MONEY and not match["sign"]:
        large, noun = "", large
    unit = _UNITS.get(noun, _UNITS.get(noun.removesuffix("s")))
    if match["low"] == "one" and unit is None:
        return
    kind, size = unit or ("", 1.0)
    high = match["high"] or match["low"]
    low = high if kind == "time" else match["low"]  # "one to three times" is "up to three times"
    for number in dict.fromkeys((low, high)):
        amount = _value(number) * (_LARGE | _LARGE_MONEY).get(large, 1.0)
        yield Quantity(amount * size, kind, "" if unit else noun)


def _value(number: str) -> float:
    if number[0].isdigit():
        return float(re.sub("[, ]", "", number))
    total = below = 0.0
    for word in re.split(r"[ -]", number):
        value = _WORDS.get(word, 0.0)  # "and" is not a number
        below = max(below, 1.0) * value if word in {"dozen", *_LARGE} else below + value
        if value >= 1e3:
            total, below = total + below, 0.0
    return total + below


def differ(ours: Sequence[Fact], theirs: Sequence[Fact]) -> bool:
    """Whether theirs has facts of the kind of one of ours, and none that agrees with it."""
    for fact in ours:
        alike = [other for other in theirs if fact.is_like(other)]
        if alike and not any(map(fact.agrees, alike)):
            return True
    return False


def has_all(ours: Sequence[Fact], theirs: Sequence[Fact]) -> bool:
    """Whether theirs has every number of ours."""
    return all(any(map(fact.agrees, theirs)) for fact in ours)
