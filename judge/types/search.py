"""The nouns of search, from the question and its scope to the hits, and what is kept of a document.

Every engine translates the same scope tree and the same query; no engine has words of its own here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from unicodedata import normalize

ScopeKind = Literal["collection", "document", "folder", "tag", "modified"]


@dataclass(frozen=True, slots=True)
class Clause:
    """One mention of a scope: `@kind:value,value`, or `-@kind:…` when `is_excluded`.

    Its values are alternatives and ignore case. A folder is a posix path without slashes at its
    ends; with `is_recursive` it holds all below it too, and "" then is everything. Only
    `modified` has bounds, UTC: `after` and the moments up to, not including, `before`; a passage
    whose time is unknown is in no range.
    """

    kind: ScopeKind
    values: tuple[str, ...] = ()
    after: datetime | None = None
    before: datetime | None = None
    is_recursive: bool = True
    is_excluded: bool = False


@dataclass(frozen=True, slots=True)
class AnyOf:
    """A bracket of a scope, `(… OR …)`: one of its scopes must hold; none, when `is_excluded`.

    It has two scopes or more, or is excluded; none of them is everywhere.
    """

    scopes: tuple["Scope", ...]
    is_excluded: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look: every clause must hold. Without clauses, everywhere."""

    clauses: tuple[Clause | AnyOf, ...] = ()


EVERYWHERE = Scope()


def mentioned(scope: Scope) -> Iterator[Clause]:
    """Every mention in *scope*, those in brackets too, in the order of the text."""
    for clause in scope.clauses:
        if isinstance(clause, AnyOf):
            for one in clause.scopes:
                yield from mentioned(one)
        else:
            yield clause


def fold_name(name: str) -> str:
    r"""What two names have in common that are one: case is ignored, and how accents are encoded.

    >>> fold_name("CAFÉ") == fold_name("cafe\u0301")
    True
    """
    return normalize("NFC", normalize("NFD", name).casefold())


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks at the documents: sees the shared collections, and with a *name* its own."""

    name: str = ""
    sees_all: bool = False

    def sees(self, collection: str) -> bool:
        """Whether *collection* is shared or its own; case is ignored."""
        owner = owner_of(collection)
        return self.sees_all or not owner or owner == fold_name(self.name)


OPERATOR = Viewer(sees_all=True)
"""Whoever runs the command line, or has a key for administration."""


def owner_of(collection: str) -> str:
    """Whose *collection* is, in small letters: `alice:notes` is alice's; "" where it is shared."""
    owner, colon, _ = fold_name(collection).partition(":")
    return (owner.strip() or colon) if colon else ""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A question as understood.

    `words` are what is ranked by: lower case, in order, each as often as it was said, without
    stop words (unless there is nothing else). Every one of `phrases` must occur word after word,
    endings aside, and none of `excluded` (a word or a phrase each) may; `wishes` are phrases that
    rank higher what holds them, and `pairs` words that stood side by side, which do so a little.
    Nothing is stemmed yet: each engine stems as it indexed. How rare a word is, is counted in
    `counted`: what lies outside neither ranks nor makes relevant.
    """

    text: str
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    wishes: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    counted: Scope = EVERYWHERE

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for (what is only excluded is not enough)."""
        return not (self.words or self.phrases)


@dataclass(frozen=True, slots=True)
class Passage:
    """About 200 words of a document, with all that scopes, answers and citations need.

    `collection` and `document_id` together name the document (case ignored). `position` counts
    from 0. `folder` is a posix path without slashes at its ends, "" at the root. Lines count
    from 1, both ends included. `path` is the document's address, or its path as it was named.
    `content_hash` is that of the document.
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
        """Names this passage in the whole index."""
        return passage_id(self.collection, self.document_id, self.position)


def passage_id(collection: str, document_id: str, position: int) -> str:
    """The id of the passage at *position*, such as `manuals/intro.md:3`."""
    return f"{id_prefix(collection)}{document_id}:{position}"


def id_prefix(collection: str) -> str:
    """How the ids of all passages of *collection* begin.

    A slash in its name is escaped as in an address, lest an id of another one were the same.
    """
    return f"{collection.replace('%', '%25').replace('/', '%2F')}/"


def document_key(collection: str, document_id: str) -> str:
    """Names a document in the whole index, whatever the case of its names."""
    return f"{fold_name(collection)}\x1f{fold_name(document_id)}"


def ancestors(folder: str) -> list[str]:
    """*folder* and every folder above it but the root, in small letters, as scopes name them."""
    parts = fold_name(folder).split("/") if folder else []
    return ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """What is remembered of a document, so that it is read again only when it changed.

    `mtime_ns` and `size_bytes` are the file's when it was read, 0 where there is no file.
    """

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
    """A file on disk that may be indexed: `location` opens it.

    `path` is its absolute path and `shown` how the person named it, both printable; `relative` is
    its place below the folder that was named.
    """

    location: str
    path: str
    shown: str
    relative: str
    mtime_ns: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class FileScan:
    """What was found at the places that were named.

    `problems` are paths that could not be looked at, and why; `links` counts symbolic links, which
    are not followed.
    """

    files: tuple[FoundFile, ...]
    problems: tuple[tuple[str, str], ...]
    links: int
    covers: Callable[[str], bool]
    """Whether the file at an absolute path would have been found if it was there."""


@dataclass(frozen=True, slots=True)
class PdfText:
    """The pages of a PDF as text, in order, and the title that the file states."""

    pages: tuple[str, ...]
    title: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentWithPassages:
    """A document as it is handed to an index, at least one passage, in order of position."""

    document: IndexedDocument
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found; scores compare only within one search."""

    passage: Passage
    score: float


@dataclass(frozen=True, slots=True)
class SearchResults:
    """One page of hits, best first, and how many passages match in all.

    `warnings` are sentences for the reader, such as that only the text was searched.
    """

    hits: tuple[Hit, ...] = ()
    total: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectionStats:
    """What a collection holds; `name` is spelled as in one of its documents."""

    name: str
    documents: int
    passages: int
