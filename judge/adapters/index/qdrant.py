"""The index for several machines: one Qdrant collection, searched by words and by meaning.

Words are our own BM25 sparse vectors; meaning, with an embedder, is dense vectors. Both are
searched under the same filter and fused by reciprocal rank fusion. All that filters is
lower-case payload of its own, so that the server's indexes and the client's local mode agree;
`passage` is the stored passage.

It is written in an order that makes an interruption at any moment harmless: a document's first
passage holds its metadata and comes last, after the old passages were deleted, so that a document
half written is indexed again.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID, uuid5

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse
from qdrant_client.models import (
    FieldCondition,
    Filter,
    FilterSelector,
    MatchAny,
    MatchPhrase,
    MatchValue,
    PointStruct,
)

from judge.adapters.index.stored import (
    PASSAGE,
    RECORD,
    UNUSED_VECTORS,
    WORDS_ONLY,
    embedded_text,
    searched_text,
)
from judge.errors import ConfigurationError, EmbedderUnavailable, IndexUnavailable
from judge.ports import Embedder, NameKind
from judge.text.ranking import (
    PROOF,
    idf,
    passage_vector,
    proof_counts,
    query_term_weight,
    term_id,
    terms_of,
)
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

CANDIDATES = 100
"""At least so many hits of each kind are fused by rank."""

MAX_NAMES = 10_000
"""How many collections, folders, tags or documents are listed, the most used first."""

PAGE = 1_000
"""Documents read in one request."""

TEXT_VECTOR = "text"
"""The BM25 weights of a passage's terms, but for their IDF, which comes with the query."""

_NAMESPACE = UUID("9d2b1f5e-54a4-4a0e-8d0e-6b7f3a2c9e11")

KEYWORDS = tuple("key collection document folder folders tag terms first spelling".split())
"""Payload fields that are matched exactly."""

Condition = models.Condition

_FIELD_OF = {"document": "document", "folder": "folders", "tag": "tag"}


