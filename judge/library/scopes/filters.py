"""The `filters` of a search request -> Scope, which is joined to that of the @mentions by AND.

The field names are part of the HTTP API; unknown ones are refused at the entrypoint.
"""

from datetime import datetime
from typing import Annotated

from pydantic import BeforeValidator

from judge.errors import BadScope, MissingValue
from judge.library.scopes.grammar import STAR
from judge.library.scopes.periods import parse_moment
from judge.library.scopes.scopes import KINDS_WITH_STAR
from judge.types.request_fields import StrictModel
from judge.types.requests import ScopeText
from judge.types.search import Clause, Scope, ScopeKind, folder_path

DATE_FORMS = ("2025-01-31", "2025-01-31T09:00:00Z")

_FIELDS: tuple[tuple[str, ScopeKind], ...] = (
    ("collection_name", "collection"),
    ("collection_id", "collection"),
    ("document_id", "document"),
    ("folder_path", "folder"),
    ("tags", "tag"),
)


def _as_tuple(value: object) -> object:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


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
