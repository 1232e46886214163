"""Which files and web pages to read, their metadata, and which documents to remove."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from judge.errors import FetchError, UnreadableDocument
from judge.library.extract.document_reader import MAX_BYTES, DocumentMetadata
from judge.library.extract.structured import parse_mail_date
from judge.ports import PageFetcher
from judge.types.search import FileScan, FoundFile, IndexedDocument, fold_name, folder_path

PAGE_TIMEOUT_S = 20.0
"""For a web page; longer than for a judgement, since no person waits for it."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class IndexingOptions:
    """The options of one run, for all its files and web pages."""

    collection: str
    tags: tuple[str, ...] = ()
    folder: str = ""
    document_id: str | None = None
    title: str | None = None
    globs: tuple[str, ...] = ()
    """Only files that match one of these are indexed; without globs, all are."""
    prunes: bool = False
    """Removes documents at the given paths whose files no longer exist."""
    replaces: bool = False
    """Reads every file again, and removes all other documents of the collection."""


@dataclass(frozen=True, slots=True)
class IndexingTask:
    """A file to read; `indexed` is its document in the index, if there is one."""

    file: FoundFile
    meta: DocumentMetadata
    indexed: IndexedDocument | None = None


@dataclass(frozen=True, slots=True)
class IndexingProblem:
    """What was skipped, mostly a document, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class IndexingPlan:
    """The files to read; `unchanged` counts those that need not be opened."""

    tasks: tuple[IndexingTask, ...]
    unchanged: int
    document_ids: frozenset[str]
    """The ids of all files, as `fold_name` gives them."""
    problems: tuple[IndexingProblem, ...]


def plan_indexing(
    files: Iterable[FoundFile],
    indexed: Sequence[IndexedDocument],
    options: IndexingOptions,
    *,
    exists: Callable[[str], bool],
) -> IndexingPlan:
    """The plan for *files*, in their order; a file that does not exist any more gives up its id."""
    by_id = {fold_name(record.id): record for record in indexed}
    by_path = {record.path: record for record in indexed}
    tasks: list[IndexingTask] = []
    problems: list[IndexingProblem] = []
    paths: dict[str, str] = {}
    unchanged = 0
    for file in files:
        meta = _meta(file, options, by_path)
        key = fold_name(meta.document_id)
        if paths.get(key) == file.path:
            continue  # Two of the given paths lead to it.
        record = by_id.get(key)
        owner = paths.get(key) or (record.path if record and not options.document_id else file.path)
        if owner != file.path and (key in paths or exists(owner)):
            reason = f"would have the same id as {owner}; add it with --folder"
            problems.append(IndexingProblem(file.given, reason))
            continue
        paths[key] = file.path
        if file.size_bytes > MAX_BYTES:
            problems.append(IndexingProblem(file.given, f"is over {MAX_BYTES // 1024 // 1024} MiB"))
        elif record and not options.replaces and _is_unchanged(file, meta, record):
            unchanged += 1
        else:
            tasks.append(IndexingTask(file, meta, record))
    return IndexingPlan(tuple(tasks), unchanged, frozenset(paths), tuple(problems))


def _meta(
    file: FoundFile, options: IndexingOptions, by_path: Mapping[str, IndexedDocument]
) -> DocumentMetadata:
    """The metadata of *file*; a file that was indexed before keeps its id."""
    folder = folder_path(options.folder)
    inside = f"{folder}/{file.relative}" if folder else file.relative
    before = by_path.get(file.path)
    return DocumentMetadata(
        collection=options.collection,
        document_id=options.document_id or (before.id if before else inside),
        name=file.relative,
        path=file.given,
        absolute_path=file.path,
        title=options.title,
        folder=inside.rpartition("/")[0],
        tags=options.tags,
        modified=_EPOCH + timedelta(microseconds=file.mtime_ns // 1000),
        mtime_ns=file.mtime_ns,
        size_bytes=file.size_bytes,
    )


def _is_unchanged(file: FoundFile, meta: DocumentMetadata, record: IndexedDocument) -> bool:
    return (
        record.path == file.path
        and record.mtime_ns == file.mtime_ns
        and record.size_bytes == file.size_bytes
        and record.content_hash.endswith(f"-{meta.options_digest}")
    )


def documents_to_remove(
    indexed: Sequence[IndexedDocument],
    options: IndexingOptions,
    plan: IndexingPlan,
    scan: FileScan,
    urls: Sequence[str],
    *,
    exists: Callable[[str], bool],
) -> tuple[str, ...]:
    """The ids of documents that were not given or, to prune, have lost their file."""
    given = plan.document_ids | {fold_name(options.document_id or url) for url in urls}
    others = [record for record in indexed if fold_name(record.id) not in given]
    if options.replaces:
        return tuple(record.id for record in others)
    roots = tuple(f"{root.rstrip('/')}/" for root in scan.roots if options.prunes)
    below = (record for record in others if f"{record.path}/".startswith(roots))
    return tuple(record.id for record in below if not exists(record.path))


def is_url(text: str) -> bool:
    """Whether *text* is the URL of a web page rather than a path."""
    return text.lower().startswith(("http://", "https://"))


async def fetch_page(
    fetcher: PageFetcher, url: str, options: IndexingOptions
) -> tuple[bytes, DocumentMetadata]:
    """The body and metadata of the page at *url*; raises UnreadableDocument."""
    try:
        page = await fetcher.fetch(url, timeout_s=PAGE_TIMEOUT_S)
    except FetchError as error:
        raise UnreadableDocument(str(error)) from error
    meta = DocumentMetadata(
        collection=options.collection,
        document_id=options.document_id or url,
        name=url,
        path=url,
        title=options.title,
        folder=folder_path(options.folder),
        tags=options.tags,
        modified=parse_mail_date(page.last_modified),
        size_bytes=len(page.body),
        charset=page.charset,
        kind="html",
    )
    return page.body, meta
