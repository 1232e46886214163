"""Joins scopes, writes them out, and makes them from the filters of a request.

`grammar.py` reads them from a text. A period is in UTC, its dates are whole days; a bound may also
be a moment, such as `>2025-01-01T09:00Z`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from difflib import get_close_matches
from typing import Annotated, Any, NamedTuple, get_args

from pydantic import BeforeValidator

from judge.errors import BadScope, MissingValue
from judge.types.request_fields import StrictModel
from judge.types.requests import ScopeText
from judge.types.search import (
    EVERYWHERE,
    AnyOf,
    Clause,
    Scope,
    ScopeKind,
    fold_name,
    folder_path,
    mentioned,
)

PERIOD_FORMS = tuple(
    "today yesterday last-week last-month last-year 2025-01-31 2025-01-01..2025-03-31 >2025-01-01 "
    "<2025-01-01".split()
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


STAR = "*"
KINDS: tuple[ScopeKind, ...] = get_args(ScopeKind)

KINDS_WITH_STAR = frozenset({"collection", "document", "folder"})
"""Kinds that every passage has, so that their `*` matches everything."""

MAX_NAMES = 1000
"""Values in one scope, filters included; an engine looks each one up."""

DATE_FORMS = ("2025-01-31", "2025-01-31T09:00:00Z")

_BARE = re.compile(r"(?!['‘„«])[^\s,\"“”\\()]*[^\s,\"“”\\.;!?()]")
"""A value that is read as it stands; others are quoted."""

_FIELDS: tuple[tuple[str, ScopeKind], ...] = (
    ("collection_name", "collection"),
    ("collection_id", "collection"),
    ("document_id", "document"),
    ("folder_path", "folder"),
    ("tags", "tag"),
)


def _as_tuple(name: object) -> object:
    return (name,) if isinstance(name, str) else tuple(name) if isinstance(name, list) else name


Names = Annotated[tuple[ScopeText, ...], BeforeValidator(_as_tuple)]


class SearchFilters(StrictModel):
    """Further limits, joined to the scope by AND; several names in one field are joined by OR."""

    collection_name: Names | None = None
    collection_id: Names | None = None
    document_id: Names | None = None
    folder_path: ScopeText | None = None
    recursive: bool = True
    tags: Names | None = None
    modified_after: ScopeText | None = None
    modified_before: ScopeText | None = None


def all_of(*scopes: Scope) -> Scope:
    """*scopes* joined by AND; no clause ever cancels another."""
    return Scope(tuple(dict.fromkeys(clause for scope in scopes for clause in scope.clauses)))


def any_of(scopes: Iterable[Scope]) -> Scope:
    """*scopes*, at least one, joined by OR."""
    alternatives = tuple(dict.fromkeys(scopes))
    if EVERYWHERE in alternatives:
        return EVERYWHERE
    return Scope((AnyOf(alternatives),)) if len(alternatives) > 1 else alternatives[0]


def complement(scope: Scope) -> Scope:
    """The scope of everything outside *scope*, which must not be EVERYWHERE."""
    match scope.clauses:
        case (AnyOf(scopes=(inner,), is_excluded=True),):
            return inner
        case (clause,):
            return Scope((replace(clause, is_excluded=not clause.is_excluded),))
        case _:
            return Scope((AnyOf((scope,), is_excluded=True),))


def check_size(scope: Scope) -> None:
    """Raise BadScope if *scope* has more than MAX_NAMES values."""
    count = sum(max(1, len(clause.values)) for clause in mentioned(scope))
    if count > MAX_NAMES:
        raise BadScope(f"The scope has {count} names; {MAX_NAMES} are the most. Name fewer.")


def scope_of(filters: SearchFilters) -> Scope:
    """The scope in which all *filters* hold; raises BadScope and MissingValue naming the field.

    A star matches everything, as in a mention. Times are ISO 8601; a date means midnight UTC.
    """
    clauses: list[Clause] = []
    for field, kind in _FIELDS:
        names = _as_tuple(getattr(filters, field))
        if isinstance(names, tuple):
            values = tuple(name.strip() for name in names)
            is_star = STAR in values
            if not values or not all(values) or (is_star and kind not in KINDS_WITH_STAR):
                message = f"filters.{field}: a name is missing. Leave the field out to allow all."
                raise MissingValue(message, kind)
            if kind == "folder":
                values = tuple(map(folder_path, values))
            is_recursive = kind != "folder" or filters.recursive
            clauses += [] if is_star else [Clause(kind, values, is_recursive=is_recursive)]
    after = _moment(filters.modified_after, "modified_after")
    before = _moment(filters.modified_before, "modified_before")
    if after and before and before <= after:
        raise BadScope("filters: modified_before is not later than modified_after.")
    if after or before:
        clauses.append(Clause("modified", after=after, before=before))
    return Scope(tuple(clauses))


def _moment(value: str | None, field: str) -> datetime | None:
    if value is None:
        return None
    try:
        return parse_moment(value.strip())
    except (ValueError, OverflowError):
        message = f"filters.{field}: {value[:40]!r} is no date. Write {' or '.join(DATE_FORMS)}."
        raise BadScope(message, DATE_FORMS) from None


def nearest_name(name: str, valid: Sequence[str]) -> str | None:
    """The most similar of *valid*, or None; case is ignored, and a last path segment is enough."""
    by_folded = {fold_name(other).rpartition("/")[2]: other for other in valid}
    by_folded |= {fold_name(other): other for other in valid}
    close = get_close_matches(fold_name(name), list(by_folded), n=1)
    return by_folded[close[0]] if close else None


def format_scope(scope: Scope) -> dict[str, Any]:
    """*scope* as shown in `filters_applied`; everywhere is `{}`."""
    return {"scope": scope_text(scope), "clauses": _fields(scope)} if scope.clauses else {}


def scope_text(scope: Scope) -> str:
    """*scope* in the syntax of mentions, which `read_context` reads."""
    return " ".join(_clause_text(clause) for clause in scope.clauses) or f"@{STAR}"


def _clause_text(clause: Clause | AnyOf) -> str:
    sign = "-" if clause.is_excluded else ""
    if isinstance(clause, AnyOf):
        has_others = len(clause.scopes) > 1  # Beside others, several clauses need a bracket.
        texts = [
            f"({scope_text(scope)})" if has_others and len(scope.clauses) > 1 else scope_text(scope)
            for scope in clause.scopes
        ]
        return f"{sign}({' OR '.join(texts)})"
    if clause.kind == "modified":
        return f"{sign}@modified:{format_period(clause.after, clause.before)}"
    names = [value or "/" if clause.kind == "folder" else value for value in clause.values]
    return f"{sign}@{clause.kind}:{','.join(map(quoted, names))}"


def quoted(value: str) -> str:
    """*value* as written in a mention: in quotes only if it would be parsed differently without."""
    if _BARE.fullmatch(value):
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _fields(scope: Scope) -> list[dict[str, Any]]:
    return [_clause_fields(clause) | {"excluded": clause.is_excluded} for clause in scope.clauses]


def _clause_fields(clause: Clause | AnyOf) -> dict[str, Any]:
    if isinstance(clause, AnyOf):
        return {"any_of": [_fields(inner) for inner in clause.scopes]}
    if clause.kind == "modified":
        return {"kind": clause.kind, "after": clause.after, "before": clause.before}
    recursive = {"recursive": clause.is_recursive} if clause.kind == "folder" else {}
    return {"kind": clause.kind, "values": list(clause.values)} | recursive
