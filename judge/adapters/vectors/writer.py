"""Writing vectors beside Tantivy: on the disk before the commit that shows their passages.

A process killed at any moment leaves vectors that nothing refers to, which are used when the same
texts come again and dropped by a later write; or, when the embedder failed, passages without
vectors, which `complete` makes.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import numpy as np
import tantivy

from judge.adapters.embedding.passage_text import embedded_text, text_key
from judge.adapters.tantivy.index import TantivyIndex, translated_errors
from judge.adapters.tantivy.schema import to_passage
from judge.adapters.tantivy.writer import TantivyStore
from judge.adapters.vectors.index import keyed_passages
from judge.adapters.vectors.vector_file import Keys, VectorFile
from judge.errors import EmbedderUnavailable, IndexUnavailable
from judge.ports import Embedder, IndexWriter, Journal
from judge.types.search import DocumentWithPassages, Passage

BATCH_TEXTS = 96
"""Texts that are embedded and kept at a time: one request to either service."""

_Place = tuple[tantivy.Searcher, tantivy.DocAddress]

MOST_WASTE = 0.2
"""The share of vectors without a passage at which the file is written anew."""


@dataclass(frozen=True, slots=True)
class VectorStore:
    """See `WritableIndex` and `VectorStorage`: *embedder*'s vectors, in *file*.

    *store* and *index* are the text's.
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
        """See that there is a vector of each text, asking for those that are not there.

        Raises EmbedderUnavailable, with what was had before kept, and IndexUnavailable.
        """
        missing = await asyncio.to_thread(self._without_vector, texts)
        for start in range(0, len(missing), BATCH_TEXTS):
            batch = dict(missing[start : start + BATCH_TEXTS])
            vectors = await self.embedder.embed_passages(list(batch.values()))
            await asyncio.to_thread(self._append, dict(zip(batch, vectors, strict=True)))

    @asynccontextmanager
    async def writing(self) -> AsyncIterator["VectorWriter"]:
        """See `WritableIndex.writing`."""
        async with self.store.writing() as writer:
            yield VectorWriter(writer, self)
            await asyncio.to_thread(self._tidy)

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
            with _writing():
                self.file.append(vectors)
        except (TypeError, ValueError) as error:
            raise EmbedderUnavailable(f"{self.name}: unusable vectors ({error}).") from error

    def _without_vector(self, texts: Sequence[str]) -> list[tuple[int, str]]:
        by_key = {text_key(text): text for text in texts}
        with _writing():
            lacks = self.file.table().lacks(np.array(list(by_key), dtype=np.int64))
        return [pair for pair, is_missing in zip(by_key.items(), lacks, strict=True) if is_missing]

    def _missing(self) -> list[_Place]:
        snapshot = self.index.snapshot()
        if snapshot is None:
            return []
        with translated_errors():
            passages = keyed_passages(snapshot)
            lacks = self.file.table().lacks(passages.keys)
            return [(snapshot.searcher, passages.addresses[at]) for at in np.flatnonzero(lacks)]

    def _tidy(self) -> None:
        """Drop vectors without passages if they are many, and other embedders' once all is made."""
        file = self.file
        with _writing():
            table, live = file.table(), self._live_keys()
            is_used = ~table.lacks(table.keys) & np.isin(table.keys, live)
            if np.count_nonzero(~is_used) > MOST_WASTE * len(is_used):
                file.keep(np.flatnonzero(is_used))
            others = [other for other in file.path.parent.glob("*.v*") if other != file.path]
            if others and len(live) and not table.lacks(live).any():
                for other in others:
                    other.unlink()

    def _live_keys(self) -> Keys:
        with translated_errors():
            snapshot = self.index.snapshot()
            return np.empty(0, np.int64) if snapshot is None else keyed_passages(snapshot).keys


def _texts(places: Sequence[_Place]) -> list[str]:
    """What an embedder is shown of the passages at *places*."""
    with translated_errors():
        found = [to_passage(searcher.doc(address)) for searcher, address in places]
    return [embedded_text(passage) for passage in found]


@dataclass(slots=True)
class VectorWriter:
    """See `IndexWriter`: a *writer* of the text that has the vectors on the disk first.

    When the embedder fails, the text is written all the same, and the embedder not asked again.
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
        """See `IndexWriter.commit`; every vector that was made is on the disk already."""
        await self.writer.commit()

    async def _embed(self, passages: Sequence[Passage]) -> None:
        try:
            await self.vectors.add([embedded_text(passage) for passage in passages])
        except EmbedderUnavailable as error:
            self.has_failed = True
            self.vectors.journal.note("search.embedder_failed", reason=str(error))


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise IndexUnavailable(f"The vectors cannot be written: {error}") from error
