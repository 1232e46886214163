"""The embedded index: Tantivy in a folder, read by any number of processes.

Readers look at the folder's `meta.json` before each search, so that they see every commit of any
process at once and none needs to be started again. `writer.py` changes the index.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar, cast

import tantivy
from tantivy import Occur, Query

from judge.adapters.tantivy.queries import (
    Proof,
    QueryBuilder,
    QueryPlan,
    all_of,
    any_of,
    count_of,
    label_query,
    scope_query,
)
from judge.adapters.tantivy.schema import (
    VERSION,
    LabelKind,
    english,
    label,
    number,
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

RERANKED = 30
"""Hits that are ranked anew, by which words stand side by side and in which other places their
documents answer: with more, the first ten stay as they are."""

SAME_DOCUMENT_BOOST = 0.1
"""How much: a document that answers in several places is likelier the right one."""

LONG_QUERY_WORDS, LONG_QUERY_CHARACTERS = 8, 100
"""A longer query takes a thread, lest it hold up the event loop; a short one takes less than the
hand-over would. Without spaces a thousand characters are one word, of a thousand terms."""

IF_FULL = " If the disk is full, make room and do the same again: nothing that was kept is lost."

IF_DAMAGED = (
    f" If its files are damaged, delete the folder index-v{VERSION} in JUDGE_DATA_DIR and run "
    "`judge index add` on your documents again."
)

_LABEL_OF: dict[str, LabelKind] = {"document": "document", "folder": "below", "tag": "tag"}
_Found = TypeVar("_Found")
_Stamp = tuple[int, int]
_Ranking = list[tuple[float, tantivy.DocAddress]]


def index_folder(data_dir: Path) -> Path:
    """The folder of this version's index."""
    return data_dir / f"index-v{VERSION}"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The index as one commit left it, for as long as it is held."""

    index: tantivy.Index
    searcher: tantivy.Searcher
    stamp: _Stamp


class TantivyIndex:
    """Searches the index in *data_dir*, which may not be there yet; serves threads as well."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._meta = index_folder(data_dir) / "meta.json"
        self._analyzer = english()
        self._snapshot: Snapshot | None = None
        self._counted: tuple[Snapshot | None, tuple[CollectionStats, ...]] | None = None

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
        found = self._passages([passage_id])
        if not found or not (before or after):
            return found
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
        if self._counted is None or self._counted[0] is not snapshot:
            self._counted = (snapshot, await self._look(_collections))
        return self._counted[1]

    async def documents(self, collection: str) -> tuple[IndexedDocument, ...]:
        """See `Catalogue.documents`; none of an index of another version, which is made anew."""
        if not self._meta.exists():
            return ()
        return await self._look(lambda snapshot: _documents(snapshot, collection))

    async def names(self, kind: NameKind, scope: Scope = EVERYWHERE) -> tuple[str, ...]:
        """See `Catalogue.names`."""
        return await self._look(lambda snapshot: _names(snapshot, kind, scope))

    async def contains(self, scope: Scope) -> bool:
        """See `Catalogue.contains`."""

        def first(snapshot: Snapshot) -> _Ranking:
            matching = scope_query(snapshot.index.schema, scope)
            return snapshot.searcher.search(matching, limit=1, count=False).hits

        return bool(await self._look(first))

    def snapshot(self) -> Snapshot | None:
        """The newest commit, None when nothing was ever indexed; raises IndexUnavailable."""
        with translated_errors():
            try:
                status = self._meta.stat()
            except FileNotFoundError:
                check_version(self._data_dir)
                return None
            stamp = (status.st_ino, status.st_mtime_ns)
            if self._snapshot is None or self._snapshot.stamp != stamp:
                # Anew: one that is reloaded takes a file for one that it had under the same name.
                index = open_index(str(self._meta.parent))
                self._snapshot = Snapshot(index, index.searcher(), stamp)
            return self._snapshot

    def builder(self, snapshot: Snapshot, query: SearchQuery) -> QueryBuilder:
        """What builds the queries of *query* for *snapshot*."""
        index = snapshot.index
        return QueryBuilder(index.schema, self._analyzer, snapshot.searcher, query.counted)

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
            query = label_query(snapshot.index.schema, "id", map(number, ids))
            hits = snapshot.searcher.search(query, limit=len(ids), count=False).hits
            passages = [hit.passage for hit in _read(snapshot, hits)]
        return tuple(sorted(passages, key=lambda passage: passage.position))

    async def _look(self, look: Callable[[Snapshot], Iterable[_Found]]) -> tuple[_Found, ...]:
        """What *look* finds in the newest commit, in a thread, for it may be much."""

        def find() -> tuple[_Found, ...]:
            snapshot = self.snapshot()
            with translated_errors():
                return tuple(look(snapshot)) if snapshot else ()

        return await asyncio.to_thread(find)


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
    """Turn what goes wrong with the folder into IndexUnavailable."""
    try:
        yield
    except (OSError, ValueError, RuntimeError) as error:
        hint = IF_FULL if doing == "written" else ""
        hint += IF_DAMAGED if isinstance(error, ValueError) else ""
        raise IndexUnavailable(f"The search index cannot be {doing}: {error}{hint}") from error


