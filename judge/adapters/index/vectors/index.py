"""Hybrid search in the embedded index: words by Tantivy, meaning by an exact scan of vectors.

Tantivy knows which passages exist, which are in scope, and the key of each one's text; the vector
file maps keys to vectors, which are made after the passages were committed. So a passage that was
removed or is out of scope is never found by its old vector.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import tantivy
from tantivy import Query

from judge.adapters.embedders.passage_text import embedded_text
from judge.adapters.embedders.query_cache import WORDS_ONLY
from judge.adapters.index.tantivy.index import (
    Snapshot,
    TantivyIndex,
    builder_of,
    passages_with_ids,
    run_plan,
    translated_errors,
)
from judge.adapters.index.tantivy.queries import count_of
from judge.adapters.index.tantivy.schema import to_passage
from judge.adapters.index.vectors.vector_file import Keys, VectorFile
from judge.errors import EmbedderUnavailable, IndexUnavailable
from judge.ports import Embedder, Journal
from judge.types.search import Hit, Passage, Scope, SearchQuery, SearchResults

TOP_HITS = 100
"""How many hits of each ranking are fused by rank; further hits of the words come after them."""

RANK_CONSTANT = 2
"""Of reciprocal rank fusion: the first of a ranking counts 1/2, the next 1/3. Qdrant's default, so
that both engines rank alike, and not 60 as in Cormack, Clarke and Büttcher, SIGIR 2009."""


BATCH_TEXTS = 96
"""Texts embedded and stored at a time: one request to either service."""


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """See `SearchIndex` and `VectorStorage`: words by *text*, meaning by the vectors in *file*.

    `total` counts the hits of the words, and of other passages the nearest, up to TOP_HITS.
    """

    text: TantivyIndex
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

    async def complete(self, advance: Callable[[int], None]) -> None:
        """See `VectorStorage.complete`; a failure is noted in the journal as well."""
        missing = await asyncio.to_thread(self._missing)
        for start in range(0, len(missing), BATCH_TEXTS):
            keys, texts = zip(*missing[start : start + BATCH_TEXTS], strict=True)
            try:
                vectors = await self.embedder.embed_passages(texts)
                await asyncio.to_thread(self._store, dict(zip(keys, vectors, strict=True)))
            except EmbedderUnavailable as error:
                self.journal.note("search.embedder_failed", reason=str(error))
                raise
            advance(len(texts))
        await asyncio.to_thread(self._drop_unused)

    async def search(
        self, query: SearchQuery, scope: Scope, *, limit: int, offset: int = 0
    ) -> SearchResults:
        """See `SearchIndex.search`."""
        snapshot = self.text.snapshot()
        if query.is_empty or snapshot is None:
            return SearchResults()
        vector, warnings = await self._vector(query)
        if vector is None:
            results = await self.text.search(query, scope, limit=limit, offset=offset)
            return replace(results, warnings=warnings)
        page = slice(offset, offset + limit)
        return await asyncio.to_thread(self._search, snapshot, query, scope, vector, page)

    async def _vector(self, query: SearchQuery) -> tuple[list[float] | None, tuple[str, ...]]:
        """The query's vector, or None and the warning that only the words are searched."""
        try:
            if (await asyncio.to_thread(self.file.table)).keys.size:
                return await self.embedder.embed_query(query.text), ()
            reason = f"there are no vectors of {self.embedder.name}. `judge index add` makes them."
        except EmbedderUnavailable as error:
            reason = str(error)
        except OSError as error:
            reason = f"the vectors cannot be read ({error.strerror})."
        return None, (WORDS_ONLY.format(reason=reason),)

    def _search(
        self,
        snapshot: Snapshot,
        query: SearchQuery,
        scope: Scope,
        vector: list[float],
        page: slice,
    ) -> SearchResults:
        with translated_errors():
            builder = builder_of(snapshot, query)
            plan = builder.build(query, scope)
            addresses = self._nearest(snapshot, builder.scope_filter(query, scope), vector)
            near = [to_passage(snapshot.searcher.doc(address)) for address in addresses]
            # Up to TOP_HITS of the later hits may be near, and so stand higher up.
            text = run_plan(snapshot, plan, page.stop + TOP_HITS)
            total = len(near)
            if text.total:
                only_words = plan.query.and_must_not_match(passages_with_ids(snapshot, near))
                total += count_of(snapshot.searcher.search(only_words, limit=1))
        return SearchResults(_fused(text.hits, near)[page], total)

    def _nearest(
        self, snapshot: Snapshot, matching: Query, vector: list[float]
    ) -> list[tantivy.DocAddress]:
        """The addresses of the *matching* passages that are near enough, nearest first.

        At most TOP_HITS.
        """
        addresses, keys = _keyed_passages(snapshot, matching)
        similarities = self.file.table().similarities(vector, keys)
        best = np.argsort(-similarities, kind="stable")[:TOP_HITS]
        return [addresses[at] for at in best if similarities[at] >= self.embedder.min_similarity]

    def _missing(self) -> list[tuple[int, str]]:
        """The key and the text of each passage without a vector."""
        snapshot = self.text.snapshot()
        if snapshot is None:
            return []
        with translated_errors(), _translated_errors_of_file():
            addresses, keys = _keyed_passages(snapshot)
            lacking = np.flatnonzero(self.file.table().lacks(keys))
            passages = [to_passage(snapshot.searcher.doc(addresses[at])) for at in lacking]
        return list(zip(keys[lacking].tolist(), map(embedded_text, passages), strict=True))

    def _store(self, vectors: dict[int, list[float]]) -> None:
        try:
            with _translated_errors_of_file():
                self.file.add(vectors)
        except (TypeError, ValueError) as error:
            raise EmbedderUnavailable(f"{self.name}: unusable vectors ({error}).") from error

    def _drop_unused(self) -> None:
        """Drop vectors without a passage, and those of other embedders."""
        if snapshot := self.text.snapshot():
            with translated_errors(), _translated_errors_of_file():
                self.file.keep_only(_keyed_passages(snapshot)[1])


