"""Files that were found, and what is indexed -> what to read, what is unchanged, what is gone.

Pure planning; `index.py` carries it out.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from judge.search.indexing.document_reader import MAX_BYTES, Origin, has_recipe
from judge.search.scopes import folder_path
from judge.types.search import FoundFile, IndexedDocument

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class IndexingOptions:
    """What was asked for together with the files."""

    collection: str
    tags: tuple[str, ...] = ()
    folder: str = ""
    document_id: str | None = None
    title: str | None = None
    reads_all: bool = False


@dataclass(frozen=True, slots=True)
class IndexingTask:
    """A file to be read; `known` is what is remembered of it."""

    file: FoundFile
    origin: Origin
    known: IndexedDocument | None = None


@dataclass(frozen=True, slots=True)
class SkippedDocument:
    """Something that was skipped, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class IndexingPlan:
    """What to do; `unchanged` files need not even be opened, `seen` are the ids of all files."""

    work: tuple[IndexingTask, ...]
    unchanged: int
    seen: frozenset[str]
    """In small letters."""
    problems: tuple[SkippedDocument, ...]


def plan_indexing(
    files: Iterable[FoundFile],
    known: Sequence[IndexedDocument],
    wish: IndexingOptions,
    *,
    is_there: Callable[[str], bool],
) -> IndexingPlan:
    """What *files* need, in their order; each id belongs to one file.

    *is_there* tells whether a path can still be opened: what moved away gives up its id.
    """
    by_id = {record.id.casefold(): record for record in known}
    by_path = {record.path: record for record in known}
    work: list[IndexingTask] = []
    problems: list[SkippedDocument] = []
    taken: dict[str, str] = {}
    unchanged = 0
    for file in files:
        origin = _origin(file, wish, by_path)
        key = origin.document_id.casefold()
        record = by_id.get(key)
        owner = taken.get(key) or (record.path if record and not wish.document_id else file.path)
        if owner != file.path and (key in taken or is_there(owner)):
            problems.append(_clash(file, owner))
            continue
        taken[key] = file.path
        if file.size_bytes > MAX_BYTES:
            problems.append(SkippedDocument(file.shown, f"is over {MAX_BYTES // 1024 // 1024} MiB"))
        elif record and not wish.reads_all and _is_as_known(file, origin, record):
            unchanged += 1
        else:
            work.append(IndexingTask(file, origin, record))
    return IndexingPlan(tuple(work), unchanged, frozenset(taken), tuple(problems))


def gone(
    known: Iterable[IndexedDocument], seen: frozenset[str], is_covered: Callable[[str], bool]
) -> tuple[str, ...]:
    """The ids of the documents whose paths *is_covered*, and that were not seen there."""
    return tuple(
        record.id
        for record in known
        if record.id.casefold() not in seen and is_covered(record.path)
    )


def _origin(
    file: FoundFile, wish: IndexingOptions, by_path: Mapping[str, IndexedDocument]
) -> Origin:
    """Where *file* belongs; indexed before under another id, it keeps that one."""
    folder = folder_path(wish.folder)
    inside = f"{folder}/{file.relative}" if folder else file.relative
    before = by_path.get(file.path)
    return Origin(
        collection=wish.collection,
        document_id=wish.document_id or (before.id if before else inside),
        name=file.relative,
        path=file.shown,
        source_url=file.shown,
        indexed_path=file.path,
        title=wish.title,
        folder=inside.rpartition("/")[0],
        tags=wish.tags,
        modified=_EPOCH + timedelta(microseconds=file.mtime_ns // 1000),
        mtime_ns=file.mtime_ns,
        size_bytes=file.size_bytes,
    )


def _clash(file: FoundFile, owner: str) -> SkippedDocument:
    """Two files must not overwrite one another."""
    return SkippedDocument(file.shown, f"would have the same id as {owner}; add it with --folder")


def _is_as_known(file: FoundFile, origin: Origin, record: IndexedDocument) -> bool:
    return (
        record.path == file.path
        and record.mtime_ns == file.mtime_ns
        and record.size_bytes == file.size_bytes
        and has_recipe(record, origin)
    )
