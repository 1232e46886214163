"""The one writer of the embedded index: a lock that says who holds it, replacing, committing.

A commit of Tantivy's is the renaming of one file, so that a process killed at any moment leaves
the last commit whole.
"""

import asyncio
import fcntl
import os
import shutil
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO

import tantivy

from judge.adapters.tantivy.index import index_folder, translated_errors
from judge.adapters.tantivy.schema import label, number, open_index, to_documents
from judge.errors import IndexLocked
from judge.ports import Clock
from judge.types.search import DocumentWithPassages, document_key

HEAP_BYTES = 128_000_000
"""Indexed but not yet written passages, over all threads; Tantivy's own default."""

LOOK_EVERY_S = 0.002
"""How often a waiting writer tries the lock; a look costs two system calls."""


class TantivyStore:
    """Hands out the writer of the index in *data_dir*, waiting *wait_s* for another one."""

    def __init__(self, data_dir: Path, clock: Clock, *, wait_s: float = 5.0) -> None:
        self._data_dir = data_dir
        self._clock = clock
        self._wait_s = wait_s
        self._turn = asyncio.Lock()
        """Writers of this process take turns in the order in which they came."""

    @asynccontextmanager
    async def writing(self) -> AsyncIterator["TantivyWriter"]:
        """See `WritableIndex.writing`."""
        async with self._locked():
            writer = await asyncio.to_thread(self._open)
            try:
                yield writer
            finally:
                await asyncio.to_thread(writer.finish)

    def _open(self) -> "TantivyWriter":
        folder = index_folder(self._data_dir)
        with translated_errors("written"):
            folder.mkdir(exist_ok=True)
            index = open_index(str(folder))
            writer = index.writer(HEAP_BYTES)
            # What a process left that was killed, or had no room to end: a commit would need more.
            writer.garbage_collect_files()
            return TantivyWriter(writer, index.searcher(), folder)

    @asynccontextmanager
    async def _locked(self) -> AsyncIterator[None]:
        """Hold the lock, which the system takes back even from a process that is killed."""
        deadline = self._clock.monotonic() + self._wait_s
        async with self._turn:
            # Without a pause, who comes right back would leave no moment for other processes.
            await asyncio.sleep(2 * LOOK_EVERY_S)
            with translated_errors("written"):
                self._data_dir.mkdir(parents=True, exist_ok=True)
                file = (self._data_dir / "index.lock").open("a+", encoding="utf-8")
            with file:
                while not _try_lock(file):
                    if self._clock.monotonic() >= deadline:
                        raise IndexLocked(_holder(file))
                    await asyncio.sleep(LOOK_EVERY_S)
                now = self._clock.now()
                _sign(file, f"process {os.getpid()} ({_command()}) since {now:%H:%M:%S} UTC")
                yield


class TantivyWriter:
    """See `IndexWriter`; made by `TantivyStore.writing`, which keeps others from writing.

    *before* is the index as it was then.
    """

    def __init__(self, writer: tantivy.IndexWriter, before: tantivy.Searcher, folder: Path) -> None:
        self._writer = writer
        self._before = before
        self._folder = folder
        self._written: set[str] = set()
        self._busy = threading.Lock()
        """Held by each thread that writes: one that nobody awaits any more comes to its end."""

    async def replace(self, documents: Sequence[DocumentWithPassages]) -> None:
        """See `IndexWriter.replace`."""
        await asyncio.to_thread(self._replace, documents)

    async def remove(self, collection: str, document_ids: Sequence[str] | None = None) -> None:
        """See `IndexWriter.remove`."""
        with translated_errors("written"):
            if document_ids is None:
                self._delete(label("collection", collection))
            for document_id in document_ids or ():
                self._delete(label("key", number(document_key(collection, document_id))))

    async def commit(self) -> None:
        """See `IndexWriter.commit`."""
        await asyncio.to_thread(self._commit)

    def finish(self) -> None:
        """Drop what was not committed, and let merges come to their end."""
        with self._busy, translated_errors("written"):
            self._writer.wait_merging_threads()

    def _replace(self, documents: Sequence[DocumentWithPassages]) -> None:
        with self._busy, translated_errors("written"):
            for item in documents:
                name = document_key(item.document.collection, item.document.id)
                key = label("key", number(name))
                # Every commit looks for what is to be deleted in every segment.
                if key in self._written or self._before.doc_freq("labels", key):
                    self._delete(key)
                self._written.add(key)
                for document in to_documents(item):
                    self._writer.add_document(document)

    def _delete(self, term: str) -> None:
        self._writer.delete_documents_by_term("labels", term)

    def _commit(self) -> None:
        with self._busy, translated_errors("written"):
            self._writer.commit()
            for other in self._folder.parent.glob("index-v*"):
                if other != self._folder:
                    shutil.rmtree(other, ignore_errors=True)


def _try_lock(file: IO[str]) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _sign(file: IO[str], holder: str) -> None:
    with suppress(OSError):  # When the disk is full, writing the index tells so.
        file.truncate(0)
        os.write(file.fileno(), holder.encode())


def _holder(file: IO[str]) -> str:
    file.seek(0)
    return file.read().strip() or "another process"


def _command() -> str:
    """What this process was started as, such as `judge index`; further arguments may be private."""
    return " ".join([Path(sys.argv[0]).name, *sys.argv[1:2]])
