"""Extracts the numbers of a sentence, quantities and dates, and compares them.

"two weeks", "14 days" and "a fortnight" are equal; "24 hours" and "14 hours" are not.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, field, replace
from math import inf

from judge.text.data import package_data
from judge.text.english import STOP_WORDS, fold_space

_MAX_CHARACTERS = 2000
"""Characters read of a sentence; longer text is a table."""

_MAX_PAIRS = 1000
"""Pairs of numbers of two sentences that are compared: more are those of tables."""

_DAY = 86400.0
_DATA = package_data("numbers")
_UNITS = {
    word: (kind, float(size))
    for kind, sizes in _DATA["units"].items()
    for word, size in sizes.items()
}
"""The kind of each unit, and its size in the base unit of that kind."""

_LARGE = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "bn": 1e9, "k": 1e3}

SMALL_NUMBERS = _DATA["small"].split()
_TENS = _DATA["tens"].split()
_MONTHS = _DATA["months"].split()
_WORDS = (
    {word: float(n) for n, word in enumerate(SMALL_NUMBERS)}
    | {word: 10.0 * n for n, word in enumerate(_TENS, 3)}
    | {"dozen": 12.0, "hundred": 1e2, "thousand": 1e3, "million": 1e6}
)
FIGURES = frozenset(_DATA["figures"].split()).union(
    _WORDS, _LARGE, _UNITS, _MONTHS, (f"{unit}s" for unit in _UNITS)
)
"""Words of numbers, units and dates, which are compared as facts and not as words."""

_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS).replace("|sep", "|sept?")
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
DATE = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:[snrt][tdh])?(?: of)? (?P<month>{_MONTH})\b\.?"
    rf"(?:,? (?P<year>\d{{4}}))?\b"
    rf"|\b(?P<month2>{_MONTH})\.? (?P<day2>\d{{1,2}})(?:[snrt][tdh])?\b(?:,? (?P<year2>\d{{4}}))?\b"
    rf"|\b(?P<month3>{_MONTH})\.? (?P<year3>\d{{4}})\b"
    r"|(?<![\w./-])(?P<day4>\d\d?)(?P<dot>[./])(?P<month4>\d\d?)(?P=dot)(?P<year4>(?:20)?\d\d)(?![\w/])"
    rf"|(?<![\d.,£$€])(?P<year5>1\d{{3}}|20\d\d)\b(?![.,]\d| (?:{_UNIT})s?\b)"
)
_WORD = "|".join(_WORDS)
_NUMBER = (
    r"(?<=[£$€])\d{1,3}(?: \d{3})+\b|\d(?:,?\d)*+(?:\.\d+)?+(?!\.\d)"
    rf"|\b(?:{_WORD})(?:[ -](?:hundred|thousand|million|dozen)"
    rf"|(?:(?<=ty)|(?<=dred|sand|lion)(?: and)?)[ -](?:{_WORD}))*\b"
)
"""In figures or words; a clause such as 2.3.4 is no number, and "two one-bed flats" are not 3."""

_AMOUNT = re.compile(
    rf"(?:(?P<sign>[£$€]) ?)?(?<![\w.])(?P<low>{_NUMBER})"
    rf"(?:(?: to | or | and | ?[-–] ?)(?:(?P=sign) ?)?(?P<high>{_NUMBER}))?"
    rf"(?P<large> ?(?:{'|'.join(_LARGE)})\b|(?(sign)m\b|(?!)))?"
    r"(?=(?: or (?:more|less|fewer))?"
    r"(?:[ -](?:working|business|calendar|clear|full|consecutive|whole))*[ -]?"
    r"(?P<noun>per cent|[%€]|[a-z]+)?)"
    r"|\b(?:(?:for|within|after|than|least|most|to|under|over|have|has|takes?|lasts?|is) an?"
    rf"|an?(?= (?:{_UNIT})'s)) (?P<unit>{_UNIT})\b"
)
_OVER = re.compile(r"(?:(?<!no )(?<!not )(?:more|longer|older) than|\b(?:over|above|at least)) $")
_UNDER = re.compile(r"(?:(?:no|not) more|less|fewer|younger) than $|\b(?:under|below|up to) $")
_OR_OVER = re.compile(r"(?:[ -]?[a-z]+)? (?:or|and) (?:more|over|above|older|longer)\b")
"""What leaves other amounts open, before an amount and after it."""

_ONE = rf"(?<![\w,])(an?|{_NUMBER})"
_HOURS = re.compile(rf"{_ONE} ?h(?:ou)?r?s?[, and]*({_NUMBER}) ?m(?:in\w*)?\b")
_YEARS = re.compile(rf"{_ONE} ?y(?:ea)?rs?[, and]*({_NUMBER}) ?m(?:on\w*|th)s?\b")
_AND_HALF = re.compile(rf"{_ONE}( (?:{_UNIT})s?\b)?(?: and (?:a|one)[ -]half\b| ?½)")
_DOTTED = re.compile(
    r"\b(at|till|until|from|by) (\d\d?)\.([0-5]\d)(?![\d.]| ?(?:[%€]|(?:per|an?|p|k?m)\b))"
)
_OR_TWO = re.compile(rf"\b(?:an?|one) ({_UNIT}) or two\b")
_ONCE = re.compile(
    rf"\bonce(?= (?:an?|in|every|per|each)(?: any)?(?: (?:{_NUMBER}))?[ -](?:{_UNIT})s?\b)"
)
_NOON = re.compile(r"\b(?:12 )?(?:noon|midday|(midnight))\b")
_CLOCK = re.compile(
    r"(?<![\w.:£$€])(?P<hour>[01]?\d|2[0-4])(?:[:.](?P<minutes>[0-5]\d))?"
    r"(?: ?(?P<half>[ap])\.?m\b|(?<=:\d\d)(?![\d:])"
    r"|(?= ?(?:to|till|until|and|[-–]) ?[\d:.]{1,5} ?[ap]\.?m\b))"
)
"""A time of day, also the first of "9 to 5pm"."""
_SHORT = re.compile(r"(?<=\w)(?:n't|'(?:re|ve|ll)|(?<=\bit)'s)\b|(?<=\bcan)not\b")
_IN_FULL = {"'re": " are", "'ve": " have", "'ll": " will", "'s": " is"}


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount of a `kind`, which is a base unit, or "" for a bare count of `noun`."""

    amount: float
    kind: str
    noun: str = ""
    span: tuple[float, float] | None = field(default=None, compare=False)
    """The amounts that "52 to 103", "over 75" and "up to 12" leave open."""

    def is_like(self, other: "Fact") -> bool:
        """Whether *other* is about the same thing, so that the two agree or differ."""
        if isinstance(other, Date):
            return False
        if self.kind != other.kind:
            return {self.kind, other.kind} == {"second", "month"}
        return bool(self.kind) or self.noun[:4] == other.noun[:4]

    def agrees(self, other: "Fact") -> bool:
        """Whether *other* is the same amount, or leaves it open; a month has 28 to 31 days."""
        if isinstance(other, Date):
            return False
        if {self.kind, other.kind} == {"second", "month"}:
            days, months = sorted((self, other), key=lambda fact: fact.kind == "month")
            return 28 * _DAY * months.amount <= days.amount <= 31 * _DAY * months.amount
        gap = abs(self.amount - other.amount)
        if self.kind == "clock" and self.noun + other.noun:
            gap %= 12
        low, high = other.span if other.span and not self.span else (inf, inf)
        is_over, is_under = low <= self.amount, self.amount <= high
        is_open = (is_over or is_under) if low > high else (is_over and is_under)  # past midnight
        return self.kind == other.kind and (is_open or gap < 1e-6 * max(1.0, self.amount))


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
        if self.day == other.month and self.month == other.day:  # 12/11 in America
            given = given[-1:]
        return bool(given) and all(given)


