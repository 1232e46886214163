"""The value of `@modified:` -> the period, in UTC, in which a document was modified.

Dates are whole days. A bound may also be a moment, such as `>2025-01-01T09:00Z`.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from judge.errors import BadScope

PERIOD_FORMS = (
    "today",
    "yesterday",
    "last-week",
    "last-month",
    "last-year",
    "2025-01-31",
    "2025-01-01..2025-03-31",
    ">2025-01-01",
    "<2025-01-01",
)
"""The forms of a value, for error messages and completion."""

_PAST_DAYS = {"last-week": 7, "last-month": 30, "last-year": 365}
_ONE_DAY = timedelta(days=1)
_COMPARISON = re.compile(r"(>=|<=|>|<)\s*(.+)", re.DOTALL)
_DAY = re.compile(r"\d{4}-?\d{2}-?\d{2}", re.ASCII)
_END_OF_TIME = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Period:
    """From `after`, inclusive, to `before`, exclusive; None is no bound."""

    after: datetime | None = None
    before: datetime | None = None


def parse_period(value: str, now: datetime) -> Period:
    """The period that *value* means at *now*; raises BadScope, which lists the valid forms."""
    text = value.strip().lower()
    if named := _named_period(text, now):
        return named
    if comparison := _COMPARISON.fullmatch(text):
        return _compared(comparison[1], _span(comparison[2], value))
    if ".." in text:
        first, _, last = text.partition("..")
        return _range(first.strip(), last.strip(), value)
    return _span(text, value)


def parse_moment(value: str) -> datetime:
    """A date (its midnight) or a moment in ISO 8601, as UTC; raises ValueError."""
    moment = datetime.fromisoformat(value)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def format_period(period: Period) -> str:
    """The value of `@modified:` that means *period*.

    A moment is written out, so that it does not depend on the day it is read.
    """
    if period.after and period.before:
        return f"{_written(period.after)}..{_last(period.before)}"
    if period.after:
        return f">={_written(period.after)}"
    return f"<{_written(period.before)}" if period.before else ""


def _named_period(name: str, now: datetime) -> Period | None:
    """The period that *name* means at *now*: a whole day, or a multiple of 24 hours."""
    moment = now.astimezone(UTC)
    today = datetime.combine(moment.date(), time(), UTC)
    if name == "today":
        return Period(today, today + _ONE_DAY)
    if name == "yesterday":
        return Period(today - _ONE_DAY, today)
    days = _PAST_DAYS.get(name)
    return Period(moment - days * _ONE_DAY) if days else None


def _span(text: str, value: str) -> Period:
    """A date from midnight to midnight; a moment as one microsecond."""
    try:
        start = parse_moment(text.replace("t", "T").replace("z", "Z"))
        length = _ONE_DAY if _DAY.fullmatch(text) else timedelta(microseconds=1)
        return Period(start, start + min(length, _END_OF_TIME - start))
    except (ValueError, OverflowError):
        raise _bad(value, f"{text!r} is no date") from None


def _compared(sign: str, span: Period) -> Period:
    bound = span.after if sign in {">=", "<"} else span.before
    return Period(after=bound) if sign[0] == ">" else Period(before=bound)


def _range(first: str, last: str, value: str) -> Period:
    if not first and not last:
        raise _bad(value, "a range needs a date")
    after = _span(first, value).after if first else None
    before = _span(last, value).before if last else None
    if after and before and before <= after:
        raise _bad(value, f"the range ends ({last}) before it begins ({first})")
    return Period(after, before)


def _written(moment: datetime) -> str:
    return _iso(moment) if moment.time() != time() else moment.date().isoformat()


def _last(before: datetime) -> str:
    """The last day or moment of a range that ends before *before*."""
    if before.time() == time():
        return (before - _ONE_DAY).date().isoformat()
    return _iso(before - timedelta(microseconds=1))


def _iso(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _bad(value: str, reason: str) -> BadScope:
    return BadScope(f"@modified:{value}: {reason}.", PERIOD_FORMS)
