"""The bytes of a document, and where they come from -> the document with its passages."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from judge.errors import InvalidRequest, UnreadableDocument
from judge.ports import PdfReader
from judge.search.indexing.passage_splitter import split_passages
from judge.search.indexing.readers.file_kinds import DocumentKind, decode_text, is_binary, kind_of
from judge.search.indexing.readers.html import read_html
from judge.search.indexing.readers.markdown import read_markdown
from judge.search.indexing.readers.source_code import read_code
from judge.search.indexing.readers.text_blocks import DocumentText, read_pages, read_text
from judge.text.english import fold_space
from judge.types.search import DocumentWithPassages, IndexedDocument, Passage

MAX_BYTES = 10 * 1024 * 1024
"""Of a document. A book of 1,000 pages is a fifth of it as text."""

MAX_NAME = 100
"""Characters of a collection's name."""

READERS_VERSION = "5"
"""Raised when documents are split another way, so that unchanged documents are read again."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What is known of a document besides its text; `name` tells by its ending what it is."""

    collection: str
    document_id: str
    name: str
    path: str
    title: str | None = None
    folder: str = ""
    tags: tuple[str, ...] = ()
    modified: datetime | None = None
    received: datetime | None = None
    """For a document of which nothing tells when it was changed."""
    mtime_ns: int = 0
    size_bytes: int = 0
    absolute_path: str = ""
    """Of a file."""
    charset: str = ""
    """Of the HTTP header, if any."""
    kind: DocumentKind | None = None
    """When the name does not tell."""

    @property
    def effective_kind(self) -> DocumentKind:
        """What the document is."""
        return self.kind or kind_of(self.name)

    @property
    def options_digest(self) -> str:
        """Changes with what was asked for, so that the same text is indexed anew."""
        asked = (READERS_VERSION, self.title or "", self.folder, *sorted(self.tags))
        return _digest("\0".join(asked).encode())[:8]


def check_collection(name: str) -> str:
    """*name*, trimmed, if a collection may be called so; raises InvalidRequest."""
    trimmed = name.strip()
    if not trimmed or trimmed == "*" or len(trimmed) > MAX_NAME or not trimmed.isprintable():
        raise InvalidRequest(
            f"{name[:40]!r} is no name for a collection: it needs 1 to {MAX_NAME} printable "
            "characters, and * means all of them."
        )
    return trimmed


def read_document(content: bytes, origin: Origin, read_pdf: PdfReader) -> DocumentWithPassages:
    """The document in *content*; raises UnreadableDocument."""
    document = _read(content, origin, read_pdf)
    title = origin.title or document.title or origin.name.rpartition("/")[2] or origin.document_id
    modified = origin.modified or document.date or origin.received
    content_hash = hash_of(content, origin)
    template = Passage(
        document_id=origin.document_id,
        collection=origin.collection,
        position=0,
        title=fold_space(title),
        text="",
        path=origin.path,
        chapter=fold_space(origin.folder) or None,
        folder=origin.folder,
        tags=tuple(dict.fromkeys((*origin.tags, *document.tags))),
        modified=modified,
        content_hash=content_hash,
    )
    passages = split_passages(document, template)
    if not passages:
        raise UnreadableDocument("There is no text in it.")
    record = IndexedDocument(
        id=origin.document_id,
        collection=origin.collection,
        path=origin.absolute_path or origin.path,
        content_hash=content_hash,
        passages=len(passages),
        modified=modified,
        mtime_ns=origin.mtime_ns,
        size_bytes=origin.size_bytes,
    )
    return DocumentWithPassages(record, passages)


def hash_of(content: bytes, origin: Origin) -> str:
    """Tells whether the document would be indexed the same way again."""
    return f"{_digest(content)}-{origin.options_digest}"


def _read(content: bytes, origin: Origin, read_pdf: PdfReader) -> DocumentText:
    if len(content) > MAX_BYTES:
        raise UnreadableDocument(f"It is over {MAX_BYTES // 1024 // 1024} MiB.")
    kind = origin.effective_kind
    if kind.kind == "pdf":
        return read_pages(read_pdf(content))
    if is_binary(content):
        raise UnreadableDocument("It is not text.")
    match kind.kind:
        case "html":
            return read_html(content, origin.charset)
        case "markdown":
            return read_markdown(decode_text(content))
        case "code":
            return read_code(decode_text(content), kind.language)
        case _:
            return read_text(decode_text(content))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
