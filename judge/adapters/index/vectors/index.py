"""Hybrid search in the embedded index: words by Tantivy, meaning by an exact scan of vectors.

Tantivy knows which passages exist, which are in scope, and the key of each one's text; the vector
file maps keys to vectors. So a passage that was removed or replaced, or is out of scope, is never
found by its old vector, whatever the file still holds.
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
    address_key,
    passages_at,
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

MAX_TRIED = 4 * TOP_HITS
"""How many of the nearest passages are filtered by scope, before all in scope are compared."""

RANK_CONSTANT = 2
"""Of reciprocal rank fusion: the first of a ranking counts 1/2, the next 1/3. Qdrant's default, so
that both engines rank alike, and not 60 as in Cormack, Clarke and Büttcher, SIGIR 2009."""


@dataclass(frozen=True, slots=True)
class KeyedPassages:
    """The addresses of passages in Tantivy, sorted by the keys of their texts."""

    addresses: list[tantivy.DocAddress]
    keys: Keys


def keyed_passages(snapshot: Snapshot, matching: Query | None = None) -> KeyedPassages:
    """The passages that match *matching*, or all; raises ValueError."""
    searcher = snapshot.searcher
    query = Query.all_query() if matching is None else matching
    hits = searcher.search(query, limit=max(1, searcher.num_docs), count=False).hits
    addresses = [address for _, address in hits]
    keys = np.array(searcher.fast_field_values("text_key", addresses), dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    return KeyedPassages([addresses[at] for at in order], keys[order])


class VectorIndex:
    """See `SearchIndex`: words by *text*, meaning by *embedder* and the vectors in *file*.

    `total` counts the hits of the words, and of other passages the nearest, up to TOP_HITS.
    """

    def __init__(self, text: TantivyIndex, file: VectorFile, embedder: Embedder) -> None:
        self._text = text
        self._file = file
        self._embedder = embedder
        self._passages: tuple[Snapshot, KeyedPassages] | None = None

    async def search(
        self, query: SearchQuery, scope: Scope, *, limit: int, offset: int = 0
    ) -> SearchResults:
        """See `SearchIndex.search`."""
        snapshot = self._text.snapshot()
        if query.is_empty or snapshot is None or not snapshot.searcher.num_docs:
            return SearchResults()
        vector, warnings = await self._vector(query)
        if vector is None:
            results = await self._text.search(query, scope, limit=limit, offset=offset)
            return replace(results, warnings=warnings)
        page = slice(offset, offset + limit)
        return await asyncio.to_thread(self._search, snapshot, query, scope, vector, page)

    async def _vector(self, query: SearchQuery) -> tuple[list[float] | None, tuple[str, ...]]:
        """The query's vector, or None and the warning that only the words are searched."""
        try:
            if (await asyncio.to_thread(self._file.table)).keys.size:
                return await self._embedder.embed_query(query.text), ()
            reason = f"there are no vectors of {self._embedder.name}. `judge index add` makes them."
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
            builder = self._text.builder(snapshot, query)
            plan = builder.build(query, scope)
            addresses = self._nearest(snapshot, builder.scope_filter(query, scope), vector)
            if not addresses:
                return run_plan(snapshot, plan, page.stop - page.start, page.start)
            near = [to_passage(snapshot.searcher.doc(address)) for address in addresses]
            # Up to TOP_HITS of the later hits may be near, and so stand higher up.
            depth = TOP_HITS if page.stop <= TOP_HITS else page.stop + TOP_HITS
            text = run_plan(snapshot, plan, depth)
            hits = _fused(text.hits, near)
            if text.total <= len(text.hits):
                return SearchResults(hits[page], len(hits))
            others = plan.query.and_must_not_match(passages_at(snapshot, addresses))
            total = len(near) + count_of(snapshot.searcher.search(others, limit=1))
            return SearchResults(hits[page], total)

    def _nearest(
        self, snapshot: Snapshot, matching: Query | None, vector: list[float]
    ) -> list[tantivy.DocAddress]:
        """The addresses of the *matching* passages that are near enough, nearest first.

        At most TOP_HITS.
        """
        table = self._file.table()
        similarity = table.similarities(vector)
        rows = np.flatnonzero(similarity >= self._embedder.min_similarity)
        keys = table.keys[rows[np.argsort(-similarity[rows], kind="stable")]]
        if not rows.size:
            return []
        if matching is None:
            return nearest(self._all_passages(snapshot), keys, TOP_HITS)
        tried = nearest(self._all_passages(snapshot), keys, MAX_TRIED)
        in_scope = _filtered(snapshot, matching, tried)
        if len(in_scope) >= TOP_HITS or len(tried) < MAX_TRIED:
            return in_scope[:TOP_HITS]
        return nearest(keyed_passages(snapshot, matching), keys, TOP_HITS)

    def _all_passages(self, snapshot: Snapshot) -> KeyedPassages:
        if self._passages is None or self._passages[0] is not snapshot:
            self._passages = (snapshot, keyed_passages(snapshot))
        return self._passages[1]


def nearest(passages: KeyedPassages, keys: Keys, limit: int) -> list[tantivy.DocAddress]:
    """The addresses of the passages that have *keys*, in the order of *keys*, at most *limit*."""
    start = np.searchsorted(passages.keys, keys, "left")
    end = np.searchsorted(passages.keys, keys, "right")
    rows: dict[int, None] = {}
    for at in np.flatnonzero(start < end):
        rows |= dict.fromkeys(range(start[at], end[at]))
        if len(rows) >= limit:
            break
    return [passages.addresses[row] for row in list(rows)[:limit]]


def _filtered(
    snapshot: Snapshot, matching: Query, addresses: list[tantivy.DocAddress]
) -> list[tantivy.DocAddress]:
    """The *addresses* whose passages match *matching*, in their order."""
    query = matching.and_must_match(passages_at(snapshot, addresses))
    hits = snapshot.searcher.search(query, limit=max(1, len(addresses)), count=False).hits
    matches = {address_key(address) for _, address in hits}
    return [address for address in addresses if address_key(address) in matches]


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
    rest = (passage.id for passage in ranked[TOP_HITS:] if passage.id not in scores)
    scored = [
        *best,
        *((key, 1 / (rank + RANK_CONSTANT)) for rank, key in enumerate(rest, TOP_HITS)),
    ]
    return tuple(Hit(passages[key], score) for key, score in scored)