def _keyed_passages(
    snapshot: Snapshot, matching: Query | None = None
) -> tuple[list[tantivy.DocAddress], Keys]:
    """The passages that match *matching*, or all, and the keys of their texts."""
    searcher = snapshot.searcher
    query = Query.all_query() if matching is None else matching
    hits = searcher.search(query, limit=max(1, searcher.num_docs), count=False).hits
    addresses = [address for _, address in hits]
    return addresses, np.array(searcher.fast_field_values("text_key", addresses), dtype=np.int64)


@contextmanager
def _translated_errors_of_file() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise IndexUnavailable(
            f"The vectors cannot be kept: {error}. If the file is damaged, delete it: "
            "`judge index add` makes it again."
        ) from error


def _fused(text: Sequence[Hit], near: Sequence[Passage]) -> tuple[Hit, ...]:
    """The best of both rankings by reciprocal rank fusion, then the rest of *text*.

    On ties the hits of *text* come first.
    """
    ranked = [hit.passage for hit in text]
    passages = {passage.id: passage for passage in (*ranked, *near)}
    scores: dict[str, float] = {}
    for ranking in (ranked[:TOP_HITS], near):
        for rank, passage in enumerate(ranking):
            scores[passage.id] = scores.get(passage.id, 0.0) + 1 / (rank + RANK_CONSTANT)
    best = sorted(scores.items(), key=lambda pair: -pair[1])
    rest = [passage.id for passage in ranked[TOP_HITS:] if passage.id not in scores]
    best += [(key, 1 / (rank + RANK_CONSTANT)) for rank, key in enumerate(rest, TOP_HITS)]
    return tuple(Hit(passages[key], score) for key, score in best)
