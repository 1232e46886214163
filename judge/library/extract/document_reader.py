"""The bytes and metadata of a document -> the document with its passages."""

import codecs
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from posixpath import splitext

from judge.errors import InvalidRequest, UnreadableDocument
from judge.library.extract.markdown import read_html, read_markdown
from judge.library.extract.structured import (
    read_cards,
    read_code,
    read_json,
    read_mail,
    read_notebook,
    read_table,
)
from judge.library.extract.text_blocks import DocumentText, read_pages, read_text, split_passages
from judge.ports import DocumentConverter, PdfReader, not_converted
from judge.text.data import package_data
from judge.text.decoding import decode_text, marked_encoding
from judge.text.english import fold_space
from judge.types.search import DocumentWithPassages, IndexedDocument, Passage

BINARY_KINDS = frozenset({"pdf", "foreign"})
_SNIFFED_BYTES = 8192
_BLANK_BYTES = codecs.BOM_UTF8 + codecs.BOM_UTF16 + b"\0 \t\n\v\f\r"


def kind_of(name: str) -> str:
    """How a file with this *name* is read: a format, or the language of code; else `text`."""
    base = name.lower().rpartition("/")[2]
    extension = splitext(base)[1] or f".{base}"
    kinds = package_data("documents")["kinds"].items()
    return next((kind for kind, known in kinds if extension in known.split()), "text")


def is_binary(content: bytes) -> bool:
    """Whether *content* has a NUL byte near its beginning, and no byte order mark."""
    return b"\0" in content[:_SNIFFED_BYTES] and not marked_encoding(content)


def is_blank(content: bytes) -> bool:
    """Whether *content* is only white space, perhaps after a byte order mark."""
    return not content.strip(_BLANK_BYTES)


MAX_BYTES = 10 * 1024 * 1024
"""Of a document. The text of a book of 1,000 pages takes a fifth of that."""

MAX_NAME = 100
"""Characters of a collection's name."""

READERS_VERSION = "13"
"""Increment it when documents are split differently: then unchanged files are read again too."""


@dataclass(frozen=True, slots=True)
class DocumentMetadata:
    """What is known of a document besides its content; `name` has the extension."""

    collection: str
    document_id: str
    name: str
    path: str
    title: str | None = None
    folder: str = ""
    tags: tuple[str, ...] = ()
    modified: datetime | None = None
    received: datetime | None = None
    """When it arrived, for a document without any other date."""
    mtime_ns: int = 0
    size_bytes: int = 0
    absolute_path: str = ""
    """Of a file."""
    charset: str = ""
    """From the HTTP header, if any."""
    kind: str = ""
    """Overrides the kind that follows from `name`."""

    @property
    def effective_kind(self) -> str:
        """The kind of the document, by `kind` or else by `name`; see `kind_of`."""
        return self.kind or kind_of(self.name)

    @property
    def options_digest(self) -> str:
        """Changes with the options of indexing, so that the same content is indexed again."""
        options = (READERS_VERSION, self.title or "", self.folder, *sorted(self.tags))
        return _digest("\0".join(options).encode())[:8]


def check_collection(name: str) -> str:
    """*name*, trimmed, if it is valid for a collection; raises InvalidRequest."""
    trimmed = name.strip()
    if not trimmed or trimmed == "*" or len(trimmed) > MAX_NAME or not trimmed.isprintable():
        raise InvalidRequest(
            f"{name[:40]!r} is no name for a collection: it needs 1 to {MAX_NAME} printable "
            "characters, and * means all of them."
        )
    return trimmed


def read_document(
    content: bytes,
    meta: DocumentMetadata,
    read_pdf: PdfReader,
    convert: DocumentConverter = not_converted,
) -> DocumentWithPassages:
    """*content* as a document with passages; raises UnreadableDocument."""
    document = _read(content, meta, read_pdf, convert)
    title = meta.title or document.title or meta.name.rpartition("/")[2] or meta.document_id
    modified = meta.modified or document.date or meta.received
    content_hash = hash_of(content, meta)
    template = Passage(
        document_id=meta.document_id,
        collection=meta.collection,
        position=0,
        title=fold_space(title),
        text="",
        path=meta.path,
        chapter=fold_space(meta.folder) or None,
        folder=meta.folder,
        tags=tuple(dict.fromkeys((*meta.tags, *document.tags))),
        modified=modified,
        content_hash=content_hash,
    )
    passages = split_passages(document, template)
    if not passages:
        raise UnreadableDocument("There is no text in it.")
    record = IndexedDocument(
        id=meta.document_id,
        collection=meta.collection,
        path=meta.absolute_path or meta.path,
        content_hash=content_hash,
        passages=len(passages),
        modified=modified,
        mtime_ns=meta.mtime_ns,
        size_bytes=meta.size_bytes,
    )
    return DocumentWithPassages(record, passages, document.warnings)


def hash_of(content: bytes, meta: DocumentMetadata) -> str:
    """Identifies the content and the options with which it is indexed."""
    return f"{_digest(content)}-{meta.options_digest}"


def _read(
    content: bytes, meta: DocumentMetadata, read_pdf: PdfReader, convert: DocumentConverter
) -> DocumentText:
    if len(content) > MAX_BYTES:
        raise UnreadableDocument(f"It is over {MAX_BYTES // 1024 // 1024} MiB.")
    kind = meta.effective_kind
    if is_binary(content) and kind not in BINARY_KINDS:
        raise UnreadableDocument("It is not text.")
    match kind:
        case "pdf":
            return read_pages(read_pdf(content))
        case "foreign":
            return read_html(convert(content, splitext(meta.name.lower())[1][1:]))
        case "html":
            return read_html(content, meta.charset)
        case "mail":
            return read_mail(content)
        case _:
            text = decode_text(content)
            return _READERS[kind](text) if kind in _READERS else read_code(text, kind)


_READERS: Mapping[str, Callable[[str], DocumentText]] = {
    "markdown": read_markdown,
    "table": read_table,
    "cards": read_cards,
    "json": read_json,
    "notebook": read_notebook,
    "text": read_text,
}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
