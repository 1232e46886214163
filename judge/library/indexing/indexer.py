"""The steps of adding and removing documents, the same for every entrypoint.

places -> files and web pages -> plan: new or changed? -> read, split, write -> missing? -> vectors

A run commits as it goes, so that a second one does the rest, however the first ends.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Literal

from judge.errors import EmbedderUnavailable, InvalidRequest, UnreadableDocument
from judge.library.extract.document_reader import (
    BINARY_KINDS,
    MAX_BYTES,
    DocumentMetadata,
    check_collection,
    hash_of,
    is_binary,
    is_blank,
    read_document,
)
from judge.library.indexing.plan import (
    IndexingOptions,
    IndexingProblem,
    IndexingTask,
    documents_to_remove,
    fetch_page,
    is_url,
    plan_indexing,
)
from judge.ports import (
    Catalogue,
    Clock,
    DocumentConverter,
    DocumentFiles,
    IndexWriter,
    PageFetcher,
    PdfReader,
    VectorStorage,
    WritableIndex,
)
from judge.types.search import DocumentWithPassages, IndexedDocument, fold_name

BATCH_FILES = 100
"""Read at a time, in a thread, and committed: the most work that a crash can lose."""

PDF_SLOTS = 2
"""PDFs read at a time; each takes a core, up to 2 GiB and one of a process's few threads."""

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
    elapsed_s: float = 0.0

    def note(self, path: str, result: ReadResult, *, is_new: bool) -> None:
        """Count the *result* of the file or page *path*; *is_new* if it was not indexed before."""
        if isinstance(result, DocumentWithPassages):
            self.problems += [IndexingProblem(path, warning) for warning in result.warnings]
            self.passages += len(result.passages)
            self.added += is_new
            self.replaced += not is_new
        elif isinstance(result, IndexingProblem):
            self.problems.append(result)
        else:
            self.unchanged += result == "unchanged"
            self.binary += result == "binary"
            self.empty += result == "empty"


Advance = Callable[[int], None]
Track = Callable[[str, int], AbstractContextManager[Advance]]
"""Takes a phase and its number of documents; gives a callback for how many more are done."""


def untracked(_phase: str, _total: int) -> AbstractContextManager[Advance]:
    """A Track that tells nobody."""
    return nullcontext(lambda _count: None)


@dataclass(frozen=True, slots=True)
class DocumentIndexer:
    """Adds documents to the index and removes them."""

    store: WritableIndex
    catalogue: Catalogue
    files: DocumentFiles
    open_pdf_reader: Callable[[], AbstractContextManager[PdfReader]]
    convert: DocumentConverter
    open_fetcher: Callable[[], AbstractAsyncContextManager[PageFetcher]]
    """Opens what fetches web pages."""
    clock: Clock
    vectors: VectorStorage | None = None
    """Keeps vectors beside the embedded index; None where there are none."""
    pdf_slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(PDF_SLOTS))

    async def add(
        self, places: Sequence[str], options: IndexingOptions, track: Track = untracked
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
        _check(options, len(scan.files) + len(urls), has_problems=bool(scan.problems))
        indexed = await self.catalogue.documents(options.collection)
        plan = plan_indexing(scan.files, indexed, options, exists=self.files.exists)
        problems = [IndexingProblem(path, reason) for path, reason in scan.problems]
        gone = documents_to_remove(indexed, options, plan, scan, urls, exists=self.files.exists)
        if problems and (options.replaces or options.prunes):
            gone = ()  # A path may be misspelled, and its documents still be wanted.
            reason = "Nothing was removed, since not all paths could be read. Correct them."
            option = "--replace" if options.replaces else "--prune"
            problems.append(IndexingProblem(option, reason))
        report = IndexingReport(
            unchanged=plan.unchanged, links=scan.links, problems=[*problems, *plan.problems]
        )
        if plan.tasks or urls or gone:
            async with self.store.writing() as writer:
                run = _IndexingRun(self, writer, options, report)
                with track("Indexing", len(plan.tasks) + len(urls)) as advance:
                    await run.add_files(plan.tasks, advance)
                    await run.add_pages(urls, indexed, advance)
                await writer.remove(options.collection, gone)
                report.removed = len(gone)
                await writer.commit()
        if self.vectors:
            await _complete_vectors(self.vectors, report, track)
        report.elapsed_s = round(self.clock.monotonic() - started, 2)
        return report

    async def add_documents(
        self, documents: Sequence[tuple[bytes, DocumentMetadata]]
    ) -> tuple[IndexedDocument, ...]:
        """Add all documents, each in place of its id, or none.

        Raises UnreadableDocument, IndexLocked and IndexUnavailable.
        """

        def read_all() -> list[DocumentWithPassages]:
            with self.open_pdf_reader() as read_pdf:
                return [
                    read_document(content, meta, read_pdf, self.convert)
                    for content, meta in documents
                ]

        has_pdf = any(meta.effective_kind == "pdf" for _, meta in documents)
        async with self.pdf_slots if has_pdf else nullcontext():
            new = await asyncio.to_thread(read_all)
        async with self.store.writing() as writer:
            await writer.replace(new)
            await writer.commit()
        if self.vectors:
            with suppress(EmbedderUnavailable):  # The words are indexed.
                await self.vectors.complete(lambda _count: None)
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
    ) -> tuple[list[str], list[str]]:
        """Remove documents (case ignored), or the whole collection when no ids are given.

        The ids of those removed, and those that do not exist. Raises IndexLocked and
        IndexUnavailable.
        """
        ids = {fold_name(d.id): d.id for d in await self.catalogue.documents(collection)}
        wanted = list(ids.values()) if document_ids is None else document_ids
        removed = [ids[fold_name(name)] for name in wanted if fold_name(name) in ids]
        missing = [name for name in wanted if fold_name(name) not in ids]
        if removed:
            async with self.store.writing() as writer:
                await writer.remove(collection, None if document_ids is None else removed)
                await writer.commit()
        return removed, missing