@dataclass(slots=True)
class QdrantIndex:
    """See `SearchIndex` and `Catalogue`; *address* names the server in messages."""

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
        with translated_errors(self.address):
            if not await self._exists():
                return SearchResults()
            vector, warnings = await self._query_vector(query)
            scope_filter = _narrowed(
                filter_of(scope),
                [_has_terms(terms_of(phrase)) for phrase in query.phrases],
                [_has_terms(terms_of(word)) for word in query.excluded],
            )
            candidates = max(limit + offset, CANDIDATES)
            prefetches, total = await self._by_words(query, scope_filter, candidates)
            if vector and self.embedder:
                prefetches.append(
                    models.Prefetch(
                        query=vector,
                        using=self.embedder.name,
                        filter=scope_filter,
                        score_threshold=self.embedder.min_similarity,
                        limit=candidates,
                    )
                )
            hits = await self._fused(prefetches, limit, offset)
        return SearchResults(hits, max(total, offset + len(hits) if hits else 0), warnings)

    async def around(
        self, passage_id: str, *, before: int = 0, after: int = 0
    ) -> tuple[Passage, ...]:
        """See `Catalogue.around`."""
        document, _, position = fold_name(passage_id).rpartition(":")
        if not position.isdecimal():
            return ()
        first, last = max(0, int(position) - before), int(position) + after
        ids = [point_id(f"{document}:{number}") for number in range(first, last + 1)]
        with translated_errors(self.address):
            if not await self._exists():
                return ()
            records = await self.client.retrieve(COLLECTION, ids, with_payload=True)
        passages = sorted((to_passage(p.payload) for p in records), key=lambda p: p.position)
        is_there = any(fold_name(passage.id) == fold_name(passage_id) for passage in passages)
        return tuple(passages) if is_there else ()

    async def ping(self) -> None:
        """See `Catalogue.ping`."""
        with translated_errors(self.address):
            await self.client.collection_exists(COLLECTION)

    async def collections(self) -> tuple[CollectionStats, ...]:
        """See `Catalogue.collections`."""
        with translated_errors(self.address):
            if not await self._exists():
                return ()
            passages = await self._facet("spelling")
            documents = await self._facet("spelling", Filter(must=[_equals("first", "1")]))
        stats: dict[str, CollectionStats] = {}
        for spelling in sorted(passages, reverse=True):
            before = stats.get(fold_name(spelling), CollectionStats(spelling, 0, 0))
            stats[fold_name(spelling)] = CollectionStats(
                before.name,
                before.documents + documents.get(spelling, 0),
                before.passages + passages[spelling],
            )
        return tuple(stats[name] for name in sorted(stats))

    async def documents(self, collection: str) -> tuple[IndexedDocument, ...]:
        """See `Catalogue.documents`."""
        firsts = Filter(must=[_equals("collection", fold_name(collection)), _equals("first", "1")])
        records: list[IndexedDocument] = []
        page: Any = None
        with translated_errors(self.address):
            if not await self._exists():
                return ()
            while True:
                batch, page = await self.client.scroll(
                    COLLECTION, firsts, limit=PAGE, offset=page, with_payload=["record"]
                )
                records += [to_record(point.payload) for point in batch]
                if page is None:
                    break
        return tuple(sorted(records, key=lambda record: record.path))

    async def names(self, kind: NameKind, scope: Scope = EVERYWHERE) -> tuple[str, ...]:
        """See `Catalogue.names`; the most used MAX_NAMES."""
        with translated_errors(self.address):
            if not await self._exists():
                return ()
            counts = await self._facet(_FIELD_OF[kind], filter_of(scope))
        return tuple(sorted(counts))

    async def contains(self, scope: Scope) -> bool:
        """See `Catalogue.contains`."""
        with translated_errors(self.address):
            return await self._exists() and bool(await self._count(filter_of(scope)))

    async def _exists(self) -> bool:
        """Whether anything was ever indexed; cached once true."""
        if not self._vectors and await self.client.collection_exists(COLLECTION):
            self._vectors = await vector_names(self.client)
        return bool(self._vectors)

    async def _query_vector(self, query: SearchQuery) -> tuple[list[float] | None, tuple[str, ...]]:
        """The query's vector, or None and the warning that only the words are searched."""
        if self.embedder is None:
            others = sorted(self._vectors - {TEXT_VECTOR})
            reasons = [UNUSED_VECTORS.format(name=name) for name in others]
            return None, tuple(WORDS_ONLY.format(reason=reason) for reason in reasons)
        if self.embedder.name not in self._vectors:
            reason = f"the documents were indexed without vectors of {self.embedder.name}."
            return None, (WORDS_ONLY.format(reason=reason),)
        try:
            return await self.embedder.embed_query(query.text), ()
        except EmbedderUnavailable as error:
            return None, (WORDS_ONLY.format(reason=error),)

    async def _by_words(
        self, query: SearchQuery, scope_filter: Filter, candidates: int
    ) -> tuple[list[models.Prefetch], int]:
        """What ranks the relevant passages by words, and how many these are."""
        counts = Counter(terms_of(" ".join(query.words + query.phrases)))
        idf_filter = filter_of(query.idf_scope)
        total, *found = await asyncio.gather(
            self._count(idf_filter),
            *(self._count(_narrowed(idf_filter, [_equals("terms", term)])) for term in counts),
        )
        frequencies = dict(zip(counts, found, strict=True))
        relevant = scope_filter
        if not query.phrases:
            proof = proof_counts(frequencies, total)
            if not proof or not await self._count(_narrowed(scope_filter, [_proves(proof)])):
                return [], 0
            relevant = _narrowed(scope_filter, [_has_any_term(list(proof))])
        weights = {
            term_id(term): query_term_weight(count) * idf(frequencies[term], max(total, 1))
            for term, count in counts.items()
        }
        ranking = models.Prefetch(
            query=sparse(weights), using=TEXT_VECTOR, filter=relevant, limit=candidates
        )
        return [ranking], await self._count(relevant)

    async def _fused(
        self, prefetches: list[models.Prefetch], limit: int, offset: int
    ) -> tuple[Hit, ...]:
        if not prefetches:
            return ()
        fused = models.FusionQuery(fusion=models.Fusion.RRF)
        response = await self.client.query_points(
            COLLECTION, query=fused, prefetch=prefetches, limit=limit, offset=offset
        )
        return tuple(Hit(to_passage(p.payload), p.score) for p in response.points)

    async def _count(self, matching: Filter) -> int:
        return (await self.client.count(COLLECTION, matching)).count

    async def _facet(self, name: str, matching: Filter | None = None) -> dict[str, int]:
        facet = await self.client.facet(
            COLLECTION, name, facet_filter=matching, limit=MAX_NAMES, exact=True
        )
        return {str(hit.value): hit.count for hit in facet.hits}


