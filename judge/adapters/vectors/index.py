"""The embedded index by meaning as well: vectors in a file beside Tantivy, all compared.

Tantivy alone says which passages there are, which of them are in scope, and the key of each one's
text; the file says what vector a key has. So a passage that was removed or replaced, or is out of
scope, cannot be found by its old vector, whatever the file still holds.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import tantivy
from tantivy import Query

from judge.adapters.embedding.query_cache import WORDS_ONLY
from judge.adapters.tantivy.index import (
    Snapshot,
    TantivyIndex,
    passages_at,
    place,
    run_plan,
    translated_errors,
)
from judge.adapters.tantivy.queries import count_of
from judge.adapters.tantivy.schema import to_passage
from judge.adapters.vectors.vector_file import Keys, VectorFile
from judge.errors import EmbedderUnavailable
from judge.ports import Embedder
from judge.types.search import Hit, Passage, Scope, SearchQuery, SearchResults

TOP_HITS = 100
"""The best of either way, which are joined by rank; what else the words find comes after."""

MAX_TRIED = 4 * TOP_HITS
"""So many of all passages are looked at for those in scope, before all that is in scope is."""

RANK_CONSTANT = 2
"""The first of a ranking counts 1/2, the next 1/3: Qdrant's default, so that both engines rank
alike, and not 60 as in Cormack, Clarke and Büttcher, SIGIR 2009."""


@dataclass(frozen=True, slots=True)
class KeyedPassages:
    """The addresses of passages in Tantivy, in the order of the keys of their texts."""

    addresses: list[tantivy.DocAddress]
    keys: Keys


def keyed_passages(snapshot: Snapshot, matching: Query | None = None) -> KeyedPassages:
    """The passages that *matching* finds, or all; raises ValueError."""
    searcher = snapshot.searcher
    query = Query.all_query() if matching is None else matching
    hits = searcher.search(query, limit=max(1, searcher.num_docs), count=False).hits
    addresses = [address for _, address in hits]
    keys = np.array(searcher.fast_field_values("text_key", addresses), dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    return KeyedPassages([addresses[at] for at in order], keys[order])


class VectorIndex:
    """See `SearchIndex`: the words by *text*, the meaning by *embedder* and the vectors in *file*.

    `total` counts what the words find, and of the rest the TOP_HITS that are nearest.
    """

    def __init__(self, text: TantivyIndex, file: VectorFile, embedder: Embedder) -> None:
        self._text = text
        self._file = file
        self._embedder = embedder
        self._keyed: tuple[Snapshot, KeyedPassages] | None = None

    async def search(
        self, query: SearchQuery, scope: Scope, *, limit: int, offset: int = 0
    ) -> SearchResults:
        """See `SearchIndex.search`."""
        snapshot = self._text.snapshot()
        if query.is_empty or snapshot is None or not snapshot.searcher.num_docs:
            return SearchResults()
        vector, warnings = await self._vector(query)
        if vector is None:
            found = await self._text.search(query, scope, limit=limit, offset=offset)
            return replace(found, warnings=warnings)
        requested = slice(offset, offset + limit)
        return await asyncio.to_thread(self._search, snapshot, query, scope, vector, requested)

    async def _vector(self, query: SearchQuery) -> tuple[list[float] | None, tuple[str, ...]]:
        """The question's vector; without it, why only the words are searched."""
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
        requested: slice,
    ) -> SearchResults:
        with translated_errors():
            builder = self._text.builder(snapshot, query)
            plan = builder.build(query, scope)
            places = self._near(snapshot, builder.scope_filter(query, scope), vector)
            if not places:
                return run_plan(snapshot, plan, requested.stop - requested.start, requested.start)
            near = [to_passage(snapshot.searcher.doc(address)) for address in places]
            # Of what comes after the best, so much may be near and stand higher up.
            depth = TOP_HITS if requested.stop <= TOP_HITS else requested.stop + TOP_HITS
            text = run_plan(snapshot, plan, depth)
            hits = _joined(text.hits, near)
            if text.total <= len(text.hits):
                return SearchResults(hits[requested], len(hits))
            others = plan.found.and_must_not_match(passages_at(snapshot, places))
            total = len(near) + count_of(snapshot.searcher.search(others, limit=1))
            return SearchResults(hits[requested], total)

    def _near(
        self, snapshot: Snapshot, matching: Query | None, vector: list[float]
    ) -> list[tantivy.DocAddress]:
        """Where the passages *matching* are that are near enough, the nearest first.

        At most TOP_HITS.
        """
        table = self._file.table()
        similarity = table.similarities(vector)
        rows = np.flatnonzero(similarity >= self._embedder.least_similarity)
        keys = table.keys[rows[np.argsort(-similarity[rows], kind="stable")]]
        if not rows.size:
            return []
        if matching is None:
            return nearest(self._everything(snapshot), keys, TOP_HITS)
        tried = nearest(self._everything(snapshot), keys, MAX_TRIED)
        found = _in_filter(snapshot, matching, tried)
        if len(found) >= TOP_HITS or len(tried) < MAX_TRIED:
            return found[:TOP_HITS]
        return nearest(keyed_passages(snapshot, matching), keys, TOP_HITS)

    def _everything(self, snapshot: Snapshot) -> KeyedPassages:
        if self._keyed is None or self._keyed[0] is not snapshot:
            self._keyed = (snapshot, keyed_passages(snapshot))
        return self._keyed[1]


def nearest(passages: KeyedPassages, keys: Keys, limit: int) -> list[tantivy.DocAddress]:
    """Those of *passages* that have the texts of *keys*, in the order of these, at most *limit*."""
    start = np.searchsorted(passages.keys, keys, "left")
    end = np.searchsorted(passages.keys, keys, "right")
    rows: dict[int, None] = {}
    for at in np.flatnonzero(start < end):
        rows |= dict.fromkeys(range(start[at], end[at]))
        if len(rows) >= limit:
            break
    return [passages.addresses[row] for row in list(rows)[:limit]]


def _in_filter(
    snapshot: Snapshot, matching: Query, addresses: list[tantivy.DocAddress]
) -> list[tantivy.DocAddress]:
    """Those of *addresses* whose passages *matching* finds, in their order."""
    these = matching.and_must_match(passages_at(snapshot, addresses))
    hits = snapshot.searcher.search(these, limit=max(1, len(addresses)), count=False).hits
    found = {place(address) for _, address in hits}
    return [address for address in addresses if place(address) in found]


def _joined(text: Sequence[Hit], near: Sequence[Passage]) -> tuple[Hit, ...]:
    """The best of both by the sum of what their places count, then the rest of *text*.

    Of equals those of *text* come first.
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
        *((name, 1 / (rank + RANK_CONSTANT)) for rank, name in enumerate(rest, TOP_HITS)),
    ]
    return tuple(Hit(passages[name], score) for name, score in scored)
