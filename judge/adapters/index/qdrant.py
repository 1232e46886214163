"""The index for several machines: one Qdrant collection, searched by words and by meaning.

Words are our own BM25 sparse vectors; meaning, with an embedder, is dense vectors. Both are
searched under the same filter and fused by reciprocal rank fusion. All that filters is
lower-case payload of its own, so that the server's indexes and the client's local mode agree;
`passage` is the stored passage.

It is written in an order that makes an interruption at any moment harmless: a document's first
passage holds its metadata and comes last, after the old passages were deleted, so that a document
half written is indexed again.
"""
# ruff: noqa: D102 - judge/ports.py says what each method does

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Self, TypeVar
from uuid import UUID, uuid5

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse
from qdrant_client.models import Condition, FieldCondition, Filter, MatchAny, MatchPhrase

from judge.adapters.index.stored import (
    AVERAGE_TERMS,
    PASSAGE,
    RECORD,
    TOP_HITS,
    embedded_text,
    neighbours,
    passage_terms,
    query_terms,
    query_vector,
    query_weights,
    window,
)
from judge.errors import ConfigurationError, IndexUnavailable
from judge.ports import Embedder, NameKind
from judge.text.index_tokens import PROOF, passage_vector, proof_counts, terms_of
from judge.types.search import (
    EVERYWHERE,
    AnyOf,
    Clause,
    CollectionStats,
    DocumentWithPassages,
    Hit,
    IndexedDocument,
    Passage,
    Scope,
    SearchQuery,
    SearchResults,
    ancestors,
    document_key,
    fold_name,
)

COLLECTION = "judge"
"""The one Qdrant collection; Judge's own collections are payload in it."""

MAX_NAMES = 10_000
"""How many collections, folders, tags or documents are listed, the most used first."""

PAGE = 1_000
"""Documents read in one request."""

BATCH = 256
"""Points sent at a time: about half a megabyte, two megabytes with vectors."""

TEXT_VECTOR = "text"
"""The BM25 weights of a passage's terms, but for their IDF, which comes with the query."""

_NAMESPACE = UUID("9d2b1f5e-54a4-4a0e-8d0e-6b7f3a2c9e11")
_FIELD_OF = {"document": "document", "folder": "folders", "tag": "tag"}
T = TypeVar("T")


