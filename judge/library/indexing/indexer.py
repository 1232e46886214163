"""The steps of adding and removing documents, the same for every entrypoint.

places -> files and web pages -> plan: new or changed? -> read, split, write -> missing? -> vectors

A run commits as it goes: what is committed stays, however the process ends, and a second run does
the rest.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from judge.errors import EmbedderUnavailable, InvalidRequest, UnreadableDocument
from judge.library.extract.document_reader import (
    MAX_BYTES,
    DocumentMetadata,
    check_collection,
    hash_of,
    read_document,
)
from judge.library.extract.file_kinds import is_binary, is_blank
from judge.library.indexing.plan import (
    IndexingOptions,
    IndexingProblem,
    IndexingTask,
    documents_to_remove,
    plan_indexing,
)
from judge.library.indexing.web_pages import fetch_page, is_url
from judge.ports import (
    Catalogue,
    Clock,
    DocumentFiles,
    IndexWriter,
    PageFetcher,
    PdfReader,
    VectorStorage,
    WritableIndex,
)
from judge.types.search import (
    DocumentWithPassages,
    IndexedDocument,
    fold_name,
    passage_id,
)

BATCH_FILES = 32
BATCH_BYTES = 2_000_000
"""Read at a time, in a thread; that takes a fraction of a second."""

COMMIT_EVERY_S = 3.0
"""About the most work that a crash can lose; one each second would take a tenth of the time."""

PDF_SLOTS = 2
"""PDFs read at a time; each takes a core, up to 2 GiB and one of a process's few threads."""

NOTHING_REMOVED = (
    "Nothing was removed, since not all paths could be read. Correct them and do the same again."
)

ReadResult = DocumentWithPassages | IndexingProblem | Literal["unchanged", "binary", "empty"]
"""Of a file or page: its document, why it was skipped, or why there is nothing to write."""


