"""The embedded index by meaning as well: vectors in a file beside Tantivy, all compared.

Tantivy alone says which passages there are, which of them are in scope, and the key of each one's
text; the file says what vector a key has. So a passage that was removed or replaced, or is out of
scope, cannot be found by its old vector, whatever the file still holds.
"""

import asyncio
from dataclasses import dataclass, replace

import numpy as np
import tantivy
from tantivy import Query

from judge.adapters.embedding.query_cache import ONLY_TEXT
from judge.adapters.tantivy.index import Snapshot, TantivyIndex, answer, page, reading
from judge.adapters.tantivy.queries import labelled
from judge.adapters.tantivy.schema import to_passage
from judge.adapters.vectors.rank_fusion import fuse, share
from judge.adapters.vectors.vector_file import Keys, VectorFile, Vectors
from judge.errors import EmbedderUnavailable
from judge.ports import Embedder
from judge.types.search import Hit, Passage, Scope, SearchQuery, SearchResults

HEAD = 100
"""The best of either way, which are joined by rank; what else the words find comes after."""

TRIED = 4 * HEAD
"""So many of all passages are looked at for those of a wide scope, before the whole scope is."""


@dataclass(frozen=True, slots=True)
class KeyedPassages:
    """Where passages lie in Tantivy, in the order of the keys of their texts."""

    addresses: list[tantivy.DocAddress]
    keys: Keys


def keyed_passages(snapshot: Snapshot, within: Query | None = None) -> KeyedPassages:
    """The passages that *within* finds, or all; raises ValueError."""
    searcher = snapshot.searcher
    query = Query.all_query() if within is None else within
    hits = searcher.search(query, limit=max(1, searcher.num_docs), count=False).hits
    addresses = [address for _, address in hits]
    keys = np.array(searcher.fast_field_values("text_key", addresses), dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    return KeyedPassages([addresses[at] for at in order], keys[order])


class VectorIndex:
    """See `SearchIndex`: the words by *text*, the meaning by *embedder* and the vectors in *file*.

    `total` counts what the words find, and of the rest the HEAD that are most alike.
    """

    def __init__(self, text: TantivyIndex, file: VectorFile, embedder: Embedder) -> None:
        self._text = text
        self._file = file
        self._embedder = embedder
        self._known: tuple[Snapshot, KeyedPassages] | None = None

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
        wanted = slice(offset, offset + limit)
        return await asyncio.to_thread(self._search, snapshot, query, scope, vector, wanted)

    async def around(
        self, passage_id: str, *, before: int = 0, after: int = 0
    ) -> tuple[Passage, ...]:
        """See `SearchIndex.around`."""
        return await self._text.around(passage_id, before=before, after=after)

    async def ping(self) -> None:
        """See `SearchIndex.ping`."""
        await self._text.ping()

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
        return None, (ONLY_TEXT.format(reason=reason),)

    def _search(
        self,
        snapshot: Snapshot,
        query: SearchQuery,
        scope: Scope,
        vector: list[float],
        wanted: slice,
    ) -> SearchResults:
        with reading():
            builder = self._text.builder(snapshot)
            plan = builder.build(query, scope)
            near = self._near(snapshot, builder.within(query, scope), vector)
            if not near:
                return answer(snapshot, plan, wanted.stop - wanted.start, wanted.start)
            text = answer(snapshot, plan, HEAD)
            head = _joined(text.hits, near)
            if text.total <= len(text.hits):
                return SearchResults(head[wanted], len(head))
            others = labelled(snapshot.index.schema, "id", [passage.id for passage in near])
            rest = plan.found.and_must_not_match(others)
            return _with_rest(snapshot, head, rest, len(near), wanted)

    def _near(self, snapshot: Snapshot, within: Query | None, vector: list[float]) -> list[Passage]:
        """The passages *within* that are alike enough, the most alike first, at most HEAD."""
        table = self._file.table()
        likeness = table.likeness(vector)
        rows = np.flatnonzero(likeness >= self._embedder.least_similarity)
        alike = NearestRows(table.keys[rows], likeness[rows])
        if not rows.size:
            return []
        if within is None:
            return _passages(snapshot, alike.first(self._everything(snapshot), HEAD))
        if _is_wide(snapshot, within):
            tried = alike.first(self._everything(snapshot), TRIED)
            found = _only(snapshot, within, tried)
            if len(found) >= HEAD or len(tried) < TRIED:
                return found[:HEAD]
        return _passages(snapshot, alike.first(keyed_passages(snapshot, within), HEAD))

    def _everything(self, snapshot: Snapshot) -> KeyedPassages:
        if self._known is None or self._known[0] is not snapshot:
            self._known = (snapshot, keyed_passages(snapshot))
        return self._known[1]


@dataclass(frozen=True, slots=True)
class NearestRows:
    """The keys of the texts that are alike enough, and how alike they are."""

    keys: Keys
    likeness: Vectors

    def first(self, passages: KeyedPassages, most: int) -> list[tantivy.DocAddress]:
        """Those of *passages* that have such a text, the most alike first, at most *most*."""
        start = np.searchsorted(passages.keys, self.keys, "left")
        end = np.searchsorted(passages.keys, self.keys, "right")
        there = np.flatnonzero(start < end)
        places: dict[int, None] = {}
        for at in there[np.argsort(-self.likeness[there], kind="stable")]:
            places |= dict.fromkeys(range(start[at], end[at]))
            if len(places) >= most:
                break
        return [passages.addresses[place] for place in list(places)[:most]]


def _is_wide(snapshot: Snapshot, within: Query) -> bool:
    """Whether *within* finds so much that going through it all costs more than a trial."""
    count = page(snapshot, within, 1).total
    return count * TRIED > snapshot.searcher.num_docs * HEAD


def _only(snapshot: Snapshot, within: Query, addresses: list[tantivy.DocAddress]) -> list[Passage]:
    """The passages at *addresses* that *within* finds, in their order."""
    passages = _passages(snapshot, addresses)
    ids = labelled(snapshot.index.schema, "id", [passage.id for passage in passages])
    these = within.and_must_match(ids)
    hits = snapshot.searcher.search(these, limit=max(1, len(passages)), count=False).hits
    found = {(address.segment_ord, address.doc) for _, address in hits}
    pairs = zip(passages, addresses, strict=True)
    return [passage for passage, at in pairs if (at.segment_ord, at.doc) in found]


def _passages(snapshot: Snapshot, addresses: list[tantivy.DocAddress]) -> list[Passage]:
    return [to_passage(snapshot.searcher.doc(address)) for address in addresses]


def _joined(text: tuple[Hit, ...], near: list[Passage]) -> tuple[Hit, ...]:
    """Both rankings as one."""
    passages = {hit.passage.id: hit.passage for hit in text} | {p.id: p for p in near}
    fused = fuse([[hit.passage.id for hit in text], [passage.id for passage in near]])
    return tuple(Hit(passages[name], score) for name, score in fused)


def _with_rest(
    snapshot: Snapshot, head: tuple[Hit, ...], rest: Query, near: int, wanted: slice
) -> SearchResults:
    """The *wanted* hits of *head* and what *rest* finds after it.

    *rest* leaves out the *near* ones; its first are the others in *head*.
    """
    shown = head[wanted]
    behind = max(0, wanted.start - len(head))
    missing = wanted.stop - wanted.start - len(shown)
    found = page(snapshot, rest, max(1, missing), len(head) - near + behind)
    more = [
        Hit(hit.passage, share(HEAD + behind + place))
        for place, hit in enumerate(found.hits[:missing])
    ]
    return SearchResults((*shown, *more), near + found.total)
