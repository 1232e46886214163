"""Writes vectors beside Tantivy: to the disk before the commit that makes their passages visible.

A process killed at any moment may leave vectors without passages, which are reused if the same
texts come again and dropped by a later write. If the embedder fails, passages lack vectors, which
`complete` adds.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import numpy as np
import tantivy

from judge.adapters.embedders.passage_text import embedded_text, text_key
from judge.adapters.index.tantivy.index import TantivyIndex, translated_errors
from judge.adapters.index.tantivy.schema import to_passage
from judge.adapters.index.tantivy.writer import TantivyStore
from judge.adapters.index.vectors.index import keyed_passages
from judge.adapters.index.vectors.vector_file import Keys, VectorFile
from judge.errors import EmbedderUnavailable, IndexUnavailable
from judge.ports import Embedder, IndexWriter, Journal
from judge.types.search import DocumentWithPassages, Passage

BATCH_TEXTS = 96
"""Texts embedded and stored at a time: one request to either service."""

_PassageRef = tuple[tantivy.Searcher, tantivy.DocAddress]

MAX_WASTE = 0.2
"""The share of vectors without a passage above which the file is compacted."""


@dataclass(frozen=True, slots=True)
class VectorStore:
    """See `WritableIndex` and `VectorStorage`: *embedder*'s vectors in *file*.

    *store* and *index* are those of the words.
    """

    store: TantivyStore
    index: TantivyIndex
    file: VectorFile
    embedder: Embedder
    journal: Journal

    @property
    def name(self) -> str:
        """See `VectorStorage.name`."""
        return self.embedder.name

    async def add(self, texts: Sequence[str]) -> None:
        """Embed and store those of *texts* that have no vector yet.

        Raises EmbedderUnavailable, with the batches before it stored, and IndexUnavailable.
        """
        missing = await asyncio.to_thread(self._without_vectors, texts)
        for start in range(0, len(missing), BATCH_TEXTS):
            batch = dict(missing[start : start + BATCH_TEXTS])
            vectors = await self.embedder.embed_passages(list(batch.values()))
            await asyncio.to_thread(self._append, dict(zip(batch, vectors, strict=True)))

    @asynccontextmanager
    async def writing(self) -> AsyncIterator["VectorWriter"]:
        """See `WritableIndex.writing`."""
        async with self.store.writing() as writer:
            yield VectorWriter(writer, self)
            await asyncio.to_thread(self._compact)

    async def missing(self) -> int:
        """See `VectorStorage.missing`."""
        return len(await asyncio.to_thread(self._missing))

    async def complete(
        self, advance: Callable[[int], None], should_stop: Callable[[], bool]
    ) -> None:
        """See `VectorStorage.complete`."""
        async with self.writing():
            missing = await asyncio.to_thread(self._missing)
            for start in range(0, len(missing), BATCH_TEXTS):
                if should_stop():
                    return
                batch = missing[start : start + BATCH_TEXTS]
                await self.add(await asyncio.to_thread(_texts, batch))
                advance(len(batch))

    def _append(self, vectors: dict[int, list[float]]) -> None:
        try:
            with _translated_write_errors():
                self.file.append(vectors)
        except (TypeError, ValueError) as error:
            raise EmbedderUnavailable(f"{self.name}: unusable vectors ({error}).") from error

    def _without_vectors(self, texts: Sequence[str]) -> list[tuple[int, str]]:
        by_key = {text_key(text): text for text in texts}
        with _translated_write_errors():
            lacks = self.file.table().lacks(np.array(list(by_key), dtype=np.int64))
        return [pair for pair, is_missing in zip(by_key.items(), lacks, strict=True) if is_missing]

    def _missing(self) -> list[_PassageRef]:
        snapshot = self.index.snapshot()
        if snapshot is None:
            return []
        with translated_errors():
            passages = keyed_passages(snapshot)
            lacks = self.file.table().lacks(passages.keys)
            return [(snapshot.searcher, passages.addresses[at]) for at in np.flatnonzero(lacks)]

    def _compact(self) -> None:
        """Drop vectors without passages if they are many, and other embedders' when complete."""
        file = self.file
        with _translated_write_errors():
            table, live = file.table(), self._live_keys()
            is_used = ~table.lacks(table.keys) & np.isin(table.keys, live)
            if np.count_nonzero(~is_used) > MAX_WASTE * len(is_used):
                file.compact(np.flatnonzero(is_used))
            others = [other for other in file.path.parent.glob("*.v*") if other != file.path]
            if others and len(live) and not table.lacks(live).any():
                for other in others:
                    other.unlink()

    def _live_keys(self) -> Keys:
        with translated_errors():
            snapshot = self.index.snapshot()
            return np.empty(0, np.int64) if snapshot is None else keyed_passages(snapshot).keys


def _texts(refs: Sequence[_PassageRef]) -> list[str]:
    """The texts of passages as they are embedded."""
    with translated_errors():
        passages = [to_passage(searcher.doc(address)) for searcher, address in refs]
    return [embedded_text(passage) for passage in passages]


@dataclass(slots=True)
class VectorWriter:
    """See `IndexWriter`: stores vectors, then writes passages through *writer*.

    When the embedder fails, the passages are written all the same, and it is not asked again.
    """

    writer: IndexWriter
    vectors: VectorStore
    has_failed: bool = False

    async def replace(self, documents: Sequence[DocumentWithPassages]) -> None:
        """See `IndexWriter.replace`."""
        if not self.has_failed:
            await self._embed([p for item in documents for p in item.passages])
        await self.writer.replace(documents)

    async def remove(self, collection: str, document_ids: Sequence[str] | None = None) -> None:
        """See `IndexWriter.remove`; the vectors go with a later write."""
        await self.writer.remove(collection, document_ids)

    async def commit(self) -> None:
        """See `IndexWriter.commit`; the vectors are on the disk already."""
        await self.writer.commit()

    async def _embed(self, passages: Sequence[Passage]) -> None:
        try:
            await self.vectors.add([embedded_text(passage) for passage in passages])
        except EmbedderUnavailable as error:
            self.has_failed = True
            self.vectors.journal.note("search.embedder_failed", reason=str(error))


@contextmanager
def _translated_write_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise IndexUnavailable(f"The vectors cannot be written: {error}") from error