@dataclass(slots=True)
class IndexingReport:
    """The counts of a run, updated as it proceeds; `links` are symbolic links, not followed."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    removed: int = 0
    passages: int = 0
    binary: int = 0
    empty: int = 0
    links: int = 0
    problems: list[IndexingProblem] = field(default_factory=list)
    is_interrupted: bool = False
    elapsed_s: float = 0.0

    def note(self, result: ReadResult, *, is_new: bool) -> None:
        """Count the *result* of one file or page; *is_new* if it was not indexed before."""
        match result:
            case DocumentWithPassages():
                self.passages += len(result.passages)
                self.added += is_new
                self.replaced += not is_new
            case IndexingProblem():
                self.problems.append(result)
            case "unchanged":
                self.unchanged += 1
            case "binary":
                self.binary += 1
            case "empty":
                self.empty += 1


@dataclass(frozen=True, slots=True)
class RemovalReport:
    """The ids of the documents that were removed, and those that do not exist."""

    removed: list[str]
    missing: list[str]


@dataclass(frozen=True, slots=True)
class IndexingProgress:
    """Callbacks with which a caller follows a long run, and ends it."""

    track: Callable[[str, int], AbstractContextManager[Callable[[int], None]]] = (
        lambda _phase, _total: nullcontext(lambda _count: None)
    )
    """Takes a phase and its number of documents; gives a callback for how many more are done."""
    should_stop: Callable[[], bool] = lambda: False
    """Called between batches."""


NO_PROGRESS = IndexingProgress()


@dataclass(frozen=True, slots=True)
class DocumentIndexer:
    """Adds documents to the index and removes them."""

    store: WritableIndex
    catalogue: Catalogue
    files: DocumentFiles
    read_pdf: PdfReader
    open_fetcher: Callable[[], AbstractAsyncContextManager[PageFetcher]]
    """Opens what fetches web pages."""
    clock: Clock
    vectors: VectorStorage | None = None
    """Keeps vectors beside the embedded index; None where there are none."""
    pdf_slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PDF_SLOTS))

    async def add(
        self,
        places: Sequence[str],
        options: IndexingOptions,
        progress: IndexingProgress = NO_PROGRESS,
    ) -> IndexingReport:
        """Add the files, folders and web pages at *places*; only what changed is read again.

        What cannot be read is a problem in the report. Raises InvalidRequest, IndexLocked and
        IndexUnavailable.
        """
        started = self.clock.monotonic()
        options = replace(options, collection=check_collection(options.collection))
        urls = [place for place in places if is_url(place)]
        paths = [place for place in places if not is_url(place)]
        scan = await asyncio.to_thread(self.files.scan, paths, options.globs)
        _check_single(options, len(scan.files) + len(urls))
        if not (scan.files or scan.problems or urls):
            _check_globs(options)
        indexed = await self.catalogue.documents(options.collection)
        plan = plan_indexing(scan.files, indexed, options, exists=self.files.exists)
        problems = [IndexingProblem(path, reason) for path, reason in scan.problems]
        if problems and options.replaces:
            problems.append(IndexingProblem("--replace", NOTHING_REMOVED))
        report = IndexingReport(
            unchanged=plan.unchanged, links=scan.links, problems=[*problems, *plan.problems]
        )
        if plan.tasks or urls or options.prunes or options.replaces:
            async with self.store.writing() as writer:
                run = _IndexingRun(self, writer, options, report, progress.should_stop)
                with progress.track("Indexing", len(plan.tasks) + len(urls)) as advance:
                    await run.add_files(plan.tasks, advance)
                    await run.add_pages(urls, indexed, advance)
                if not report.is_interrupted:
                    missing = documents_to_remove(indexed, options, plan, scan, urls)
                    await writer.remove(options.collection, missing)
                    report.removed = len(missing)
                await writer.commit()
        if self.vectors and not report.is_interrupted:
            await _complete_vectors(self.vectors, report, progress)
        report.elapsed_s = round(self.clock.monotonic() - started, 2)
        return report

    async def add_documents(
        self, documents: Sequence[tuple[bytes, DocumentMetadata]]
    ) -> tuple[IndexedDocument, ...]:
        """Add each document, in place of any that has its collection and id.

        Raises UnreadableDocument, IndexLocked and IndexUnavailable; then none is added.
        """

        def read_all() -> list[DocumentWithPassages]:
            return [read_document(content, meta, self.read_pdf) for content, meta in documents]

        has_pdf = any(meta.effective_kind.kind == "pdf" for _, meta in documents)
        async with self.pdf_slots if has_pdf else nullcontext():
            new = await asyncio.to_thread(read_all)
        async with self.store.writing() as writer:
            await writer.replace(new)
            await writer.commit()
        return tuple(item.document for item in new)

    async def add_page(
        self, url: str, options: IndexingOptions, *, modified: datetime | None = None
    ) -> IndexedDocument:
        """Add the web page at *url*; *modified* overrides the date that its server gives.

        Raises InvalidRequest, UnreadableDocument, IndexLocked and IndexUnavailable.
        """
        options = replace(options, collection=check_collection(options.collection))
        async with self.open_fetcher() as fetcher:
            content, meta = await fetch_page(fetcher, url, options)
        modified = modified or meta.modified
        meta = replace(meta, modified=modified, received=self.clock.now())
        (document,) = await self.add_documents([(content, meta)])
        return document

    async def remove(
        self, collection: str, document_ids: Sequence[str] | None = None
    ) -> RemovalReport:
        """Remove documents (case ignored), or the whole collection when no ids are given.

        Raises IndexLocked and IndexUnavailable.
        """
        if document_ids is None:
            report = RemovalReport([d.id for d in await self.catalogue.documents(collection)], [])
        else:
            report = await self._find_documents(collection, document_ids)
        if report.removed:
            async with self.store.writing() as writer:
                await writer.remove(collection, None if document_ids is None else report.removed)
                await writer.commit()
        return report

    async def _find_documents(self, collection: str, ids: Sequence[str]) -> RemovalReport:
        """Which of *ids* exist, as spelled in the index; faster than to list all documents."""
        passages = {
            name: await self.catalogue.around(passage_id(collection, name, 0)) for name in ids
        }
        return RemovalReport(
            [first[0].document_id for first in passages.values() if first],
            [name for name, first in passages.items() if not first],
        )


@dataclass(frozen=True, slots=True)
class _IndexingRun:
    """One run of `DocumentIndexer.add`, while it has the writer."""

    indexer: DocumentIndexer
    writer: IndexWriter
    options: IndexingOptions
    report: IndexingReport
    should_stop: Callable[[], bool]

    async def add_files(
        self, tasks: Sequence[IndexingTask], advance: Callable[[int], None]
    ) -> None:
        """Read and write the files, a batch at a time, committing as it goes."""
        committed = self.indexer.clock.monotonic()
        for batch in _batches(tasks):
            if self.should_stop():
                self.report.is_interrupted = True
                break
            results = await asyncio.to_thread(lambda tasks: [*map(self._read, tasks)], batch)
            await self._write(batch, results)
            if self.indexer.clock.monotonic() - committed >= COMMIT_EVERY_S:
                await self.writer.commit()
                committed = self.indexer.clock.monotonic()
            advance(len(batch))

    async def add_pages(
        self,
        urls: Sequence[str],
        indexed: Sequence[IndexedDocument],
        advance: Callable[[int], None],
    ) -> None:
        """Fetch each web page and write it, unless it is unchanged."""
        if not urls or self.report.is_interrupted:
            return
        await self.writer.commit()  # Fetching may take long.
        by_id = {fold_name(record.id): record for record in indexed}
        async with self.indexer.open_fetcher() as fetcher:
            for url in urls:
                if self.should_stop():
                    self.report.is_interrupted = True
                    return
                record = by_id.get(fold_name(self.options.document_id or url))
                result = await self._read_page(fetcher, url, record)
                if isinstance(result, DocumentWithPassages):
                    await self.writer.replace([result])
                self.report.note(result, is_new=record is None)
                advance(1)

    def _read(self, task: IndexingTask) -> ReadResult:
        try:
            content = self.indexer.files.read(task.file.location, max_bytes=MAX_BYTES)
            if self._is_indexed(content, task.meta, task.indexed):
                return "unchanged"
            if is_binary(content) and task.meta.effective_kind.kind != "pdf":
                return "binary"
            if is_blank(content):
                return "empty"
            return read_document(content, task.meta, self.indexer.read_pdf)
        except UnreadableDocument as error:
            return IndexingProblem(task.file.shown, str(error))

    async def _read_page(
        self, fetcher: PageFetcher, url: str, record: IndexedDocument | None
    ) -> ReadResult:
        try:
            content, meta = await fetch_page(fetcher, url, self.options)
            if self._is_indexed(content, meta, record):
                return "unchanged"
            return await asyncio.to_thread(read_document, content, meta, self.indexer.read_pdf)
        except UnreadableDocument as error:
            return IndexingProblem(url, str(error))

    def _is_indexed(
        self, content: bytes, meta: DocumentMetadata, record: IndexedDocument | None
    ) -> bool:
        """Whether *record* has the same content, so that nothing is to be written."""
        if record is None or self.options.replaces:
            return False
        return record.content_hash == hash_of(content, meta)

    async def _write(self, tasks: Sequence[IndexingTask], results: Sequence[ReadResult]) -> None:
        documents = [item for item in results if isinstance(item, DocumentWithPassages)]
        if documents:
            await self.writer.replace(documents)
        for task, result in zip(tasks, results, strict=True):
            self.report.note(result, is_new=task.indexed is None)
            if task.indexed and result in ("binary", "empty"):  # It has no text any more.
                await self.writer.remove(task.indexed.collection, [task.indexed.id])


def _check_globs(options: IndexingOptions) -> None:
    """Raise InvalidRequest for globs that match nothing, unless files that are gone are pruned."""
    if options.globs and (options.replaces or not options.prunes):
        raise InvalidRequest(
            f"No file matches {' or '.join(map(repr, options.globs))}, so nothing was changed. "
            "Correct --glob, or empty a collection with `judge index remove`."
        )


def _check_single(options: IndexingOptions, count: int) -> None:
    if count > 1 and (options.document_id or options.title):
        raise InvalidRequest(
            f"--document and --title are for one document, and there are {count} here."
        )


def _batches(tasks: Sequence[IndexingTask]) -> Iterator[list[IndexingTask]]:
    batch: list[IndexingTask] = []
    size = 0
    for task in tasks:
        batch.append(task)
        size += task.file.size_bytes
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


async def _complete_vectors(
    vectors: VectorStorage, report: IndexingReport, progress: IndexingProgress
) -> None:
    """Make all missing vectors, those of earlier runs too, and report how many remain missing."""
    missing, why = await vectors.missing(), ""
    if not missing:
        return
    try:
        with progress.track("Embedding", missing) as advance:
            await vectors.complete(advance, progress.should_stop)
    except EmbedderUnavailable as error:
        why = f" {error}"
    report.is_interrupted = progress.should_stop()
    if missing := await vectors.missing():
        reason = f"{missing} missing.{why} The same command makes them."
        report.problems.append(IndexingProblem("vectors", reason))
