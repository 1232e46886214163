"""The embedded index: Tantivy in a folder, read by any number of processes.

Readers check the folder's `meta.json` before each search, so that they see a commit of any process
at once and without a restart. `writer.py` changes the index.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar

import tantivy
from tantivy import Query

from judge.adapters.index.stored import UNUSED_VECTORS, WORDS_ONLY
from judge.adapters.index.tantivy.queries import (
    QueryBuilder,
    QueryPlan,
    count_of,
    label_query,
    scope_query,
)
from judge.adapters.index.tantivy.schema import (
    VERSION,
    LabelKind,
    label,
    open_index,
    to_passage,
    to_record,
)
from judge.errors import IndexUnavailable
from judge.ports import NameKind
from judge.text.ranking import PROOF
from judge.types.search import (
    EVERYWHERE,
    CollectionStats,
    Hit,
    IndexedDocument,
    Passage,
    Scope,
    SearchQuery,
    SearchResults,
    fold_name,
)

IF_FULL = " If the disk is full, make room and do the same again: nothing that was kept is lost."

IF_DAMAGED = (
    f" If its files are damaged, delete the folder index-v{VERSION} in JUDGE_DATA_DIR and run "
    "`judge index add` on your documents again."
)

_LABEL_OF: dict[str, LabelKind] = {"document": "document", "folder": "below", "tag": "tag"}
_Item = TypeVar("_Item")
_Ranking = list[tuple[float, tantivy.DocAddress]]


VECTORS = "vectors"
"""The folder of the vectors beside the index, if there are any."""


def index_folder(data_dir: Path) -> Path:
    """The folder of the index of this VERSION."""
    return data_dir / f"index-v{VERSION}"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The index as of one commit; `stamp` identifies the commit."""

    index: tantivy.Index
    searcher: tantivy.Searcher
    stamp: tuple[int, int]

    @property
    def schema(self) -> tantivy.Schema:
        """The fields of the index."""
        return self.index.schema

    def builder(self, query: SearchQuery) -> QueryBuilder:
        """A builder of queries for *query*."""
        return QueryBuilder(self.schema, self.searcher, query.idf_scope)


