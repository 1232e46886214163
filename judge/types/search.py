"""Data types of search: queries, scopes, passages, documents and hits, for every engine alike."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal
from unicodedata import normalize

ScopeKind = Literal["collection", "document", "folder", "tag", "modified"]


@dataclass(frozen=True, slots=True)
class Clause:
    """One mention of a scope: `@kind:value,value`, or `-@kind:…` when `is_excluded`.

    Its values are alternatives and ignore case. With `is_recursive` a folder includes those below
    it, and "" then is everything. Only `modified` has bounds; `before` is outside of them.
    """

    kind: ScopeKind
    values: tuple[str, ...] = ()
    after: datetime | None = None
    before: datetime | None = None
    is_recursive: bool = True
    is_excluded: bool = False


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A bracket of a scope, `(… OR …)`: one of its scopes must match, or none if excluded."""

    scopes: tuple["Scope", ...]
    is_excluded: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """A limit on what is searched: every clause must match. Without clauses, everywhere."""

    clauses: tuple[Clause | AnyOf, ...] = ()


EVERYWHERE = Scope()


def mentioned(scope: Scope) -> Iterator[Clause]:
    """Every clause in *scope*, including those in brackets, in the order of the text."""
    for clause in scope.clauses:
        if isinstance(clause, AnyOf):
            for alternative in clause.scopes:
                yield from mentioned(alternative)
        else:
            yield clause


def fold_name(name: str) -> str:
    r"""*name* as names are compared: without case, and whatever the encoding of its accents.

    >>> fold_name("CAFÉ") == fold_name("cafe\u0301")
    True
    """
    return normalize("NFC", normalize("NFD", name).casefold())


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who searches: may see the shared collections and those owned by its `name`, if it has one."""

    name: str = ""
    sees_all: bool = False

    def sees(self, collection: str) -> bool:
        """Whether *collection* is shared, or `alice:notes` of Alice's own; case is ignored."""
        owner, colon, _ = fold_name(collection).partition(":")
        return self.sees_all or not colon or (owner.strip() or colon) == fold_name(self.name)


OPERATOR = Viewer(sees_all=True)
"""For the command line, and for requests with an admin key."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A parsed question; nothing in it is stemmed, since each engine stems as it indexed.

    `words`, without stop words, are ranked by. Each of `phrases` must occur, compared by stem; none
    of `excluded` may. Document frequencies are counted within `idf_scope`, which does not filter.
    """

    text: str
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    idf_scope: Scope = EVERYWHERE

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to search for; exclusions alone are not enough."""
        return not (self.words or self.phrases)


@dataclass(frozen=True, slots=True)
class Passage:
    """About 200 words of a document, with all fields that scopes, answers and citations need.

    `collection` and `document_id` together identify the document (case ignored). `position` counts
    from 0, lines from 1. `folder` is a posix path without slashes at its ends. `path` is the
    document's URL, or its path as it was given; `content_hash` is the document's.
    """

    document_id: str
    collection: str
    position: int
    title: str
    text: str
    path: str
    chapter: str | None = None
    section: str | None = None
    folder: str = ""
    tags: tuple[str, ...] = ()
    language: str = ""
    modified: datetime | None = None
    start_line: int = 1
    end_line: int = 1
    content_hash: str = ""

    @property
    def id(self) -> str:
        """Identifies this passage in the whole index, such as `manuals/intro.md:3`."""
        # Without slashes of its own, no other collection has the same ids.
        collection = self.collection.replace("%", "%25").replace("/", "%2F")
        return f"{collection}/{self.document_id}:{self.position}"


def document_key(collection: str, document_id: str) -> str:
    """Identifies a document in the whole index; ignores case."""
    return f"{fold_name(collection)}\x1f{fold_name(document_id)}"


def ancestors(folder: str) -> list[str]:
    """*folder* and every folder above it but the root, in lower case, as scopes name them."""
    parts = fold_name(folder).split("/") if folder else []
    return ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]


def folder_path(value: str) -> str:
    """*value* as an indexed folder: posix, without slashes at its ends; "" is the root."""
    parts = value.strip().replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in {"", "."})


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """The record of an indexed document, so that it is indexed again only when it changed."""

    id: str
    collection: str
    path: str
    content_hash: str
    passages: int
    modified: datetime | None = None
    mtime_ns: int = 0
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file on disk that may be indexed; `location` is what to open.

    `path` is absolute, `given` as the person gave it, `relative` is below the given folder.
    """

    location: str
    path: str
    given: str
    relative: str
    mtime_ns: int
    size_bytes: int


@dataclass(slots=True)
class FileScan:
    """The files found at the given paths, and the paths that could not be read, with the reason."""

    files: list[FoundFile] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    links: int = 0
    roots: list[str] = field(default_factory=list)
    """The absolute paths of the files and folders that were scanned."""


@dataclass(frozen=True, slots=True)
class PdfText:
    """The pages of a PDF as text, and the numbers, from 1, of those that could not be read."""

    pages: tuple[str, ...]
    title: str | None = None
    damaged: tuple[int, ...] = ()
    updated: date | None = None


@dataclass(frozen=True, slots=True)
class DocumentWithPassages:
    """A document to be indexed, its passages, and sentences on what could not be read."""

    document: IndexedDocument
    passages: tuple[Passage, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found; scores are comparable only within one search."""

    passage: Passage
    score: float


@dataclass(frozen=True, slots=True)
class SearchResults:
    """One page of hits, best first, and the number of all matching passages."""

    hits: tuple[Hit, ...] = ()
    total: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectionStats:
    """The size of a collection; `name` is spelled as in one of its documents."""

    name: str
    documents: int
    passages: int