@dataclass(slots=True)
class QdrantIndex:
    """All ports of an index; *address* names the server in messages.

    Qdrant allows concurrent writers, so there is no lock. Changes by `replace` and `remove` are
    visible at once, without `commit`.
    """

    client: AsyncQdrantClient
    address: str
    embedder: Embedder | None = None
    _vectors: frozenset[str] = frozenset()

    async def search(
        self, query: SearchQuery, scope: Scope, *, limit: int, offset: int = 0
    ) -> SearchResults:
        """See `SearchIndex.search`; `total` counts the hits of the words, not those of meaning."""
        if query.is_empty:
            return SearchResults()
        return await self._ask(lambda: self._search(query, scope, limit, offset), SearchResults())

    async def window(
        self, passage_id: str, *, before: int = 0, after: int = 0
    ) -> tuple[Passage, ...]:
        ids = [point_id(name) for name in neighbours(passage_id, before, after)]
        nothing: list[models.Record] = []
        records = await self._ask(lambda: self.client.retrieve(COLLECTION, ids), nothing)
        return window(passage_id, [_passage(record.payload) for record in records])

    async def collections(self) -> tuple[CollectionStats, ...]:
        passages = await self._facet("spelling")
        documents = await self._facet("spelling", _has("first", "1"))
        names = groupby(sorted(passages, key=fold_name), key=fold_name)
        return tuple(
            CollectionStats(
                max(spellings),
                sum(documents[spelling] for spelling in spellings),
                sum(passages[spelling] for spelling in spellings),
            )
            for spellings in [list(group) for _, group in names]
        )

    async def documents(self, collection: str) -> tuple[IndexedDocument, ...]:
        firsts = Filter(must=[_has("collection", fold_name(collection)), _has("first", "1")])

        async def read() -> tuple[IndexedDocument, ...]:
            records: list[IndexedDocument] = []
            page: Any = None
            while True:
                batch, page = await self.client.scroll(
                    COLLECTION, firsts, limit=PAGE, offset=page, with_payload=["record"]
                )
                records += [RECORD.validate_python((p.payload or {})["record"]) for p in batch]
                if page is None:
                    return tuple(sorted(records, key=lambda record: record.path))

        return await self._ask(read, ())

    async def names(self, kind: NameKind, scope: Scope = EVERYWHERE) -> tuple[str, ...]:
        """See `Catalogue.names`; the most used MAX_NAMES."""
        return tuple(sorted(await self._facet(_FIELD_OF[kind], filter_of(scope))))

    async def contains(self, scope: Scope) -> bool:
        return bool(await self._ask(lambda: self._count(filter_of(scope)), 0))

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[Self]:
        yield self

    async def replace(self, documents: Sequence[DocumentWithPassages]) -> None:
        """See `IndexWriter.replace`; raises EmbedderUnavailable and ConfigurationError too."""
        passages = [passage for item in documents for passage in item.passages]
        if not passages:
            return
        vectors: Sequence[list[float]] = [[]] * len(passages)
        if self.embedder:
            vectors = await self.embedder.embed_passages([embedded_text(p) for p in passages])
        firsts = {item.passages[0].id: item.document for item in documents if item.passages}
        points = [
            self._point(passage, firsts.get(passage.id), vector)
            for passage, vector in zip(passages, vectors, strict=True)
        ]
        points.sort(key=lambda point: "record" in (point.payload or {}))
        with translated_errors(self.address):
            await self._prepare(len(vectors[0]))
            keys = [document_key(item.document.collection, item.document.id) for item in documents]
            await self._delete(_has("key", *keys))
            for start in range(0, len(points), BATCH):
                await self.client.upsert(COLLECTION, points[start : start + BATCH], wait=True)

    async def remove(self, collection: str, document_ids: Sequence[str] | None = None) -> None:
        matching = _has("collection", fold_name(collection))
        if document_ids is not None:
            matching = _has("key", *(document_key(collection, each) for each in document_ids))
        await self._ask(lambda: self._delete(matching), None)

    async def commit(self) -> None:
        """See `IndexWriter.commit`; nothing to do, since each change was waited for."""

    async def _ask(self, call: Callable[[], Awaitable[T]], nothing: T) -> T:
        """What *call* returns, or *nothing* as long as nothing was ever indexed."""
        with translated_errors(self.address):
            if not self._vectors and await self.client.collection_exists(COLLECTION):
                self._vectors = await self._vector_names()
            return await call() if self._vectors else nothing

    async def _search(
        self, query: SearchQuery, scope: Scope, limit: int, offset: int
    ) -> SearchResults:
        vector, warnings = await query_vector(self.embedder, query, self._vectors - {TEXT_VECTOR})
        allowed = Filter(
            must=[filter_of(scope), *(_has_words(phrase) for phrase in query.phrases)],
            must_not=[_has_words(words) for words in query.excluded],
        )
        candidates = max(limit + offset, TOP_HITS)
        prefetches, total = await self._by_words(query, allowed, candidates)
        if vector and self.embedder:
            prefetches.append(
                models.Prefetch(
                    query=vector,
                    using=self.embedder.name,
                    filter=allowed,
                    score_threshold=self.embedder.min_similarity,
                    limit=candidates,
                )
            )
        if not prefetches:
            return SearchResults(warnings=warnings)
        rank = models.FusionQuery(fusion=models.Fusion.RRF)
        found = await self.client.query_points(
            COLLECTION, query=rank, prefetch=prefetches, limit=limit, offset=offset
        )
        hits = tuple(Hit(_passage(point.payload), point.score) for point in found.points)
        return SearchResults(hits, max(total, offset + len(hits) if hits else 0), warnings)

    async def _by_words(
        self, query: SearchQuery, allowed: Filter, candidates: int
    ) -> tuple[list[models.Prefetch], int]:
        """What ranks the relevant passages by words, and how many these are."""
        terms, idf_filter = query_terms(query), filter_of(query.idf_scope)
        total, *found = await asyncio.gather(
            self._count(idf_filter),
            *(self._count(Filter(must=[idf_filter, _has("terms", term)])) for term in terms),
        )
        frequencies = dict(zip(terms, found, strict=True))
        relevant = allowed
        if not query.phrases:
            proof = proof_counts(frequencies, total)
            if not proof or not await self._count(Filter(must=[allowed, _proves(proof)])):
                return [], 0
            relevant = Filter(must=[allowed, _has("terms", *proof)])
        ranking = models.Prefetch(
            query=_sparse(query_weights(terms, frequencies, total)),
            using=TEXT_VECTOR,
            filter=relevant,
            limit=candidates,
        )
        return [ranking], await self._count(relevant)

    async def _count(self, matching: Filter) -> int:
        return (await self.client.count(COLLECTION, matching)).count

    async def _facet(self, name: str, matching: Condition | None = None) -> Counter[str]:
        """How many passages that fulfil *matching* have each value of the payload *name*."""
        narrowed = Filter(must=[matching] if matching else [])
        facet = await self._ask(
            lambda: self.client.facet(
                COLLECTION, name, facet_filter=narrowed, limit=MAX_NAMES, exact=True
            ),
            models.FacetResponse(hits=[]),
        )
        return Counter({str(hit.value): hit.count for hit in facet.hits})

    async def _vector_names(self) -> frozenset[str]:
        params = (await self.client.get_collection(COLLECTION)).config.params
        dense = params.vectors if isinstance(params.vectors, dict) else {}
        return frozenset((*dense, *(params.sparse_vectors or {})))

    async def _delete(self, matching: Condition) -> None:
        where = models.FilterSelector(filter=Filter(must=[matching]))
        await self.client.delete(COLLECTION, where, wait=True)

    async def _prepare(self, dimensions: int) -> None:
        """Create the collection if missing; raises ConfigurationError if its vectors differ."""
        if await self.client.collection_exists(COLLECTION):
            names = await self._vector_names()
            expected = {TEXT_VECTOR, *([self.embedder.name] if self.embedder else [])}
            if names != expected:
                raise ConfigurationError(
                    f"The Qdrant collection {COLLECTION!r} holds the vectors "
                    f"{', '.join(sorted(names))}; JUDGE_EMBEDDER asks for "
                    f"{', '.join(sorted(expected))}. Set it back, or delete the collection and run "
                    "`judge index add` on your documents again."
                )
            return
        dense = models.VectorParams(size=max(1, dimensions), distance=models.Distance.COSINE)
        await self.client.create_collection(
            COLLECTION,
            vectors_config={self.embedder.name: dense} if self.embedder else {},
            sparse_vectors_config={TEXT_VECTOR: models.SparseVectorParams()},
        )
        exact = "key collection document folder folders tag terms first spelling".split()
        indexes: dict[str, Any] = dict.fromkeys(exact, models.PayloadSchemaType.KEYWORD)
        indexes["modified"] = models.PayloadSchemaType.DATETIME
        indexes["stems"] = models.TextIndexParams(
            type=models.TextIndexType.TEXT,
            tokenizer=models.TokenizerType.WORD,
            phrase_matching=True,
        )
        for name, kind in indexes.items():
            await self.client.create_payload_index(COLLECTION, name, kind, wait=True)

    def _point(
        self, passage: Passage, record: IndexedDocument | None, vector: list[float]
    ) -> models.PointStruct:
        """The point of *passage*; only a document's first one gets the *record*."""
        terms = passage_terms(passage)
        vectors: dict[str, Any] = {TEXT_VECTOR: _sparse(passage_vector(terms, AVERAGE_TERMS))}
        if self.embedder:
            vectors[self.embedder.name] = vector
        payload: dict[str, Any] = {
            "key": document_key(passage.collection, passage.document_id),
            "collection": fold_name(passage.collection),
            "spelling": passage.collection,
            "document": fold_name(passage.document_id),
            "folder": f"/{fold_name(passage.folder)}",
            "folders": ancestors(passage.folder),
            "tag": [fold_name(tag) for tag in passage.tags],
            "terms": sorted(set(terms)),
            "stems": " ".join(terms),
            "passage": PASSAGE.dump_python(passage, mode="json"),
        }
        if passage.modified:
            payload["modified"] = passage.modified.isoformat()
        if record:
            payload |= {"first": "1", "record": RECORD.dump_python(record, mode="json")}
        return models.PointStruct(id=point_id(passage.id), vector=vectors, payload=payload)


