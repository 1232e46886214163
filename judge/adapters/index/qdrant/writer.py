"""Writes to Qdrant in an order that makes an interruption at any moment harmless.

A document's first passage holds the document's metadata and is written last, after the old passages
were deleted, so that a document half written is indexed again.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.models import Filter, FilterSelector, MatchAny, PointStruct

from judge.adapters.index.qdrant.index import (
    COLLECTION,
    KEYWORDS,
    TEXT_VECTOR,
    payload_of,
    point_id,
    sparse,
    translated_errors,
    vector_names,
)
from judge.adapters.index.stored import embedded_text, searched_text
from judge.errors import ConfigurationError
from judge.ports import Embedder
from judge.text.ranking import passage_vector, terms_of
from judge.types.search import DocumentWithPassages, document_key, fold_name

BATCH = 256
"""Points sent at a time: about half a megabyte, two megabytes with vectors."""

AVERAGE_TERMS = 200
"""Of a passage: about what the splitter makes."""


@dataclass(frozen=True, slots=True)
class QdrantWriter:
    """See `WritableIndex` and `IndexWriter`. Qdrant allows concurrent writers, so there is no lock.

    Changes by `replace` and `remove` are visible at once, without `commit`.
    """

    client: AsyncQdrantClient
    address: str
    embedder: Embedder | None = None

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Self]:
        """See `WritableIndex.writing`."""
        yield self

    async def replace(self, documents: Sequence[DocumentWithPassages]) -> None:
        """See `IndexWriter.replace`; raises EmbedderUnavailable and ConfigurationError too."""
        passages = [passage for item in documents for passage in item.passages]
        if not passages:
            return
        vectors: list[list[float]] = []
        if self.embedder:
            vectors = await self.embedder.embed_passages([embedded_text(p) for p in passages])
        with translated_errors(self.address):
            await self._prepare(len(vectors[0]) if vectors else 0)
            keys = [document_key(item.document.collection, item.document.id) for item in documents]
            await self._delete("key", keys)
            structs = self._points(documents, vectors)
            structs.sort(key=lambda point: "record" in (point.payload or {}))
            for start in range(0, len(structs), BATCH):
                await self.client.upsert(COLLECTION, structs[start : start + BATCH], wait=True)

    async def remove(self, collection: str, document_ids: Sequence[str] | None = None) -> None:
        """See `IndexWriter.remove`."""
        with translated_errors(self.address):
            if not await self.client.collection_exists(COLLECTION):
                return
            if document_ids is None:
                await self._delete("collection", [fold_name(collection)])
            else:
                keys = [document_key(collection, document_id) for document_id in document_ids]
                await self._delete("key", keys)

    async def commit(self) -> None:
        """See `IndexWriter.commit`; nothing to do, since each change was waited for."""

    async def _delete(self, name: str, values: list[str]) -> None:
        """Delete the points whose payload *name* is one of *values*."""
        where = Filter(must=[models.FieldCondition(key=name, match=MatchAny(any=values))])
        await self.client.delete(COLLECTION, FilterSelector(filter=where), wait=True)

    async def _prepare(self, dimensions: int) -> None:
        """Create the collection if missing; raises ConfigurationError if its vectors differ."""
        if await self.client.collection_exists(COLLECTION):
            names = await vector_names(self.client)
            expected = {TEXT_VECTOR, *([self.embedder.name] if self.embedder else [])}
            if names != expected:
                raise ConfigurationError(
                    f"The Qdrant collection {COLLECTION!r} holds the vectors "
                    f"{', '.join(sorted(names))}; JUDGE_EMBEDDER asks for "
                    f"{', '.join(sorted(expected))}. Set it back, or delete the collection and run "
                    "`judge index add` on your documents again."
                )
            return
        dense = {}
        if self.embedder:
            dense[self.embedder.name] = models.VectorParams(
                size=dimensions, distance=models.Distance.COSINE
            )
        words = {TEXT_VECTOR: models.SparseVectorParams()}
        await self.client.create_collection(
            COLLECTION, vectors_config=dense, sparse_vectors_config=words
        )
        indexes: dict[str, Any] = dict.fromkeys(KEYWORDS, models.PayloadSchemaType.KEYWORD)
        indexes["modified"] = models.PayloadSchemaType.DATETIME
        indexes["stems"] = models.TextIndexParams(
            type=models.TextIndexType.TEXT,
            tokenizer=models.TokenizerType.WORD,
            phrase_matching=True,
        )
        for name, kind in indexes.items():
            await self.client.create_payload_index(COLLECTION, name, kind, wait=True)

    def _points(
        self, documents: Sequence[DocumentWithPassages], vectors: list[list[float]]
    ) -> list[PointStruct]:
        pairs = [
            (passage, None if number else item.document)
            for item in documents
            for number, passage in enumerate(item.passages)
        ]
        structs: list[PointStruct] = []
        for position, (passage, record) in enumerate(pairs):
            terms = terms_of(searched_text(passage))
            vector: dict[str, Any] = {TEXT_VECTOR: sparse(passage_vector(terms, AVERAGE_TERMS))}
            if vectors and self.embedder:
                vector[self.embedder.name] = vectors[position]
            payload = payload_of(passage, record, terms)
            structs.append(PointStruct(id=point_id(passage.id), vector=vector, payload=payload))
        return structs
