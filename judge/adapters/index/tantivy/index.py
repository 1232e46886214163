"""The embedded index: Tantivy in a folder, read by any number of processes.

Readers check the folder's `meta.json` before each search, so that they see a commit of any process
at once and without a restart. `snapshot.py` searches one commit, `writer.py` changes the index.
"""
# ruff: noqa: D102 - judge/ports.py says what each method does

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeVar

from tantivy import Query

from judge.adapters.index.stored import neighbours, query_vector, window
from judge.adapters.index.tantivy.schema import VERSION, LabelKind
from judge.adapters.index.tantivy.snapshot import Snapshot
from judge.errors import IndexUnavailable
from judge.ports import NameKind
from judge.types.search import (
    EVERYWHERE,
    CollectionStats,
    IndexedDocument,
    Passage,
    Scope,
    SearchQuery,
    SearchResults,
)

VECTORS = "vectors"
"""The folder of the vectors beside the index, if there are any."""

_LABEL_OF: dict[str, LabelKind] = {"document": "document", "folder": "below", "tag": "tag"}
T = TypeVar("T")


def index_folder(data_dir: Path) -> Path:
    """The folder of the index of this VERSION."""
    return data_dir / f"index-v{VERSION}"


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
        kept = [file.stem for file in (self._data_dir / VECTORS).glob("*.v*")][:1]
        _, warnings = await query_vector(None, query, kept)
        results = await self._read(
            lambda snapshot: snapshot.run(snapshot.plan(query, scope), limit, offset),
            SearchResults(),
        )
        return replace(results, warnings=warnings)

    async def window(
        self, passage_id: str, *, before: int = 0, after: int = 0
    ) -> tuple[Passage, ...]:
        ids = neighbours(passage_id, before, after)

        def read(snapshot: Snapshot) -> tuple[Passage, ...]:
            hits = snapshot.hits(snapshot.labelled("id", ids))
            return window(passage_id, [snapshot.passage(address) for _, address in hits])

        return await self._read(read, ())

    async def collections(self) -> tuple[CollectionStats, ...]:

        def read(snapshot: Snapshot) -> tuple[CollectionStats, ...]:
            firsts = snapshot.labelled("first", [""])
            documents = snapshot.label_counts("collection", firsts)
            passages = snapshot.label_counts("collection", Query.all_query())
            return tuple(
                CollectionStats(_spelling(snapshot, name), documents.get(name, 0), passages[name])
                for name in sorted(passages)
            )

        return await self._read(read, ())

    async def documents(self, collection: str) -> tuple[IndexedDocument, ...]:
        """See `Catalogue.documents`; none if the index has another version, since it is rebuilt."""
        if not self._meta.exists():
            return ()

        def read(snapshot: Snapshot) -> tuple[IndexedDocument, ...]:
            firsts = snapshot.labelled("first", [""])
            of_collection = snapshot.labelled("collection", [collection])
            records = snapshot.records(of_collection.and_must_match(firsts))
            return tuple(sorted(records, key=lambda record: record.path))

        return await self._read(read, ())

    async def names(self, kind: NameKind, scope: Scope = EVERYWHERE) -> tuple[str, ...]:
        return await self._read(
            lambda found: tuple(sorted(found.label_counts(_LABEL_OF[kind], found.scope(scope)))), ()
        )

    async def contains(self, scope: Scope) -> bool:
        return await self._read(lambda found: bool(found.hits(found.scope(scope), 1)), False)

    def snapshot(self) -> Snapshot | None:
        """The latest commit; None when nothing was ever indexed. Raises IndexUnavailable."""
        with translated_errors():
            try:
                status = self._meta.stat()
            except FileNotFoundError:
                others = [path.name for path in self._data_dir.glob("index-v*") if path.is_dir()]
                if others and self._meta.parent.name not in others:
                    raise IndexUnavailable(
                        f"The index in {self._data_dir} ({others[0]}) was made by another version "
                        "of Judge. Run `judge index add` on your documents again; it makes a new "
                        "one and removes the old."
                    ) from None
                return None
            stamp = (status.st_ino, status.st_mtime_ns)
            if self._snapshot is None or self._snapshot.stamp != stamp:
                # Not `reload`, which takes a new file for an old one of the same name.
                self._snapshot = Snapshot(str(self._meta.parent), stamp)
            return self._snapshot

    async def _read(self, read: Callable[[Snapshot], T], nothing: T) -> T:
        """What *read* returns for the latest commit; runs on a thread, since it may be much."""

        def read_snapshot() -> T:
            snapshot = self.snapshot()
            with translated_errors():
                return read(snapshot) if snapshot else nothing

        return await asyncio.to_thread(read_snapshot)


@contextmanager
def translated_errors(doing: Literal["read", "written"] = "read") -> Iterator[None]:
    """Turn errors of Tantivy and of the file system into IndexUnavailable."""
    try:
        yield
    except (OSError, ValueError, RuntimeError) as error:
        hint = ""
        if doing == "written":
            hint = " If the disk is full, make room and try again: nothing that was kept is lost."
        if isinstance(error, ValueError):
            hint += (
                f" If its files are damaged, delete the folder index-v{VERSION} in JUDGE_DATA_DIR "
                "and run `judge index add` on your documents again."
            )
        raise IndexUnavailable(f"The search index cannot be {doing}: {error}{hint}") from error


def _spelling(snapshot: Snapshot, collection: str) -> str:
    passages = Query.const_score_query(snapshot.labelled("collection", [collection]), 0.0)
    [(_, address)] = snapshot.hits(passages, 1)
    return snapshot.passage(address).collection
