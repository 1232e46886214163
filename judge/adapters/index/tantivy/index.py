"""The embedded index: Tantivy in a folder, read by any number of processes.

Readers check the folder's `meta.json` before each search, so that they see a commit of any process
at once and without a restart. `writer.py` changes the index.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, cast

import tantivy
from tantivy import Occur, Query

from judge.adapters.index.tantivy.queries import (
    QueryBuilder,
    QueryPlan,
    RelevanceCheck,
    all_of,
    any_of,
    count_of,
    label_query,
    scope_query,
)
from judge.adapters.index.tantivy.schema import (
    VERSION,
    LabelKind,
    english,
    label,
    name_hash,
    open_index,
    to_passage,
    to_record,
)
from judge.errors import IndexUnavailable
from judge.ports import NameKind
from judge.types.search import (
    EVERYWHERE,
    CollectionStats,
    Hit,
    IndexedDocument,
    Passage,
    Scope,
    SearchQuery,
    SearchResults,
)

RERANK_WINDOW = 30
"""The top hits that are reranked by adjacent words and by the other hits of their documents; a
larger window leaves the first ten as they are."""

SAME_DOCUMENT_BOOST = 0.1
"""The share of the scores of a document's other hits that is added to each of its hits."""

LONG_QUERY_WORDS, LONG_QUERY_CHARACTERS = 8, 100
"""A longer query is searched on a thread, so as not to block the event loop; a short one takes less
time than the hand-over. Without spaces a thousand characters are one word, of a thousand terms."""

IF_FULL = " If the disk is full, make room and do the same again: nothing that was kept is lost."

IF_DAMAGED = (
    f" If its files are damaged, delete the folder index-v{VERSION} in JUDGE_DATA_DIR and run "
    "`judge index add` on your documents again."
)

_LABEL_OF: dict[str, LabelKind] = {"document": "document", "folder": "below", "tag": "tag"}
_Item = TypeVar("_Item")
_Stamp = tuple[int, int]
_Ranking = list[tuple[float, tantivy.DocAddress]]


def index_folder(data_dir: Path) -> Path:
    """The folder of the index of this VERSION."""
    return data_dir / f"index-v{VERSION}"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The index as of one commit; `stamp` identifies the commit."""

    index: tantivy.Index
    searcher: tantivy.Searcher
    stamp: _Stamp


class TantivyIndex:
    """Searches the index in *data_dir*, which need not exist yet; safe for threads."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._meta = index_folder(data_dir) / "meta.json"
        self._analyzer = english()
        self._snapshot: Snapshot | None = None
        self._stats: tuple[Snapshot | None, tuple[CollectionStats, ...]] | None = None

    async def search(
        self, query: SearchQuery, scope: Scope, *, limit: int, offset: int = 0
    ) -> SearchResults:
        """See `SearchIndex.search`."""
        if len(query.words) > LONG_QUERY_WORDS or len(query.text) > LONG_QUERY_CHARACTERS:
            return await asyncio.to_thread(self._search, query, scope, limit, offset)
        return self._search(query, scope, limit, offset)

    async def around(
        self, passage_id: str, *, before: int = 0, after: int = 0
    ) -> tuple[Passage, ...]:
        """See `Catalogue.around`."""
        passages = self._passages([passage_id])
        if not passages or not (before or after):
            return passages
        document, _, position = passage_id.rpartition(":")
        first = max(0, int(position) - before)
        ids = [f"{document}:{n}" for n in range(first, int(position) + after + 1)]
        return self._passages(ids)

    async def ping(self) -> None:
        """See `Catalogue.ping`."""
        self.snapshot()

    async def collections(self) -> tuple[CollectionStats, ...]:
        """See `Catalogue.collections`; counted once for each commit."""
        snapshot = self.snapshot()
        if self._stats is None or self._stats[0] is not snapshot:
            self._stats = (snapshot, await self._list(_collections))
        return self._stats[1]

    async def documents(self, collection: str) -> tuple[IndexedDocument, ...]:
        """See `Catalogue.documents`; none if the index has another version, since it is rebuilt."""
        if not self._meta.exists():
            return ()
        return await self._list(lambda snapshot: _documents(snapshot, collection))

    async def names(self, kind: NameKind, scope: Scope = EVERYWHERE) -> tuple[str, ...]:
        """See `Catalogue.names`."""
        return await self._list(lambda snapshot: _names(snapshot, kind, scope))

    async def contains(self, scope: Scope) -> bool:
        """See `Catalogue.contains`."""

        def first_hit(snapshot: Snapshot) -> _Ranking:
            matching = scope_query(snapshot.index.schema, scope)
            return snapshot.searcher.search(matching, limit=1, count=False).hits

        return bool(await self._list(first_hit))

    def snapshot(self) -> Snapshot | None:
        """The latest commit; None when nothing was ever indexed. Raises IndexUnavailable."""
        with translated_errors():
            try:
                status = self._meta.stat()
            except FileNotFoundError:
                check_version(self._data_dir)
                return None
            stamp = (status.st_ino, status.st_mtime_ns)
            if self._snapshot is None or self._snapshot.stamp != stamp:
                # Not `reload`, which takes a new file for an old one of the same name.
                index = open_index(str(self._meta.parent))
                self._snapshot = Snapshot(index, index.searcher(), stamp)
            return self._snapshot

    def builder(self, snapshot: Snapshot, query: SearchQuery) -> QueryBuilder:
        """A builder of queries for *query* in *snapshot*."""
        index = snapshot.index
        return QueryBuilder(index.schema, self._analyzer, snapshot.searcher, query.idf_scope)

    def _search(self, query: SearchQuery, scope: Scope, limit: int, offset: int) -> SearchResults:
        snapshot = self.snapshot()
        if snapshot is None or query.is_empty:
            return SearchResults()
        with translated_errors():
            plan = self.builder(snapshot, query).build(query, scope)
            return run_plan(snapshot, plan, limit, offset)

    def _passages(self, ids: list[str]) -> tuple[Passage, ...]:
        snapshot = self.snapshot()
        if snapshot is None:
            return ()
        with translated_errors():
            query = label_query(snapshot.index.schema, "id", map(name_hash, ids))
            hits = snapshot.searcher.search(query, limit=len(ids), count=False).hits
            passages = [hit.passage for hit in _load(snapshot, hits)]
        return tuple(sorted(passages, key=lambda passage: passage.position))

    async def _list(self, read: Callable[[Snapshot], Iterable[_Item]]) -> tuple[_Item, ...]:
        """What *read* returns for the latest commit; on a thread, since it may be much."""

        def read_snapshot() -> tuple[_Item, ...]:
            snapshot = self.snapshot()
            with translated_errors():
                return tuple(read(snapshot)) if snapshot else ()

        return await asyncio.to_thread(read_snapshot)


