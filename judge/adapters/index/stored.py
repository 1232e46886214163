"""Passages and records of documents as the engines store them: JSON."""

from pydantic import TypeAdapter

from judge.types.search import IndexedDocument, Passage

PASSAGE: TypeAdapter[Passage] = TypeAdapter(Passage)
RECORD: TypeAdapter[IndexedDocument] = TypeAdapter(IndexedDocument)
