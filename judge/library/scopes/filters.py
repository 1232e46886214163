"""The `filters` of a search request -> Scope, which is joined to that of the @mentions by AND.

The field names are part of the HTTP API; unknown ones are refused at the entrypoint.
"""

from datetime import datetime
from typing import Annotated

from pydantic import BeforeValidator

from judge.errors import BadScope, MissingValue
from judge.library.scopes.grammar import STAR
from judge.library.scopes.periods import parse_moment
from judge.library.scopes.scopes import KINDS_WITH_STAR, folder_path
from judge.types.request_fields import StrictModel
from judge.types.requests import ScopeText
from judge.types.search import Clause, Scope, ScopeKind

DATE_FORMS = ("2025-01-31", "2025-01-31T09:00:00Z")


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
    clauses = [
        *_name_clauses("collection", filters.collection_name, "collection_name"),
        *_name_clauses("collection", filters.collection_id, "collection_id"),
        *_name_clauses("document", filters.document_id, "document_id"),
        *_folder_clauses(filters),
        *_name_clauses("tag", filters.tags, "tags"),
        *_period_clauses(filters),
    ]
    return Scope(tuple(clauses))


def _name_clauses(kind: ScopeKind, names: Names | None, field: str) -> list[Clause]:
    if names is None:
        return []
    values = tuple(name.strip() for name in names)
    if not values or not all(values):
        message = f"filters.{field}: a value is missing. Leave the field out to allow all."
        raise MissingValue(message, kind)
    if STAR in values and kind not in KINDS_WITH_STAR:
        message = f"filters.{field}: a star names nothing. Leave the field out to allow all."
        raise MissingValue(message, kind)
    return [] if STAR in values else [Clause(kind, values)]


def _folder_clauses(filters: SearchFilters) -> list[Clause]:
    if filters.folder_path is None:
        return []
    if not filters.folder_path.strip():
        raise MissingValue("filters.folder_path: a value is missing; the root is `/`.", "folder")
    if filters.folder_path.strip() == STAR:
        return []
    path = folder_path(filters.folder_path)
    return [Clause("folder", (path,), is_recursive=filters.recursive)]


def _period_clauses(filters: SearchFilters) -> list[Clause]:
    after = _moment(filters.modified_after, "modified_after")
    before = _moment(filters.modified_before, "modified_before")
    if after and before and before <= after:
        raise BadScope("filters: modified_before is not later than modified_after.")
    return [Clause("modified", after=after, before=before)] if after or before else []


def _moment(value: str | None, field: str) -> datetime | None:
    if value is None:
        return None
    try:
        return parse_moment(value.strip())
    except (ValueError, OverflowError):
        message = f"filters.{field}: {value[:40]!r} is no date. Write {' or '.join(DATE_FORMS)}."
        raise BadScope(message, DATE_FORMS) from None
