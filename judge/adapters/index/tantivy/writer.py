"""The one writer of the embedded index, and the lock file that names its holder.

Tantivy commits by renaming one file, so a process killed at any moment leaves the last commit
intact.
"""
# ruff: noqa: D102 - judge/ports.py says what each method does

import asyncio
import fcntl
import os
import shutil
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO

import tantivy

from judge.adapters.index.tantivy.index import index_folder, translated_errors
from judge.adapters.index.tantivy.schema import key_label, label, open_index, to_documents
from judge.errors import IndexLocked
from judge.ports import Clock
from judge.types.search import DocumentWithPassages


class TantivyStore:
    """Hands out the writer of the index in *data_dir*; waits *wait_s* for another writer."""

    def __init__(self, data_dir: Path, clock: Clock, *, wait_s: float = 5.0) -> None:
        self._data_dir = data_dir
        self._clock = clock
        self._wait_s = wait_s
        self._turn = asyncio.Lock()
        """Writers of this process take turns, first come first served."""

    @asynccontextmanager
    async def writing(self) -> AsyncIterator["TantivyWriter"]:
        async with self._turn, self._locked():
            folder = index_folder(self._data_dir)
            writer = TantivyWriter(folder, await asyncio.to_thread(_opened, folder))
            try:
                yield writer
            finally:
                await writer.finish()

    @asynccontextmanager
    async def _locked(self) -> AsyncIterator[None]:
        """Hold the file lock, which the system releases even if the process is killed."""
        deadline = self._clock.monotonic() + self._wait_s
        with translated_errors("written"):
            self._data_dir.mkdir(parents=True, exist_ok=True)
            file = (self._data_dir / "index.lock").open("a+", encoding="utf-8")
        with file:
            while not _is_locked(file):
                if self._clock.monotonic() >= deadline:
                    file.seek(0)
                    raise IndexLocked(file.read().strip() or "another process")
                await asyncio.sleep(0.01)
            # Only the command, such as `judge index`: other arguments may be private.
            command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:2]])
            since = f"{self._clock.now():%H:%M:%S} UTC"
            with suppress(OSError):  # If the disk is full, writing the index will say so.
                file.truncate(0)
                os.write(file.fileno(), f"process {os.getpid()} ({command}) since {since}".encode())
            yield


def _opened(folder: Path) -> tantivy.IndexWriter:
    with translated_errors("written"):
        folder.mkdir(exist_ok=True)
        writer = open_index(str(folder)).writer()
        # Files left by a process that was killed or ran out of disk space.
        writer.garbage_collect_files()
        return writer


def _is_locked(file: IO[str]) -> bool:
    """Whether *file* is locked now, for this process."""
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


class TantivyWriter:
    """See `IndexWriter`; opened by `TantivyStore.writing`, which keeps others from writing."""

    def __init__(self, folder: Path, writer: tantivy.IndexWriter) -> None:
        self._folder = folder
        self._writer = writer
        self._busy = threading.Lock()
        """Held while a thread writes: a thread whose caller was cancelled still finishes."""

    async def replace(self, documents: Sequence[DocumentWithPassages]) -> None:
        """See `IndexWriter.replace`."""

        def write() -> None:
            for item in documents:
                key = key_label(item.document.collection, item.document.id)
                self._writer.delete_documents_by_term("labels", key)
                for document in to_documents(item):
                    self._writer.add_document(document)

        await self._run(write)

    async def remove(self, collection: str, document_ids: Sequence[str] | None = None) -> None:
        labels = [key_label(collection, document_id) for document_id in document_ids or ()]
        if document_ids is None:
            labels = [label("collection", collection)]

        def write() -> None:
            for term in labels:
                self._writer.delete_documents_by_term("labels", term)

        await self._run(write)

    async def commit(self) -> None:
        """See `IndexWriter.commit`."""

        def write() -> None:
            self._writer.commit()
            for other in self._folder.parent.glob("index-v*"):
                if other != self._folder:
                    shutil.rmtree(other, ignore_errors=True)

        await self._run(write)

    async def finish(self) -> None:
        """Drop uncommitted changes, and wait for merges to finish."""
        await self._run(self._writer.wait_merging_threads)

    async def _run(self, write: Callable[[], object]) -> None:
        def run() -> None:
            with self._busy, translated_errors("written"):
                write()

        await asyncio.to_thread(run)
