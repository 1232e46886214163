"""Converts passages to Tantivy documents and back: fields, analyzers, encoding.

Raise VERSION when you change a field or an analyzer: an index of another version is not read.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Literal

import tantivy

from judge.adapters.index.stored import PASSAGE, RECORD, embedded_text, text_key
from judge.text.index_tokens import identifier_parts, searchable
from judge.types.search import DocumentWithPassages, Passage, ancestors, document_key, fold_name

VERSION = 8
"""Part of the index folder's name, so that an old index is recognised without opening it."""

LabelKind = Literal["id", "key", "collection", "document", "folder", "below", "tag", "first"]
"""A passage has an `id`; its document's `key`, `document` and `collection`; its `folder`, with a
slash before it; `below`: that folder and its ancestors. A document's first passage is `first`."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@cache
def english() -> tantivy.TextAnalyzer:
    """The analyzer of queries, the same as Tantivy's `en_stem`, which the index uses.

    Accents are stripped beforehand. Stop words are kept for phrases, and for queries of nothing
    else; `parse_query` removes them from other queries.
    """
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in (
        tantivy.Filter.remove_long(40),  # hashes and encoded data
        tantivy.Filter.lowercase(),
        tantivy.Filter.stemmer("english"),
    ):
        builder = builder.filter(step)
    return builder.build()


def open_index(folder: str) -> tantivy.Index:
    """Open the index in *folder*, or create it; raises ValueError and OSError.

    `body` and `heads` (headings) rank, `labels` filter, `passage` is the stored result. `body`
    holds the headings too, so that one field tells whether a word occurs. `text_key` is the key of
    a passage's vector. Only a document's first passage has a `record`, the document's metadata.
    """
    builder = tantivy.SchemaBuilder()
    for name in ("body", "heads"):
        builder.add_text_field(name, tokenizer_name="en_stem")
    builder.add_text_field("labels", tokenizer_name="raw", index_option="basic")
    for name in ("modified", "text_key"):
        builder.add_integer_field(name, indexed=False, fast=True)
    for name in ("passage", "record"):
        builder.add_bytes_field(name, stored=True)
    index = tantivy.Index(builder.build(), folder)
    # By default a thread of Tantivy looks for commits twice a second, in every process.
    index.config_reader("manual", 0)
    return index


def label(kind: LabelKind, value: str) -> str:
    """The term in `labels` that finds, counts and deletes passages; ignores case."""
    return f"{kind}:{fold_name(value)}"


def key_label(collection: str, document_id: str) -> str:
    """The label of all passages of a document."""
    return label("key", document_key(collection, document_id))


def microseconds(moment: datetime) -> int:
    """*moment* as indexed: microseconds since 1970."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def to_documents(item: DocumentWithPassages) -> Iterator[tantivy.Document]:
    """The passages of *item* as Tantivy documents; the first has the record."""
    for passage in item.passages:
        text = searchable(passage.text)
        heads = dict.fromkeys((passage.title, passage.chapter or "", passage.section or ""))
        plain_heads = [searchable(head) for head in heads if head]
        parts = searchable(identifier_parts("\n".join((passage.text, *heads))))
        document = tantivy.Document(
            body=[text, parts, *plain_heads], heads=plain_heads, labels=_labels(passage)
        )
        document.add_integer("text_key", text_key(embedded_text(passage)))
        document.add_bytes("passage", PASSAGE.dump_json(passage))
        if passage.modified:
            document.add_integer("modified", microseconds(passage.modified))
        if passage is item.passages[0]:
            document.add_text("labels", label("first", ""))
            document.add_bytes("record", RECORD.dump_json(item.document))
        yield document


def _labels(passage: Passage) -> list[str]:
    return [
        label("id", passage.id),
        key_label(passage.collection, passage.document_id),
        label("collection", passage.collection),
        label("document", passage.document_id),
        label("folder", f"/{passage.folder}"),
        *(label("below", name) for name in ancestors(passage.folder)),
        *(label("tag", tag) for tag in passage.tags),
    ]