@dataclass(frozen=True, slots=True)
class _IndexingRun:
    """One run of `DocumentIndexer.add`, while it has the writer."""

    indexer: DocumentIndexer
    writer: IndexWriter
    options: IndexingOptions
    report: IndexingReport

    async def add_files(self, tasks: Sequence[IndexingTask], advance: Advance) -> None:
        """Read, write and commit the files, a batch at a time."""
        for start in range(0, len(tasks), BATCH_FILES):
            batch = tasks[start : start + BATCH_FILES]
            with self.indexer.open_pdf_reader() as read_pdf:  # Stopping ends it at once.
                read = partial(self._read, read_pdf)
                results = await asyncio.to_thread(lambda: [*map(read, batch)])  # noqa: B023
            documents = [item for item in results if isinstance(item, DocumentWithPassages)]
            await self.writer.replace(documents)
            for task, result in zip(batch, results, strict=True):
                self.report.note(task.file.given, result, is_new=task.indexed is None)
                if task.indexed and result in ("binary", "empty"):  # It has no text any more.
                    await self.writer.remove(task.indexed.collection, [task.indexed.id])
            await self.writer.commit()
            advance(len(batch))

    async def add_pages(
        self, urls: Sequence[str], indexed: Sequence[IndexedDocument], advance: Advance
    ) -> None:
        """Fetch each web page and write it, unless it is unchanged."""
        if not urls:
            return
        by_id = {fold_name(record.id): record for record in indexed}
        result: ReadResult
        async with self.indexer.open_fetcher() as fetcher:
            for url in urls:
                record = by_id.get(fold_name(self.options.document_id or url))
                try:
                    content, meta = await fetch_page(fetcher, url, self.options)
                    with self.indexer.open_pdf_reader() as pdf:
                        result = await asyncio.to_thread(self._split, content, meta, record, pdf)
                except UnreadableDocument as error:
                    result = IndexingProblem(url, str(error))
                if isinstance(result, DocumentWithPassages):
                    await self.writer.replace([result])
                self.report.note(url, result, is_new=record is None)
                advance(1)

    def _read(self, read_pdf: PdfReader, task: IndexingTask) -> ReadResult:
        try:
            content = self.indexer.files.read(task.file.location, max_bytes=MAX_BYTES)
            if is_binary(content) and task.meta.effective_kind not in BINARY_KINDS:
                return "binary"
            if is_blank(content):
                return "empty"
            return self._split(content, task.meta, task.indexed, read_pdf)
        except UnreadableDocument as error:
            return IndexingProblem(task.file.given, str(error))

    def _split(
        self,
        content: bytes,
        meta: DocumentMetadata,
        record: IndexedDocument | None,
        read_pdf: PdfReader,
    ) -> ReadResult:
        """The document with this *content*, unless *record* has the same."""
        if record and not self.options.replaces and record.content_hash == hash_of(content, meta):
            return "unchanged"
        return read_document(content, meta, read_pdf, self.indexer.convert)


def _check(options: IndexingOptions, count: int, *, has_problems: bool) -> None:
    """Raise InvalidRequest for options that *count* documents contradict."""
    if count > 1 and (options.document_id or options.title):
        raise InvalidRequest(
            f"--document and --title are for one document, and there are {count} here."
        )
    is_empty = not count and not has_problems
    if is_empty and options.globs and (options.replaces or not options.prunes):
        raise InvalidRequest(
            f"No file matches {' or '.join(map(repr, options.globs))}, so nothing was changed. "
            "Correct --glob."
        )


async def _complete_vectors(vectors: VectorStorage, report: IndexingReport, track: Track) -> None:
    """Make all missing vectors, also those of earlier runs, and report how many remain missing."""
    missing, why = await vectors.missing(), ""
    if not missing:
        return
    try:
        with track("Embedding", missing) as advance:
            await vectors.complete(advance)
    except EmbedderUnavailable as error:
        why = f" {error}"
    if missing := await vectors.missing():
        reason = f"{missing} missing.{why} The same command makes them."
        report.problems.append(IndexingProblem("vectors", reason))
