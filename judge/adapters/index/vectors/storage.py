"""Makes the vectors of passages after these were indexed, and drops those that nothing uses."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from judge.adapters.embedders.passage_text import embedded_text
from judge.adapters.index.tantivy.index import TantivyIndex, translated_errors
from judge.adapters.index.tantivy.schema import to_passage
from judge.adapters.index.vectors.index import keyed_passages
from judge.adapters.index.vectors.vector_file import VectorFile
from judge.errors import EmbedderUnavailable, IndexUnavailable
from judge.ports import Embedder, Journal

BATCH_TEXTS = 96
"""Texts embedded and stored at a time: one request to either service."""


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """See `VectorStorage`: *embedder*'s vectors in *file*, of the passages in *index*."""

    index: TantivyIndex
    file: VectorFile
    embedder: Embedder
    journal: Journal

    @property
    def name(self) -> str:
        """See `VectorStorage.name`."""
        return self.embedder.name

    async def missing(self) -> int:
        """See `VectorStorage.missing`."""
        return len(await asyncio.to_thread(self._missing))

    async def complete(
        self, advance: Callable[[int], None], should_stop: Callable[[], bool]
    ) -> None:
        """See `VectorStorage.complete`; a failure is noted in the journal as well."""
        missing = await asyncio.to_thread(self._missing)
        for start in range(0, len(missing), BATCH_TEXTS):
            if should_stop():
                return
            batch = missing[start : start + BATCH_TEXTS]
            try:
                vectors = await self.embedder.embed_passages([text for _, text in batch])
                keys = [key for key, _ in batch]
                await asyncio.to_thread(self._add, dict(zip(keys, vectors, strict=True)))
            except EmbedderUnavailable as error:
                self.journal.note("search.embedder_failed", reason=str(error))
                raise
            advance(len(batch))
        await asyncio.to_thread(self._drop_unused)

    def _missing(self) -> list[tuple[int, str]]:
        """The key and the text of each passage without a vector."""
        snapshot = self.index.snapshot()
        if snapshot is None:
            return []
        with translated_errors(), _translated_errors_of_file():
            addresses, keys = keyed_passages(snapshot)
            lacking = np.flatnonzero(self.file.table().lacks(keys))
            passages = [to_passage(snapshot.searcher.doc(addresses[at])) for at in lacking]
        return [
            (int(keys[at]), embedded_text(passage))
            for at, passage in zip(lacking, passages, strict=True)
        ]

    def _add(self, vectors: dict[int, list[float]]) -> None:
        try:
            with _translated_errors_of_file():
                self.file.add(vectors)
        except (TypeError, ValueError) as error:
            raise EmbedderUnavailable(f"{self.name}: unusable vectors ({error}).") from error

    def _drop_unused(self) -> None:
        """Drop vectors without a passage, and those of other embedders."""
        snapshot = self.index.snapshot()
        if snapshot is None:
            return
        with translated_errors(), _translated_errors_of_file():
            self.file.keep_only(keyed_passages(snapshot)[1])
            for other in self.file.path.parent.glob("*.v*"):
                if other != self.file.path:
                    other.unlink()


@contextmanager
def _translated_errors_of_file() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise IndexUnavailable(
            f"The vectors cannot be kept: {error}. If the file is damaged, delete it: "
            "`judge index add` makes it again."
        ) from error
