"""The vectors of one embedder: a SQLite file that maps the key of a text to its vector.

SQLite makes every change atomic, for readers in other processes too. The file can always be made
again from the texts.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class VectorTable:
    """The content of the file at one moment: `keys`, sorted, and for each a row of length 1."""

    keys: Keys
    rows: Matrix

    def lacks(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """A mask of the *keys* that have no vector here."""
        return ~np.isin(keys, self.keys)

    def similarities(self, vector: Sequence[float], keys: Keys) -> Matrix:
        """The cosine of *vector* with that of each of *keys*; 0 where there is none.

        Also 0 if the dimensions differ.
        """
        (unit,) = _units([vector])
        result = np.zeros(len(keys), dtype=np.float32)
        if self.rows.shape[1] != len(unit):
            return result
        is_known = ~self.lacks(keys)
        result[is_known] = (self.rows @ unit)[np.searchsorted(self.keys, keys[is_known])]
        return result


class VectorFile:
    """The vectors in the file at *path*, which need not exist; share one object in a process.

    Every method raises OSError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[tuple[int, int, int], VectorTable] | None = None

    def table(self) -> VectorTable:
        """The current content, which is read again only after a change."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return _table([])
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
        if self._read is None or self._read[0] != stamp:
            with self._open() as database:
                found = database.execute("SELECT key, vector FROM vectors ORDER BY key").fetchall()
            self._read = (stamp, _table(found))
        return self._read[1]

    def add(self, vectors: Mapping[int, Sequence[float]]) -> None:
        """Store a vector for each key; raises ValueError when lengths differ, or from the file."""
        units = _units(list(vectors.values()))
        kept = self.table().rows.shape[1]
        if kept and units.shape[1] != kept:
            raise ValueError(f"vectors of {units.shape[1]} numbers where {kept} are kept")
        rows = [(key, unit.tobytes()) for key, unit in zip(vectors, units, strict=True)]
        with self._open() as database:
            database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)

    def keep_only(self, keys: Keys) -> None:
        """Remove the vectors of all other keys, and the files of other embedders."""
        for other in self.path.parent.glob("*.v*"):
            if other != self.path:
                other.unlink()
        table = self.table()
        unused = table.keys[~np.isin(table.keys, keys)].tolist()
        if unused:
            with self._open() as database:
                database.executemany("DELETE FROM vectors WHERE key = ?", zip(unused, strict=True))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is committed unless the block raises."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with closing(sqlite3.connect(self.path)) as database, database:
                database.execute(
                    "CREATE TABLE IF NOT EXISTS vectors (key INTEGER PRIMARY KEY, vector BLOB)"
                )
                yield database
        except sqlite3.Error as error:
            raise OSError(0, f"{self.path.name}: {error}") from error


def _table(rows: Sequence[tuple[int, bytes]]) -> VectorTable:
    keys = np.array([key for key, _ in rows], dtype=np.int64)
    numbers = np.frombuffer(b"".join(vector for _, vector in rows), dtype=np.float32)
    return VectorTable(keys, numbers.reshape(len(rows), -1) if rows else numbers.reshape(0, 0))


def _units(vectors: Sequence[Sequence[float]]) -> Matrix:
    """*vectors* at length 1; a vector without a direction becomes 0, similar to nothing."""
    with np.errstate(all="ignore"):
        raw = np.array(vectors, dtype=np.float32)
        units: Matrix = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    units[~np.isfinite(units).all(axis=1)] = 0.0
    return units
