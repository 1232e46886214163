"""Hybrid search in the embedded index: words by Tantivy, meaning by an exact scan of vectors.

Tantivy knows which passages exist, which are in scope, and the key of each one's text; the vector
file maps keys to vectors. So a passage that was removed or is out of scope is never found by its
old vector.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import tantivy
from tantivy import Query

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
from judge.errors import EmbedderUnavailable
from judge.ports import Embedder
from judge.types.search import Hit, Passage, Scope, SearchQuery, SearchResults

TOP_HITS = 100
"""How many hits of each ranking are fused by rank; further hits of the words come after them."""

RANK_CONSTANT = 2
"""Of reciprocal rank fusion: the first of a ranking counts 1/2, the next 1/3. Qdrant's default, so
that both engines rank alike, and not 60 as in Cormack, Clarke and Büttcher, SIGIR 2009."""


def keyed_passages(
    snapshot: Snapshot, matching: Query | None = None
) -> tuple[list[tantivy.DocAddress], Keys]:
    """The passages that match *matching*, or all, and the keys of their texts."""
    searcher = snapshot.searcher
    query = Query.all_query() if matching is None else matching
    hits = searcher.search(query, limit=max(1, searcher.num_docs), count=False).hits
    addresses = [address for _, address in hits]
    return addresses, np.array(searcher.fast_field_values("text_key", addresses), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """See `SearchIndex`: words by *text*, meaning by *embedder* and the vectors in *file*.

    `total` counts the hits of the words, and of other passages the nearest, up to TOP_HITS.
    """

    text: TantivyIndex
    file: VectorFile
    embedder: Embedder

    async def search(
        self, query: SearchQuery, scope: Scope, *, limit: int, offset: int = 0
    ) -> SearchResults:
        """See `SearchIndex.search`."""
        snapshot = self.text.snapshot()
        if query.is_empty or snapshot is None or not snapshot.searcher.num_docs:
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
        addresses, keys = keyed_passages(snapshot, matching)
        similarities = self.file.table().similarities(vector, keys)
        best = np.argsort(-similarities, kind="stable")[:TOP_HITS]
        return [addresses[at] for at in best if similarities[at] >= self.embedder.min_similarity]


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
