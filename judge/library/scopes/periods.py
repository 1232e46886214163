"""The value of `@modified:` -> the period, in UTC, in which a document was modified.

Dates are whole days. A bound may also be a moment, such as `>2025-01-01T09:00Z`.
"""

import re
from datetime import UTC, datetime, time, timedelta
from typing import NamedTuple

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
_INSTANT = timedelta(microseconds=1)
_COMPARISON = re.compile(r"(>=|<=|>|<)\s*(.+)", re.DOTALL)
_DAY = re.compile(r"\d{4}-?\d{2}-?\d{2}", re.ASCII)
_END_OF_TIME = datetime.max.replace(tzinfo=UTC)


class Period(NamedTuple):
    """From `after`, inclusive, to `before`, exclusive; None is no bound."""

    after: datetime | None = None
    before: datetime | None = None


def parse_period(value: str, now: datetime) -> Period:
    """The period that *value* means at *now*; raises BadScope, which lists the valid forms."""
    text = value.strip().lower()
    moment = now.astimezone(UTC)
    if text in {"today", "yesterday"}:
        today = datetime.combine(moment.date(), time(), UTC)
        start = today if text == "today" else today - _ONE_DAY
        return Period(start, start + _ONE_DAY)
    if days := _PAST_DAYS.get(text):
        return Period(moment - days * _ONE_DAY)
    try:
        return _written_period(text)
    except (ValueError, OverflowError) as error:
        raise BadScope(f"@modified:{value}: {error}.", PERIOD_FORMS) from None


def parse_moment(value: str) -> datetime:
    """A date (its midnight) or a moment in ISO 8601, as UTC; raises ValueError."""
    moment = datetime.fromisoformat(value)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def format_period(after: datetime | None, before: datetime | None) -> str:
    """The value of `@modified:` that means this period, whenever it is read."""
    if not (after and before):
        return f">={_iso(after)}" if after else f"<{_iso(before)}" if before else ""
    if before.time() == time():
        return f"{_iso(after)}..{_iso(before - _ONE_DAY)}"
    return f"{_iso(after)}..{(before - _INSTANT).isoformat().replace('+00:00', 'Z')}"


def _written_period(text: str) -> Period:
    if comparison := _COMPARISON.fullmatch(text):
        sign, span = comparison[1], _span(comparison[2])
        bound = span.after if sign in {">=", "<"} else span.before
        return Period(after=bound) if sign[0] == ">" else Period(before=bound)
    if ".." not in text:
        return _span(text)
    first, _, last = text.partition("..")
    after = _span(first.strip()).after if first.strip() else None
    before = _span(last.strip()).before if last.strip() else None
    if not after and not before:
        raise ValueError("a range needs a date")
    if after and before and before <= after:
        raise ValueError(f"the range ends ({last.strip()}) before it begins ({first.strip()})")
    return Period(after, before)


def _span(text: str) -> Period:
    """A date from midnight to midnight; a moment as one microsecond; raises ValueError."""
    try:
        start = parse_moment(text.replace("t", "T").replace("z", "Z"))
        length = _ONE_DAY if _DAY.fullmatch(text) else _INSTANT
        return Period(start, start + min(length, _END_OF_TIME - start))
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no date") from None


def _iso(moment: datetime) -> str:
    if moment.time() == time():
        return moment.date().isoformat()
    return moment.isoformat().replace("+00:00", "Z")
