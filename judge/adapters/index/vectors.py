"""Hybrid search in the embedded index: words by Tantivy, meaning by an exact scan of vectors.

Tantivy knows which passages exist, which are in scope, and the key of each one's text; a table of
SQLite maps keys to vectors, which are made after the passages were committed. So a passage that was
removed or is out of scope is never found by its old vector.
"""
# ruff: noqa: D102 - judge/ports.py says what each method does

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import tantivy
from tantivy import Query

from judge.adapters.index.stored import TOP_HITS, WORDS_ONLY, embedded_text, fused
from judge.adapters.index.tantivy.index import TantivyIndex, translated_errors
from judge.adapters.index.tantivy.snapshot import Snapshot
from judge.errors import EmbedderUnavailable, IndexUnavailable
from judge.ports import Embedder, Journal
from judge.types.search import Scope, SearchQuery, SearchResults

BATCH_TEXTS = 96
"""Texts embedded and stored at a time: one request to either service."""

Keys = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float32]


class VectorFile:
    """The vectors at *path*, which need not exist; its methods raise IndexUnavailable."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stamp = (0, 0)
        self._table: tuple[Keys, Matrix] = (np.zeros(0, np.int64), np.zeros((0, 0), np.float32))

    def table(self) -> tuple[Keys, Matrix]:
        """All keys, sorted, and a row of length 1 for each; read again only after a change."""
        if not self.path.exists():
            return np.zeros(0, np.int64), np.zeros((0, 0), np.float32)
        status = self.path.stat()
        stamp = (status.st_size, status.st_mtime_ns)
        if self._stamp != stamp:
            with self._open() as database:
                found = database.execute("SELECT key, vector FROM vectors ORDER BY key").fetchall()
            keys = np.array([key for key, _ in found], dtype=np.int64)
            numbers = np.frombuffer(b"".join(vector for _, vector in found), dtype=np.float32)
            self._table = keys, numbers.reshape(len(found), -1 if found else 0)
            self._stamp = stamp
        return self._table

    def similarities(self, vector: Sequence[float], keys: Keys) -> Matrix:
        """The cosine of *vector* with each vector in *keys*; 0 without one of its length."""
        known, rows = self.table()
        result = np.zeros(len(keys), dtype=np.float32)
        (unit,) = _units([vector])
        if rows.shape[1] == len(unit):
            has_vector = np.isin(keys, known)
            result[has_vector] = (rows @ unit)[np.searchsorted(known, keys[has_vector])]
        return result

    def add(self, vectors: Mapping[int, Sequence[float]]) -> None:
        """Store a vector for each key; raises ValueError when lengths differ, or from the file."""
        units = _units(list(vectors.values()))
        kept = self.table()[1].shape[1]
        if kept and units.shape[1] != kept:
            raise ValueError(f"vectors of {units.shape[1]} numbers where {kept} are kept")
        rows = [(key, unit.tobytes()) for key, unit in zip(vectors, units, strict=True)]
        with self._open() as database:
            database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    def keep_only(self, keys: Keys) -> None:
        """Remove the vectors of all other keys, and the files of other embedders."""
        known, _ = self.table()
        if unused := known[~np.isin(known, keys)].tolist():
            with self._open() as database:
                database.executemany("DELETE FROM vectors WHERE key = ?", zip(unused, strict=True))
        for other in self.path.parent.glob("*.v*"):
            if other != self.path:
                other.unlink(missing_ok=True)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is committed unless the block raises."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path)) as database, database:
                database.execute(
                    "CREATE TABLE IF NOT EXISTS vectors (key INTEGER PRIMARY KEY, vector BLOB)"
                )
                yield database
        except (sqlite3.Error, OSError) as error:
            raise IndexUnavailable(
                f"The vectors cannot be kept: {self.path.name}: {error}. If the file is damaged, "
                "delete it: `judge index add` makes it again."
            ) from error


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
        return self.embedder.name

    async def missing(self) -> int:
        return len(await asyncio.to_thread(self._missing))

    async def complete(self, advance: Callable[[int], None]) -> None:
        """See `VectorStorage.complete`; a failure is noted in the journal as well.

        Vectors without a passage, and those of other embedders, are dropped.
        """
        missing = await asyncio.to_thread(self._missing)
        for start in range(0, len(missing), BATCH_TEXTS):
            keys, texts = zip(*missing[start : start + BATCH_TEXTS], strict=True)
            try:
                vectors = await self.embedder.embed_passages(texts)
                await asyncio.to_thread(self.file.add, dict(zip(keys, vectors, strict=True)))
            except (EmbedderUnavailable, TypeError, ValueError) as error:
                self.journal.note("search.embedder_failed", reason=str(error))
                if isinstance(error, EmbedderUnavailable):
                    raise
                raise EmbedderUnavailable(f"{self.name}: unusable vectors ({error}).") from error
            advance(len(texts))
        if snapshot := self.text.snapshot():
            _, used = await asyncio.to_thread(_keyed, snapshot, Query.all_query())
            await asyncio.to_thread(self.file.keep_only, used)

    async def search(
        self, query: SearchQuery, scope: Scope, *, limit: int, offset: int = 0
    ) -> SearchResults:
        snapshot = self.text.snapshot()
        if query.is_empty or snapshot is None:
            return SearchResults()
        try:
            has_vectors = (await asyncio.to_thread(self.file.table))[0].size
            vector = await self.embedder.embed_query(query.text) if has_vectors else None
            reason = f"there are no vectors of {self.name}. `judge index add` makes them."
        except (EmbedderUnavailable, IndexUnavailable) as error:
            vector, reason = None, str(error)
        if vector is None:
            results = await self.text.search(query, scope, limit=limit, offset=offset)
            return replace(results, warnings=(WORDS_ONLY.format(reason=reason),))
        page = slice(offset, offset + limit)
        return await asyncio.to_thread(self._search, snapshot, query, scope, vector, page)

    def _search(
        self,
        snapshot: Snapshot,
        query: SearchQuery,
        scope: Scope,
        vector: list[float],
        page: slice,
    ) -> SearchResults:
        with translated_errors():
            plan = snapshot.plan(query, scope)
            addresses, keys = _keyed(snapshot, plan.allowed)
            similarities = self.file.similarities(vector, keys)
            near = [
                snapshot.passage(addresses[at])
                for at in np.argsort(-similarities, kind="stable")[:TOP_HITS]
                if similarities[at] >= self.embedder.min_similarity
            ]
            # Up to TOP_HITS of the later hits may be near, and so stand higher up.
            text = snapshot.run(plan, page.stop + TOP_HITS)
            total = len(near)
            if text.total:
                near_ids = snapshot.labelled("id", [passage.id for passage in near])
                total += snapshot.count(plan.query.and_must_not_match(near_ids))
        return SearchResults(fused(text.hits, near)[page], total)

    def _missing(self) -> list[tuple[int, str]]:
        """The key and the text of each passage without a vector."""
        snapshot = self.text.snapshot()
        if snapshot is None:
            return []
        addresses, keys = _keyed(snapshot, Query.all_query())
        lacking = np.flatnonzero(~np.isin(keys, self.file.table()[0]))
        texts = [embedded_text(snapshot.passage(addresses[at])) for at in lacking]
        return list(zip(keys[lacking].tolist(), texts, strict=True))


def _keyed(snapshot: Snapshot, matching: Query) -> tuple[list[tantivy.DocAddress], Keys]:
    """The passages that match *matching*, and the keys of their texts."""
    addresses = [address for _, address in snapshot.hits(matching)]
    keys = snapshot.searcher.fast_field_values("text_key", addresses)
    return addresses, np.array(keys, dtype=np.int64)


def _units(vectors: Sequence[Sequence[float]]) -> Matrix:
    """*vectors* at length 1; a vector without a direction becomes 0, similar to nothing."""
    with np.errstate(all="ignore"):
        raw = np.array(vectors, dtype=np.float32)
        units: Matrix = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    units[~np.isfinite(units).all(axis=1)] = 0.0
    return units