def check_version(data_dir: Path) -> None:
    """Raise IndexUnavailable if only an index of another version is in *data_dir*."""
    others = [folder.name for folder in data_dir.glob("index-v*") if folder.is_dir()]
    if others and index_folder(data_dir).name not in others:
        raise IndexUnavailable(
            f"The index in {data_dir} ({others[0]}) was made by another version of Judge. Run "
            "`judge index add` on your documents again; it makes a new one and removes the old."
        )


@contextmanager
def translated_errors(doing: Literal["read", "written"] = "read") -> Iterator[None]:
    """Turn errors of Tantivy and of the file system into IndexUnavailable."""
    try:
        yield
    except (OSError, ValueError, RuntimeError) as error:
        hint = IF_FULL if doing == "written" else ""
        hint += IF_DAMAGED if isinstance(error, ValueError) else ""
        raise IndexUnavailable(f"The search index cannot be {doing}: {error}{hint}") from error


def run_plan(snapshot: Snapshot, plan: QueryPlan, limit: int, offset: int = 0) -> SearchResults:
    """The hits of *plan* from *offset* on, the best of them reranked; none if none is relevant."""
    # Tantivy allocates memory for limit + offset: neither must exceed the index.
    total = max(1, snapshot.searcher.num_docs)
    if plan.rescore and offset < RERANK_WINDOW:
        result = snapshot.searcher.search(
            plan.query, min(max(offset + limit, RERANK_WINDOW), total)
        )
        best = _rescored(snapshot, plan.rescore, result.hits[:RERANK_WINDOW])
        ranked = _boosted_by_document(snapshot, best) + result.hits[RERANK_WINDOW:]
        hits = ranked[offset : offset + limit]
    else:
        result = snapshot.searcher.search(plan.query, min(limit, total), offset=min(offset, total))
        hits = result.hits
    if plan.relevance_check is None or _is_any_relevant(snapshot, plan.relevance_check, hits):
        return SearchResults(_load(snapshot, hits), count_of(result))
    return SearchResults()