@contextmanager
def translated_errors(address: str) -> Iterator[None]:
    """Turn the client's errors into IndexUnavailable, which names the server."""
    try:
        yield
    except UnexpectedResponse as error:
        told = f"Qdrant at {address} answered with status {error.status_code}."
        raise IndexUnavailable(told) from error
    except (ApiException, QdrantException) as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise IndexUnavailable(f"Cannot connect to Qdrant at {address}: {reason[0]}") from error


def point_id(passage_id: str) -> str:
    """The point id of a passage, a UUID, since Qdrant takes only those and numbers."""
    return str(uuid5(_NAMESPACE, fold_name(passage_id)))


def _passage(payload: dict[str, Any] | None) -> Passage:
    return PASSAGE.validate_python((payload or {})["passage"])


def _sparse(weights: dict[int, float]) -> models.SparseVector:
    return models.SparseVector(indices=list(weights), values=list(weights.values()))


def _has(name: str, *values: str) -> FieldCondition:
    """Matches payload *name* that is, or contains, one of *values*."""
    return FieldCondition(key=name, match=MatchAny(any=list(values)))


def _has_words(words: str) -> FieldCondition:
    """Matches passages with the word or the phrase of *words*."""
    terms = terms_of(words)
    if len(terms) == 1:
        return _has("terms", *terms)
    return FieldCondition(key="stems", match=MatchPhrase(phrase=" ".join(terms)))


