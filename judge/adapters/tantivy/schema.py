"""A passage as a Tantivy document: its fields, its analysis, and the way back.

Whoever changes a field or the analysis raises VERSION: an index of another version is not read.
"""

from collections.abc import Iterator
from copy import copy
from datetime import UTC, datetime, timedelta
from typing import Literal

import msgspec
import tantivy

from judge.adapters.embedding.passage_text import embedded_text, text_key
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
"""Part of the folder's name, so that an old index is recognised without opening it."""

LONGEST_TOKEN = 40
"""Bytes; longer ones are hashes and encoded data. Tantivy's own default."""

_ENGLISH = "en_stem"
"""Tantivy's own name for what `english` builds; compiled as one, it takes a tenth less."""

LabelKind = Literal["id", "key", "collection", "document", "folder", "below", "tag", "first"]
"""A passage has an `id`; its document's `key`, `document` and `collection`; the `folder` that it
is in, with a slash before it, and all that it is `below`. Only a document's first is `first`."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def english() -> tantivy.TextAnalyzer:
    """Words of letters and digits, in small letters, stemmed: for questions.

    Accents are stripped before: Tantivy's filter for that costs 25 µs a passage of plain ASCII.
    Stop words are kept, so that phrases and a query of nothing else find them; `parse_query`
    leaves them out of other queries.
    """
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in (
        tantivy.Filter.remove_long(LONGEST_TOKEN),
        tantivy.Filter.lowercase(),
        tantivy.Filter.stemmer("english"),
    ):
        builder = builder.filter(step)
    return builder.build()


def schema() -> tantivy.Schema:
    """`body` and `heads` are ranked by, `labels` filter, `passage` is what comes back.

    `body` holds the headings too, so that one field tells whether a word is there. All that
    filters is one field, since every field takes time of its own. `id` and `key` are the numbers in
    the labels of those kinds, so that passages are told apart without being read. By `text_key` a
    passage's vector is found, whether there is one or not.
    Only a document's first passage has a `record`, what is remembered of the document.
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
    """The index in *folder*, which is made when there is none; raises ValueError and OSError."""
    index = tantivy.Index(schema(), folder)
    # Otherwise a thread of Tantivy's looks for commits twice a second, in every process.
    index.config_reader("manual", 0)
    return index


def label(kind: LabelKind, value: str | int) -> str:
    """The term of `labels` by which passages are found, counted and deleted; ignores case.

    An `id` and a `key` go by their `number`. (Deleting by a numeric field does nothing, and says
    nothing.)
    """
    return f"{kind}:{value if isinstance(value, int) else fold_name(value)}"


def number(name: str) -> int:
    """What stands for a passage's id or a document's key, however long these are; ignores case."""
    return text_key(fold_name(name))


def microseconds(moment: datetime) -> int:
    """Since 1970, as times are indexed."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def to_documents(item: DocumentWithPassages) -> Iterator[tantivy.Document]:
    """The passages of *item* as Tantivy keeps them; the first has the record."""
    shared = _shared(item.passages[0])
    for passage in item.passages:
        # Copying what is the document's is faster than making it again, and the last needs no copy.
        document = shared if passage is item.passages[-1] else copy(shared)
        for head in {passage.chapter, passage.section} - {passage.title}:
            if head:
                _add_head(document, head)
        text = searchable(passage.text)
        document.add_text("body", text)
        if parts := identifier_parts(text):
            document.add_text("body", parts)
        name = number(passage.id)
        document.add_text("labels", label("id", name))
        document.add_integer("id", name)
        document.add_integer("text_key", text_key(embedded_text(passage)))
        document.add_bytes("passage", _packed(passage))
        if passage is item.passages[0]:
            document.add_text("labels", label("first", ""))
            document.add_bytes("record", _packed(item.document))
        yield document


def _add_head(document: tantivy.Document, head: str) -> None:
    plain = searchable(head)
    document.add_text("body", plain)
    document.add_text("heads", plain)


def _shared(passage: Passage) -> tantivy.Document:
    """What every passage of its document has."""
    key = number(document_key(passage.collection, passage.document_id))
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
    """The passage as it was handed in."""
    return _PASSAGE.decode(document.get_all("passage")[0])


def to_record(document: tantivy.Document) -> IndexedDocument:
    """What is remembered of the document whose first passage this is."""
    return _RECORD.decode(document.get_all("record")[0])


_PASSAGE = msgspec.msgpack.Decoder(Passage)
_RECORD = msgspec.msgpack.Decoder(IndexedDocument)
_packed = msgspec.msgpack.Encoder().encode
"""A quarter of the time that pydantic's JSON takes to write; nothing here comes from outside."""