class TantivyIndex:
    """Searches the index in *data_dir*, which need not exist yet; safe for threads."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._meta = index_folder(data_dir) / "meta.json"
        self._snapshot: Snapshot | None = None

    async def search(
        self, query: SearchQuery, scope: Scope, *, limit: int, offset: int = 0
    ) -> SearchResults:
        """See `SearchIndex.search`; vectors that were made and are not used are a warning."""
        if query.is_empty:
            return SearchResults()
        vectors = next((self._data_dir / VECTORS).glob("*.v*"), None)
        reason = UNUSED_VECTORS.format(name=vectors.stem) if vectors else ""
        warnings = (WORDS_ONLY.format(reason=reason),) if reason else ()

        def run(snapshot: Snapshot) -> list[SearchResults]:
            plan = snapshot.builder(query).build(query, scope)
            return [run_plan(snapshot, plan, limit, offset)]

        results = next(iter(await self._read(run)), SearchResults())
        return replace(results, warnings=warnings)

    async def around(
        self, passage_id: str, *, before: int = 0, after: int = 0
    ) -> tuple[Passage, ...]:
        """See `Catalogue.around`."""
        document, _, position = passage_id.rpartition(":")
        if not (position.isascii() and position.isdecimal()):
            return ()
        positions = range(max(0, int(position) - before), int(position) + after + 1)
        ids = [f"{document}:{number}" for number in positions]

        def load(snapshot: Snapshot) -> list[Passage]:
            query = label_query(snapshot.schema, "id", ids)
            hits = snapshot.searcher.search(query, limit=len(ids), count=False).hits
            return [hit.passage for hit in _load(snapshot, hits)]

        passages = await self._read(load)
        is_there = any(fold_name(passage.id) == fold_name(passage_id) for passage in passages)
        return tuple(sorted(passages, key=lambda p: p.position)) if is_there else ()

    async def ping(self) -> None:
        """See `Catalogue.ping`."""
        self.snapshot()

    async def collections(self) -> tuple[CollectionStats, ...]:
        """See `Catalogue.collections`."""
        return await self._read(_collections)

    async def documents(self, collection: str) -> tuple[IndexedDocument, ...]:
        """See `Catalogue.documents`; none if the index has another version, since it is rebuilt."""
        if not self._meta.exists():
            return ()
        return await self._read(lambda snapshot: _documents(snapshot, collection))

    async def names(self, kind: NameKind, scope: Scope = EVERYWHERE) -> tuple[str, ...]:
        """See `Catalogue.names`."""
        return await self._read(lambda snapshot: _names(snapshot, kind, scope))

    async def contains(self, scope: Scope) -> bool:
        """See `Catalogue.contains`."""

        def first_hit(snapshot: Snapshot) -> _Ranking:
            matching = scope_query(snapshot.schema, scope)
            return snapshot.searcher.search(matching, limit=1, count=False).hits

        return bool(await self._read(first_hit))

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

    async def _read(self, read: Callable[[Snapshot], Iterable[_Item]]) -> tuple[_Item, ...]:
        """What *read* returns for the latest commit; runs on a thread, since it may be much."""

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
    """The hits of *plan* from *offset* on, best first; none if none is relevant."""
    search = snapshot.searcher.search
    if plan.proof:
        best = search(plan.proof, 1, count=False).hits
        if not best or best[0][0] < PROOF:
            return SearchResults()
    # Tantivy allocates memory for as many hits: not more than there are passages.
    most = min(offset + limit, max(1, snapshot.searcher.num_docs))
    result = search(plan.query, most)
    return SearchResults(_load(snapshot, result.hits[offset:]), count_of(result))


def passages_with_ids(snapshot: Snapshot, passages: Iterable[Passage]) -> Query:
    """A filter for *passages*, which adds nothing to scores."""
    ids = label_query(snapshot.schema, "id", [passage.id for passage in passages])
    return Query.const_score_query(ids, 0.0)


def _load(snapshot: Snapshot, hits: _Ranking) -> tuple[Hit, ...]:
    """*hits* with their passages."""
    return tuple(Hit(to_passage(snapshot.searcher.doc(at)), score) for score, at in hits)


def _collections(snapshot: Snapshot) -> Iterator[CollectionStats]:
    firsts = label_query(snapshot.schema, "first", [""])
    documents = dict(_label_counts(snapshot, "collection", firsts))
    for name, count in sorted(_label_counts(snapshot, "collection", Query.all_query())):
        passages = Query.const_score_query(label_query(snapshot.schema, "collection", [name]), 0)
        ((_, address),) = snapshot.searcher.search(passages, limit=1, count=False).hits
        spelling = to_passage(snapshot.searcher.doc(address)).collection
        yield CollectionStats(spelling, documents.get(name, 0), count)


def _documents(snapshot: Snapshot, collection: str) -> list[IndexedDocument]:
    searcher = snapshot.searcher
    firsts = label_query(snapshot.schema, "first", [""])
    query = label_query(snapshot.schema, "collection", [collection]).and_must_match(firsts)
    hits = searcher.search(query, limit=max(1, searcher.num_docs), count=False).hits
    records = [to_record(searcher.doc(address)) for _, address in hits]
    return sorted(records, key=lambda record: record.path)


def _names(snapshot: Snapshot, kind: NameKind, scope: Scope) -> list[str]:
    matching = scope_query(snapshot.schema, scope)
    counts = _label_counts(snapshot, _LABEL_OF[kind], matching)
    return sorted(name for name, count in counts if count)


def _label_counts(
    snapshot: Snapshot, kind: LabelKind, matching: Query
) -> Iterator[tuple[str, int]]:
    """The values of a kind of label, each with the number of *matching* passages that have it.

    Without a filter Tantivy would count deleted passages too.
    """
    prefix = label(kind, "")
    for term, count in snapshot.searcher.terms_with_prefix("labels", prefix, matching):
        yield term.removeprefix(prefix), count