async def vector_names(client: AsyncQdrantClient) -> frozenset[str]:
    """The names of the vectors in our collection."""
    params = (await client.get_collection(COLLECTION)).config.params
    dense = params.vectors if isinstance(params.vectors, dict) else {}
    return frozenset((*dense, *(params.sparse_vectors or {})))


def sparse(weights: dict[int, float]) -> models.SparseVector:
    """*weights* by `term_id` as Qdrant's type."""
    return models.SparseVector(indices=list(weights), values=list(weights.values()))


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


def _narrowed(base: Filter, must: list[Condition], must_not: Sequence[Condition] = ()) -> Filter:
    conditions: tuple[Any, Any] = base.must or (), base.must_not or ()
    return Filter(must=[*conditions[0], *must], must_not=[*conditions[1], *must_not])


def point_id(passage_id: str) -> str:
    """The point id of a passage, a UUID, since Qdrant takes only those and numbers."""
    return str(uuid5(_NAMESPACE, fold_name(passage_id)))


def payload_of(
    passage: Passage, record: IndexedDocument | None, terms: list[str]
) -> dict[str, Any]:
    """The payload of *passage*; only a document's first passage gets the *record*."""
    values: dict[str, Any] = {
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
        values["modified"] = passage.modified.isoformat()
    if record:
        values |= {"first": "1", "record": RECORD.dump_python(record, mode="json")}
    return values


def to_passage(values: dict[str, Any] | None) -> Passage:
    """The passage as it was indexed."""
    return PASSAGE.validate_python((values or {})["passage"])


def to_record(values: dict[str, Any] | None) -> IndexedDocument:
    """The metadata of the document whose first passage this is."""
    return RECORD.validate_python((values or {})["record"])


def _equals(name: str, value: str) -> FieldCondition:
    """Matches payload *name* that equals, or contains, *value*."""
    return FieldCondition(key=name, match=MatchValue(value=value))


def _has_terms(terms: Sequence[str]) -> Condition:
    """Matches passages with the word or the phrase of *terms*."""
    if len(terms) == 1:
        return _equals("terms", terms[0])
    return FieldCondition(key="stems", match=MatchPhrase(phrase=" ".join(terms)))


def _has_any_term(terms: Sequence[str]) -> FieldCondition:
    """Matches passages with at least one of *terms*."""
    return FieldCondition(key="terms", match=MatchAny(any=list(terms)))


def _proves(proof: Mapping[str, int]) -> Filter:
    """Matches passages with a telling term or two others of *proof*; see `proof_counts`."""
    telling = [term for term, count in proof.items() if count == PROOF]
    conditions: list[Condition] = [_equals("terms", term) for term in proof]
    two = models.MinShould(conditions=conditions, min_count=PROOF)
    return Filter(should=[_has_any_term(telling), Filter(min_should=two)])


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
        return FieldCondition(key=clause.kind, match=MatchAny(any=values))
    if not clause.is_recursive:
        rooted = [f"/{value}" for value in values]
        return FieldCondition(key="folder", match=MatchAny(any=rooted))
    # Every passage is in or below the root.
    below = FieldCondition(key="folders", match=MatchAny(any=values))
    return Filter() if "" in values else below


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