def _rescored(snapshot: Snapshot, phrases: Sequence[Query], hits: _Ranking) -> _Ranking:
    """*hits* with the scores of *phrases* added, which are searched in these hits alone."""
    if not hits:
        return []
    among_hits = passages_at(snapshot, [address for _, address in hits])
    # A filter for each phrase, so that Tantivy skips to the hits in the postings of each word.
    query = any_of([phrase.and_must_match(among_hits) for phrase in phrases])
    matches = snapshot.searcher.search(query, limit=len(hits), count=False).hits
    added = {address_key(address): score for score, address in matches}
    return [(score + added.get(address_key(address), 0.0), address) for score, address in hits]


def _boosted_by_document(snapshot: Snapshot, hits: _Ranking) -> _Ranking:
    """*hits*, each with a share of the scores of its document's other hits added, best first."""
    keys = _fast_field(snapshot, "key", [address for _, address in hits])
    totals: dict[int, float] = {}
    for key, (score, _) in zip(keys, hits, strict=True):
        totals[key] = totals.get(key, 0.0) + score
    scored = [
        (score + SAME_DOCUMENT_BOOST * (totals[key] - score), address)
        for key, (score, address) in zip(keys, hits, strict=True)
    ]
    return sorted(scored, key=lambda pair: -pair[0])


def passages_at(snapshot: Snapshot, addresses: list[tantivy.DocAddress]) -> Query:
    """A filter for the passages at *addresses*, which adds nothing to scores."""
    passages = label_query(snapshot.index.schema, "id", _fast_field(snapshot, "id", addresses))
    return Query.const_score_query(passages, 0.0)


def _fast_field(
    snapshot: Snapshot, name: Literal["id", "key"], addresses: list[tantivy.DocAddress]
) -> list[int]:
    return cast("list[int]", snapshot.searcher.fast_field_values(name, addresses))


def address_key(address: tantivy.DocAddress) -> tuple[int, int]:
    """*address* as a hashable value."""
    return address.segment_ord, address.doc


def _is_any_relevant(snapshot: Snapshot, check: RelevanceCheck, hits: _Ranking) -> bool:
    """Whether any passage passes *check*; tries the best hit first, which costs next to nothing."""
    queries = [all_of([(Occur.Must, any_of(check.words)), *check.filters])]
    if hits:
        best = passages_at(snapshot, [hits[0][1]])
        # A filter for each word, as in `_rescored`.
        queries.insert(0, any_of([word.and_must_match(best) for word in check.words]))
    rankings = (snapshot.searcher.search(query, 1, count=False).hits for query in queries)
    return any(score >= check.needed for ranking in rankings for score, _ in ranking)


def _load(snapshot: Snapshot, hits: _Ranking) -> tuple[Hit, ...]:
    """*hits* with their passages."""
    return tuple(Hit(to_passage(snapshot.searcher.doc(at)), score) for score, at in hits)


def _collections(snapshot: Snapshot) -> Iterator[CollectionStats]:
    firsts = label_query(snapshot.index.schema, "first", [""])
    documents = dict(_label_counts(snapshot, "collection", firsts))
    for name, count in sorted(_label_counts(snapshot, "collection")):
        yield CollectionStats(_spelling(snapshot, name), documents.get(name, 0), count)


def _documents(snapshot: Snapshot, collection: str) -> list[IndexedDocument]:
    searcher, schema = snapshot.searcher, snapshot.index.schema
    firsts = label_query(schema, "first", [""])
    query = label_query(schema, "collection", [collection]).and_must_match(firsts)
    hits = searcher.search(query, limit=max(1, searcher.num_docs), count=False).hits
    records = [to_record(searcher.doc(address)) for _, address in hits]
    return sorted(records, key=lambda record: record.path)


def _names(snapshot: Snapshot, kind: NameKind, scope: Scope) -> list[str]:
    matching = scope_query(snapshot.index.schema, scope)
    counts = _label_counts(snapshot, _LABEL_OF[kind], matching)
    return sorted(name for name, count in counts if count)


def _spelling(snapshot: Snapshot, collection: str) -> str:
    """The name of *collection* as its first passage spells it."""
    passages = label_query(snapshot.index.schema, "collection", [collection])
    query = Query.const_score_query(passages, 0)
    ((_, address),) = snapshot.searcher.search(query, limit=1, count=False).hits
    return to_passage(snapshot.searcher.doc(address)).collection


def _label_counts(
    snapshot: Snapshot, kind: LabelKind, matching: Query | None = None
) -> Iterator[tuple[str, int]]:
    """The values of a kind of label, each with the number of *matching* passages that have it."""
    prefix = label(kind, "")
    # Without a filter Tantivy would count deleted passages too.
    filtered = Query.all_query() if matching is None else matching
    for term, count in snapshot.searcher.terms_with_prefix("labels", prefix, filtered):
        yield term.removeprefix(prefix), count