Fact = Quantity | Date


def lowered(text: str) -> str:
    """*text* in lower case with straight apostrophes, and "can't" written as "can not"."""
    text = text.lower().replace("’", "'").replace("*", "").replace("can't", "cannot")
    text = text.replace("won't", "will not").replace("shan't", "shall not")
    return _SHORT.sub(lambda short: _IN_FULL.get(short[0], " not"), text)


def quantities(sentence: str) -> list[Fact]:
    """The dates and other numbers of *sentence*; a span such as "2 to 3 days" has two."""
    text = fold_space(lowered(sentence[:_MAX_CHARACTERS])).replace("twice", "two times")
    text = _DOTTED.sub(r"\1 \2:\3", _OR_TWO.sub(r"1 to 2 \1", _ONCE.sub("one time", text)))
    text = _AND_HALF.sub(lambda n: f"{(_value(n[1]) or 1) + 0.5:g}{n[2] or ''}", text)
    text = _HOURS.sub(lambda n: f"{(_value(n[1]) or 1) * 60 + _value(n[2]):g} minutes", text)
    text = _YEARS.sub(lambda n: f"{(_value(n[1]) or 1) * 12 + _value(n[2]):g} months", text)
    facts: list[Fact] = [_date(match) for match in DATE.finditer(text)]
    text = _NOON.sub(lambda at: "12am" if at[1] else "12pm", DATE.sub(";", text))
    times = [_clock(match) for match in _CLOCK.finditer(text)]
    hours = (times[0].amount, times[-1].amount) if len(times) == 2 else None
    facts += [replace(time, span=hours) for time in times]
    found = _AMOUNT.finditer(_CLOCK.sub(";", text))
    return [*facts, *(amount for match in found for amount in _amounts(match))]