def _proves(proof: Mapping[str, int]) -> Filter:
    """Matches passages with a telling term or two others of *proof*; see `proof_counts`."""
    telling = [term for term, count in proof.items() if count == PROOF]
    conditions: list[Condition] = [_has("terms", term) for term in proof]
    two = models.MinShould(conditions=conditions, min_count=PROOF)
    return Filter(should=[_has("terms", *telling), Filter(min_should=two)])


def filter_of(scope: Scope) -> Filter:
    """Matches the passages in *scope*."""
    return Filter(
        must=[_clause(clause) for clause in scope.clauses if not clause.is_excluded],
        must_not=[_clause(clause) for clause in scope.clauses if clause.is_excluded],
    )


def _clause(clause: Clause | AnyOf) -> Condition:
    """Matches the passages that fulfil *clause*, whether or not it is excluded."""
    if isinstance(clause, AnyOf):
        return Filter(should=[filter_of(scope) for scope in clause.scopes])
    if clause.kind == "modified":
        between = models.DatetimeRange(gte=clause.after, lt=clause.before)
        return FieldCondition(key="modified", range=between)
    values = [fold_name(value) for value in clause.values]
    if clause.kind != "folder":
        return _has(clause.kind, *values)
    if not clause.is_recursive:
        return _has("folder", *(f"/{value}" for value in values))
    # Every passage is in or below the root.
    return Filter() if "" in values else _has("folders", *values)
