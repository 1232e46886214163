"""Converts passages to Qdrant points and back, and scopes to filters.

All that filters is lower-case payload of its own, so that the server's indexes and the client's
local mode agree; `passage` is the stored passage.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid5

from qdrant_client import models
from qdrant_client.models import FieldCondition, Filter, MatchAny, MatchPhrase, MatchValue

from judge.adapters.index.stored import PASSAGE, RECORD
from judge.types.search import (
    AnyOf,
    Clause,
    IndexedDocument,
    Passage,
    Scope,
    ancestors,
    document_key,
    fold_name,
)

TEXT_VECTOR = "text"
"""The BM25 weights of a passage's terms, but for their IDF, which comes with the query."""

TERMS_VECTOR = "terms"
"""1 for each term, so that the weights of a query's terms in a passage can be added up."""

_NAMESPACE = UUID("9d2b1f5e-54a4-4a0e-8d0e-6b7f3a2c9e11")

KEYWORDS = (
    "id",
    "key",
    "collection",
    "document",
    "folder",
    "folders",
    "tag",
    "terms",
    "first",
    "spelling",
)
"""Payload fields that are matched exactly."""

Condition = models.Condition


def point_id(passage_id: str) -> str:
    """The point id of a passage, a UUID, since Qdrant takes only those and numbers."""
    return str(uuid5(_NAMESPACE, fold_name(passage_id)))


def payload(passage: Passage, record: IndexedDocument | None, terms: list[str]) -> dict[str, Any]:
    """The payload of *passage*; only a document's first passage gets the *record*."""
    values: dict[str, Any] = {
        "id": fold_name(passage.id),
        "key": document_key(passage.collection, passage.document_id),
        "collection": fold_name(passage.collection),
        "spelling": passage.collection,
        "document": fold_name(passage.document_id),
        "folder": f"/{fold_name(passage.folder)}",
        "folders": ancestors(passage.folder),
        "tag": [fold_name(tag) for tag in passage.tags],
        "terms": sorted(set(terms)),
        "stems": " ".join(terms),
        "passage": PASSAGE.dump_python(passage, mode="json"),
    }
    if passage.modified:
        values["modified"] = passage.modified.isoformat()
    if record:
        values |= {"first": "1", "record": RECORD.dump_python(record, mode="json")}
    return values


def to_passage(values: dict[str, Any] | None) -> Passage:
    """The passage as it was indexed."""
    return PASSAGE.validate_python((values or {})["passage"])


def to_record(values: dict[str, Any] | None) -> IndexedDocument:
    """The metadata of the document whose first passage this is."""
    return RECORD.validate_python((values or {})["record"])


def equals(name: str, value: str) -> FieldCondition:
    """Matches payload *name* that equals, or contains, *value*."""
    return FieldCondition(key=name, match=MatchValue(value=value))


def has_terms(terms: Sequence[str]) -> Condition:
    """Matches passages with the word or the phrase of *terms*."""
    if len(terms) == 1:
        return equals("terms", terms[0])
    return FieldCondition(key="stems", match=MatchPhrase(phrase=" ".join(terms)))


def has_any_term(terms: Sequence[str]) -> FieldCondition:
    """Matches passages with at least one of *terms*."""
    return FieldCondition(key="terms", match=MatchAny(any=list(terms)))


def scope_filter(scope: Scope) -> Filter:
    """Matches the passages in *scope*."""
    return Filter(
        must=[_clause(clause) for clause in scope.clauses if not clause.is_excluded],
        must_not=[_clause(clause) for clause in scope.clauses if clause.is_excluded],
    )


def _clause(clause: Clause | AnyOf) -> Condition:
    """Matches the passages that fulfil *clause*, whether or not it is excluded."""
    if isinstance(clause, AnyOf):
        return Filter(should=[scope_filter(scope) for scope in clause.scopes])
    if clause.kind == "modified":
        between = models.DatetimeRange(gte=clause.after, lt=clause.before)
        return FieldCondition(key="modified", range=between)
    values = [fold_name(value) for value in clause.values]
    if clause.kind != "folder":
        return FieldCondition(key=clause.kind, match=MatchAny(any=values))
    if not clause.is_recursive:
        rooted = [f"/{value}" for value in values]
        return FieldCondition(key="folder", match=MatchAny(any=rooted))
    # Every passage is in or below the root.
    below = FieldCondition(key="folders", match=MatchAny(any=values))
    return Filter() if "" in values else below
