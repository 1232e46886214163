"""Converts passages to Tantivy documents and back: fields, analyzers, encoding.

Raise VERSION when you change a field or an analyzer: an index of another version is not read.
"""

from collections.abc import Iterator
from copy import copy
from datetime import UTC, datetime, timedelta
from typing import Literal

import msgspec
import tantivy

from judge.adapters.embedders.passage_text import embedded_text, text_key
from judge.text.identifiers import identifier_parts
from judge.text.unspaced import searchable
from judge.types.search import (
    DocumentWithPassages,
    IndexedDocument,
    Passage,
    ancestors,
    document_key,
    fold_name,
)

VERSION = 5
"""Part of the index folder's name, so that an old index is recognised without opening it."""

MAX_TOKEN_BYTES = 40
"""Longer tokens are hashes and encoded data; Tantivy's own default."""

_ENGLISH = "en_stem"
"""Tantivy's built-in analyzer, the same as `english` builds; it takes a tenth less time."""

LabelKind = Literal["id", "key", "collection", "document", "folder", "below", "tag", "first"]
"""A passage has an `id`; its document's `key`, `document` and `collection`; its `folder`, with a
slash before it; `below`: that folder and its ancestors. A document's first passage is `first`."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def english() -> tantivy.TextAnalyzer:
    """The analyzer of queries: letters and digits, lower case, stemmed.

    Accents are stripped beforehand: Tantivy's filter for them costs 25 µs a passage of plain ASCII.
    Stop words are kept for phrases, and for queries of nothing else; `parse_query` removes them
    from other queries.
    """
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in (
        tantivy.Filter.remove_long(MAX_TOKEN_BYTES),
        tantivy.Filter.lowercase(),
        tantivy.Filter.stemmer("english"),
    ):
        builder = builder.filter(step)
    return builder.build()


def schema() -> tantivy.Schema:
    """`body` and `heads` (headings) rank, `labels` filter, `passage` is the stored result.

    `body` holds the headings too, so that one field tells whether a word occurs. All labels are in
    one field, since every field takes time. `id` and `key` are the hashes in the labels of those
    kinds, so that passages are compared without being loaded. `text_key` is the key of a passage's
    vector, whether there is one or not. Only a document's first passage has a `record`, the
    document's metadata.
    """
    builder = tantivy.SchemaBuilder()
    for name in ("body", "heads"):
        builder.add_text_field(name, tokenizer_name=_ENGLISH)
    builder.add_text_field("labels", tokenizer_name="raw", index_option="basic")
    for name in ("modified", "id", "key", "text_key"):
        builder.add_integer_field(name, indexed=False, fast=True)
    for name in ("passage", "record"):
        builder.add_bytes_field(name, stored=True)
    return builder.build()


def open_index(folder: str) -> tantivy.Index:
    """Open the index in *folder*, or create it; raises ValueError and OSError."""
    index = tantivy.Index(schema(), folder)
    # By default a thread of Tantivy looks for commits twice a second, in every process.
    index.config_reader("manual", 0)
    return index


def label(kind: LabelKind, value: str | int) -> str:
    """The term in `labels` that finds, counts and deletes passages; ignores case.

    The value of an `id` or a `key` is its `name_hash`: deleting by a numeric field silently does
    nothing.
    """
    return f"{kind}:{value if isinstance(value, int) else fold_name(value)}"


def name_hash(name: str) -> int:
    """A 64-bit hash of a passage's id or a document's key; ignores case."""
    return text_key(fold_name(name))


def microseconds(moment: datetime) -> int:
    """*moment* as indexed: microseconds since 1970."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def to_documents(item: DocumentWithPassages) -> Iterator[tantivy.Document]:
    """The passages of *item* as Tantivy documents; the first has the record."""
    shared = _shared_fields(item.passages[0])
    for passage in item.passages:
        # Copying the shared fields is faster than building them again; the last needs no copy.
        document = shared if passage is item.passages[-1] else copy(shared)
        for head in {passage.chapter, passage.section} - {passage.title}:
            if head:
                _add_head(document, head)
        text = searchable(passage.text)
        document.add_text("body", text)
        if parts := identifier_parts(text):
            document.add_text("body", parts)
        passage_hash = name_hash(passage.id)
        document.add_text("labels", label("id", passage_hash))
        document.add_integer("id", passage_hash)
        document.add_integer("text_key", text_key(embedded_text(passage)))
        document.add_bytes("passage", _encode(passage))
        if passage is item.passages[0]:
            document.add_text("labels", label("first", ""))
            document.add_bytes("record", _encode(item.document))
        yield document


def _add_head(document: tantivy.Document, head: str) -> None:
    plain = searchable(head)
    document.add_text("body", plain)
    document.add_text("heads", plain)


def _shared_fields(passage: Passage) -> tantivy.Document:
    """The fields that all passages of a document share."""
    key = name_hash(document_key(passage.collection, passage.document_id))
    labels = [
        label("key", key),
        label("collection", passage.collection),
        label("document", passage.document_id),
        label("folder", f"/{passage.folder}"),
        *(label("below", name) for name in ancestors(passage.folder)),
        *(label("tag", tag) for tag in passage.tags),
    ]
    document = tantivy.Document(labels=labels)
    document.add_integer("key", key)
    _add_head(document, passage.title)
    if passage.modified:
        document.add_integer("modified", microseconds(passage.modified))
    return document


def to_passage(document: tantivy.Document) -> Passage:
    """The passage as it was indexed."""
    return _PASSAGE.decode(document.get_all("passage")[0])


def to_record(document: tantivy.Document) -> IndexedDocument:
    """The metadata of the document whose first passage this is."""
    return _RECORD.decode(document.get_all("record")[0])


_PASSAGE = msgspec.msgpack.Decoder(Passage)
_RECORD = msgspec.msgpack.Decoder(IndexedDocument)
_encode = msgspec.msgpack.Encoder().encode
"""Takes a quarter of the time of pydantic's JSON; nothing here comes from outside."""