def run_plan(snapshot: Snapshot, plan: QueryPlan, limit: int, offset: int = 0) -> SearchResults:
    """What *plan* finds from *offset* on, the best of it ranked anew; nothing without its proof."""
    # Tantivy makes room for all that it skips: what is past the end must not ask for more.
    most = max(1, snapshot.searcher.num_docs)
    if plan.neighbours and offset < RERANKED:
        found = snapshot.searcher.search(plan.found, min(max(offset + limit, RERANKED), most))
        best = _rescored(snapshot, plan.neighbours, found.hits[:RERANKED])
        ranked = _by_document(snapshot, best) + found.hits[RERANKED:]
        hits = ranked[offset : offset + limit]
    else:
        found = snapshot.searcher.search(plan.found, min(limit, most), offset=min(offset, most))
        hits = found.hits
    if plan.proof is None or _is_proved(snapshot, plan.proof, hits):
        return SearchResults(_read(snapshot, hits), count_of(found))
    return SearchResults()


def _rescored(snapshot: Snapshot, phrases: Sequence[Query], hits: _Ranking) -> _Ranking:
    """*hits* with the scores of *phrases* added; asked of these alone, they cost little."""
    if not hits:
        return []
    these = passages_at(snapshot, [address for _, address in hits])
    # Each with the filter of its own: so the engine skips to the hits in each word's list.
    query = any_of([phrase.and_must_match(these) for phrase in phrases])
    added = snapshot.searcher.search(query, limit=len(hits), count=False).hits
    more = {place(address): score for score, address in added}
    return [(score + more.get(place(address), 0.0), address) for score, address in hits]


def _by_document(snapshot: Snapshot, hits: _Ranking) -> _Ranking:
    """*hits*, best first, each with a share of the scores of its document's others added."""
    keys = _numbers(snapshot, "key", [address for _, address in hits])
    together: dict[int, float] = {}
    for key, (score, _) in zip(keys, hits, strict=True):
        together[key] = together.get(key, 0.0) + score
    scored = [
        (score + SAME_DOCUMENT_BOOST * (together[key] - score), address)
        for key, (score, address) in zip(keys, hits, strict=True)
    ]
    return sorted(scored, key=lambda pair: -pair[0])


def passages_at(snapshot: Snapshot, addresses: list[tantivy.DocAddress]) -> Query:
    """A filter for the passages at *addresses*, which adds nothing to a score."""
    these = label_query(snapshot.index.schema, "id", _numbers(snapshot, "id", addresses))
    return Query.const_score_query(these, 0.0)


def _numbers(
    snapshot: Snapshot, kind: Literal["id", "key"], addresses: list[tantivy.DocAddress]
) -> list[int]:
    return cast("list[int]", snapshot.searcher.fast_field_values(kind, addresses))


def place(address: tantivy.DocAddress) -> tuple[int, int]:
    """*address* as a key of dictionaries."""
    return address.segment_ord, address.doc


def _is_proved(snapshot: Snapshot, proof: Proof, hits: _Ranking) -> bool:
    """Whether any passage is the *proof*; to ask the best of *hits* alone costs next to nothing."""
    asked = [all_of([(Occur.Must, any_of(proof.words)), *proof.limits])]
    if hits:
        best = passages_at(snapshot, [hits[0][1]])
        # Each word with the filter of its own, as in `_rescored`.
        asked.insert(0, any_of([word.and_must_match(best) for word in proof.words]))
    found = (snapshot.searcher.search(query, 1, count=False).hits for query in asked)
    return any(score >= proof.needed for ranking in found for score, _ in ranking)


def _read(snapshot: Snapshot, hits: _Ranking) -> tuple[Hit, ...]:
    """*hits* with their passages."""
    return tuple(Hit(to_passage(snapshot.searcher.doc(at)), score) for score, at in hits)


def _collections(snapshot: Snapshot) -> Iterator[CollectionStats]:
    firsts = label_query(snapshot.index.schema, "first", [""])
    documents = dict(_values(snapshot, "collection", firsts))
    for name, count in sorted(_values(snapshot, "collection")):
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
    return sorted(name for name, n in _values(snapshot, _LABEL_OF[kind], matching) if n)


def _spelling(snapshot: Snapshot, collection: str) -> str:
    """The name of *collection* as its first passage writes it."""
    query = Query.const_score_query(
        label_query(snapshot.index.schema, "collection", [collection]), 0
    )
    ((_, address),) = snapshot.searcher.search(query, limit=1, count=False).hits
    return to_passage(snapshot.searcher.doc(address)).collection


def _values(
    snapshot: Snapshot, kind: LabelKind, matching: Query | None = None
) -> Iterator[tuple[str, int]]:
    """The values of a kind of label, each with how many passages *matching* have it."""
    prefix = label(kind, "")
    # With a filter only living passages are counted, without it deleted ones too.
    living = Query.all_query() if matching is None else matching
    for term, count in snapshot.searcher.terms_with_prefix("labels", prefix, living):
        yield term.removeprefix(prefix), count