def _clock(match: re.Match[str]) -> Quantity:
    """The time in hours; its noun says that it may be in either half of the day."""
    hour, half = int(match["hour"]), match["half"]
    noun = "" if half or hour > 12 or match["hour"][0] == "0" else "am or pm"
    hour = hour % 12 + 12 * (half == "p") if half else hour % 24
    return Quantity(hour + int(match["minutes"] or 0) / 60, "clock", noun)


def _date(match: re.Match[str]) -> Date:
    parts = {name.rstrip("2345"): said for name, said in match.groupdict().items() if said}
    day, month, year = (parts.get(name, "") for name in ("day", "month", "year"))
    nth = int(month) if month.isdigit() else ["", *(n[:3] for n in _MONTHS)].index(month[:3])
    return Date(int(day or 0), nth, int(year if len(year) != 2 else f"20{year}") if year else 0)


def _amounts(match: re.Match[str]) -> Iterator[Quantity]:
    if match["unit"]:
        kind, size = _UNITS[match["unit"]]
        yield Quantity(size, kind)
        return
    large, noun = (match["large"] or "").strip(), match["sign"] or match["noun"] or ""
    unit = _UNITS.get(noun, _UNITS.get(noun.removesuffix("s")))
    if match["low"] == "one" and unit is None:
        return
    kind, size = unit or ("", 1.0)
    noun = "" if unit or noun in STOP_WORDS else noun
    size *= (_LARGE | {"m": 1e6}).get(large, 1.0)  # £2m, but 2m alone is a length
    amounts = [_value(number) * size for number in (match["low"], match["high"]) if number]
    before = match.string[max(0, match.start() - 20) : match.start()]
    is_over = _OVER.search(before) or _OR_OVER.match(match.string, match.end())
    low, high = (0.0 if _UNDER.search(before) else amounts[0]), (inf if is_over else amounts[-1])
    span = (low, high) if low < high else None
    for amount in amounts[-1:] if kind == "time" else dict.fromkeys(amounts):
        yield Quantity(amount, kind, noun, span)  # "one to three times" is "up to three times"


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


def closed(fact: Fact) -> Fact:
    """*fact* without what it leaves open."""
    return fact if isinstance(fact, Date) else replace(fact, span=None)


def differ(ours: Sequence[Fact], theirs: Sequence[Fact]) -> bool:
    """Whether just one number of a kind of ours is none of those of its kind in theirs.

    With two others it is another case; and "12 hours, not the 24 that are due" has theirs too.
    """
    odd: dict[object, Fact] = {}
    if len(ours) * len(theirs) > _MAX_PAIRS:
        return False
    untold = [one for one in map(closed, theirs) if not any(fact.agrees(one) for fact in ours)]
    for fact in ours:
        alike, beside = (sum(map(fact.is_like, facts)) for facts in (theirs, ours))
        is_own = beside > alike and not any(map(fact.is_like, untold))
        if alike and not is_own and not any(map(fact.agrees, theirs)):
            odd[getattr(fact, "span", None) or fact] = fact
    return any(sum(map(fact.is_like, odd.values())) == 1 for fact in odd.values())
