"""Carries a plan out: read, cut and write the documents, committing as it goes.

Whatever was committed stays, however the process ends; a second run does the rest.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from judge.errors import UnreadableDocument
from judge.ports import Clock, IndexWriter
from judge.search.indexing.document_reader import Readers, hash_of, read_document
from judge.search.indexing.plan import IndexingTask, SkippedDocument
from judge.search.indexing.readers.file_kinds import is_binary, kind_of
from judge.types.search import DocumentWithPassages

BATCH_FILES = 32
BATCH_BYTES = 2_000_000
"""Read at one time, in a thread; so much takes a fraction of a second."""

COMMIT_EVERY_S = 1.0
"""About the most work that a crash can cost; a commit takes about a twentieth of it."""


@dataclass(slots=True)
class IndexingReport:
    """What was done, as it grows."""

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    removed: int = 0
    passages: int = 0
    binary: int = 0
    empty: int = 0
    links: int = 0
    problems: list[SkippedDocument] = field(default_factory=list)
    is_interrupted: bool = False

    def count(self, document: DocumentWithPassages, *, is_new: bool) -> None:
        """Note that *document* was written."""
        self.passages += len(document.passages)
        self.added += is_new
        self.replaced += not is_new


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What reading one file gave: a document, a reason why not, or nothing new."""

    work: IndexingTask
    document: DocumentWithPassages | None = None
    is_unchanged: bool = False
    is_binary: bool = False
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Indexer:
    """Writes documents with the given collaborators.

    `load` gives the bytes of a file and raises UnreadableDocument; `tell` hears of every file that
    is done with, and `should_stop` is asked between batches.
    """

    load: Callable[[str], bytes]
    readers: Readers
    writer: IndexWriter
    clock: Clock
    tell: Callable[[int], None]
    should_stop: Callable[[], bool]

    async def index(
        self, work: Sequence[IndexingTask], report: IndexingReport, *, reads_all: bool
    ) -> None:
        """Do *work* and note it in *report*; raises IndexUnavailable."""
        committed = self.clock.monotonic()
        for batch in _batches(work):
            if self.should_stop():
                report.is_interrupted = True
                break
            outcomes = await asyncio.to_thread(self._read, batch, reads_all=reads_all)
            await self._write(outcomes, report)
            if self.clock.monotonic() - committed >= COMMIT_EVERY_S:
                await self.writer.commit()
                committed = self.clock.monotonic()
            self.tell(len(batch))
        await self.writer.commit()

    def _read(self, batch: Sequence[IndexingTask], *, reads_all: bool) -> list[_Outcome]:
        return [self._outcome(work, reads_all=reads_all) for work in batch]

    def _outcome(self, work: IndexingTask, *, reads_all: bool) -> _Outcome:
        try:
            content = self.load(work.file.location)
            known = work.known
            if known and not reads_all and known.content_hash == hash_of(content, work.origin):
                return _Outcome(work, is_unchanged=True)
            if kind_of(work.origin.name).kind != "pdf" and is_binary(content):
                return _Outcome(work, is_binary=True)
            if not content.strip():
                return _Outcome(work)
            return _Outcome(work, read_document(content, work.origin, self.readers))
        except UnreadableDocument as error:
            return _Outcome(work, problem=str(error))

    async def _write(self, outcomes: Sequence[_Outcome], report: IndexingReport) -> None:
        documents = [outcome.document for outcome in outcomes if outcome.document]
        if documents:
            await self.writer.replace(documents)
        for outcome in outcomes:
            _note(outcome, report)
            if _is_gone(outcome):
                origin = outcome.work.origin
                await self.writer.remove(origin.collection, [origin.document_id])


def _is_gone(outcome: _Outcome) -> bool:
    """Whether the file that was indexed has no text any more."""
    has_text = outcome.document or outcome.is_unchanged or outcome.problem
    return outcome.work.known is not None and not has_text


def _note(outcome: _Outcome, report: IndexingReport) -> None:
    if outcome.document:
        report.count(outcome.document, is_new=outcome.work.known is None)
    elif outcome.is_unchanged:
        report.unchanged += 1
    elif outcome.is_binary:
        report.binary += 1
    elif outcome.problem:
        report.problems.append(SkippedDocument(outcome.work.file.shown, outcome.problem))
    else:
        report.empty += 1


def _batches(work: Sequence[IndexingTask]) -> Iterator[list[IndexingTask]]:
    batch: list[IndexingTask] = []
    size = 0
    for item in work:
        batch.append(item)
        size += item.file.size_bytes
        if len(batch) >= BATCH_FILES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
