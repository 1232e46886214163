"""The file of vectors: a record for each text, appended, and read through a memory map.

A record is a checksum, the key of the text and its vector, of length 1. The file can always be
made again from the texts, so what is torn or corrupt in it is passed over, and embedded anew. Only
the holder of the index's lock may change it. Nothing that a reader has mapped is ever cut off or
written over: records are added at the end, and whatever else changes makes a new file.
"""

import os
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

MAGIC = b"judgevec"
MOST_DIMENSIONS = 1 << 16

_HEADER = struct.Struct("<8sII")
"""The magic word, the dimensions, and the checksum of both."""

_CHECKED_FROM = 8
"""The checksum covers a record from its key on."""

_PART = 4096
"""Records that are copied at a time."""

Vectors = npt.NDArray[np.float32]
Records = npt.NDArray[np.void]
Keys = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class VectorTable:
    """What the file held at one moment; rows in `corrupt` are not to be trusted."""

    records: Records
    keys: Keys
    corrupt: Rows
    stamp: tuple[int, int] = (0, 0)

    @property
    def dimensions(self) -> int:
        """Of each vector; 0 as long as there is none."""
        return int(self.records["vector"].shape[1])

    def lacks(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """Which of *keys* have no vector here."""
        return ~np.isin(keys, np.delete(self.keys, self.corrupt))

    def similarities(self, vector: Sequence[float]) -> Vectors:
        """The cosine of each row with *vector*; 0 for rows that are corrupt, or of other length."""
        (unit,) = _units([vector])
        if len(unit) != self.dimensions:
            return np.zeros(len(self.keys), dtype=np.float32)
        cosines: Vectors = self.records["vector"] @ unit
        cosines[self.corrupt] = 0.0
        return cosines


class VectorFile:
    """The vectors in the file at *path*, which need not be there; one object serves a process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._table = _empty()

    def table(self) -> VectorTable:
        """The file as it is now; raises OSError. Only what was added since is read."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return _empty()
        if self._table.stamp != (status.st_ino, status.st_size):
            self._table = self._read()
        return self._table

    def append(self, vectors: Mapping[int, Sequence[float]]) -> None:
        """Add a vector for each key, behind the last whole record; it will survive a crash.

        Raises ValueError when they differ in length from one another or from those in the file,
        and OSError.
        """
        if not vectors:
            return
        added = _records(vectors)
        table = self.table()
        length = added["vector"].shape[1]
        if not table.dimensions:
            self._write_anew(length, [added])
            return
        if length != table.dimensions:
            raise ValueError(f"vectors of {length} numbers where {table.dimensions} are kept")
        with self.path.open("r+b") as file:
            end = _HEADER.size + len(table.records) * added.dtype.itemsize
            file.truncate(end)
            file.seek(end)
            file.write(added.tobytes())
            file.flush()
            os.fsync(file.fileno())

    def keep(self, rows: Rows) -> None:
        """Leave only *rows*, in a new file under the old name; raises OSError."""
        table = self.table()
        parts = (rows[start : start + _PART] for start in range(0, len(rows), _PART))
        self._write_anew(table.dimensions, (table.records[part] for part in parts))

    def _read(self) -> VectorTable:
        """The file as a table; of rows known before, only the corrupt are read again."""
        with self.path.open("rb") as file:
            status = os.fstat(file.fileno())
            layout = _layout(parse_header(file.read(_HEADER.size)))
            count = (status.st_size - _HEADER.size) // layout.itemsize
            if count <= 0 or not layout["vector"].shape[0]:
                return _empty(layout)
            records: Records = np.memmap(file, layout, "r", _HEADER.size, (count,))
        before = self._table if self._table.stamp[0] == status.st_ino else _empty()
        since = min(int(before.corrupt[0]) if before.corrupt.size else len(before.keys), count)
        corrupt = np.array(corrupt_rows(records, since), dtype=np.intp)
        keys = np.concatenate([before.keys[:since], records["key"][since:]])
        return VectorTable(records, keys, corrupt, (status.st_ino, status.st_size))

    def _write_anew(self, dimensions: int, parts: Iterable[Records]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_name(f"{self.path.name}.new")
        with new.open("wb") as file:
            file.write(header(dimensions))
            for part in parts:
                file.write(part.tobytes())
        _sync(new)
        new.replace(self.path)
        _sync(self.path.parent)


def header(dimensions: int) -> bytes:
    """What a file of vectors of so many *dimensions* begins with."""
    return _HEADER.pack(MAGIC, dimensions, zlib.crc32(struct.pack("<8sI", MAGIC, dimensions)))


def parse_header(raw: bytes) -> int:
    """The dimensions that *raw* names; 0 when it is no header of ours."""
    if len(raw) != _HEADER.size:
        return 0
    _, dimensions, _ = _HEADER.unpack(raw)
    is_ours = 0 < dimensions <= MOST_DIMENSIONS and raw == header(dimensions)
    return int(dimensions) if is_ours else 0


def corrupt_rows(records: Records, since: int = 0) -> list[int]:
    """The rows from *since* on whose checksums are wrong: torn at a crash, or damaged later."""
    stored = records["checksum"][since:].tolist()
    sums = zip(stored, _checksums(records[since:]), strict=True)
    return [row for row, (one, other) in enumerate(sums, since) if one != other]


def _checksums(records: Records) -> list[int]:
    size = records.dtype.itemsize
    raw = np.asarray(records).view(np.uint8).data
    return [
        zlib.crc32(raw[start + _CHECKED_FROM : start + size]) for start in range(0, len(raw), size)
    ]


def _records(vectors: Mapping[int, Sequence[float]]) -> Records:
    units = _units(list(vectors.values()))
    records = np.zeros(len(vectors), _layout(units.shape[1]))
    records["key"] = list(vectors)
    records["vector"] = units
    records["checksum"] = _checksums(records)
    return records


def _units(vectors: Sequence[Sequence[float]]) -> Vectors:
    """*vectors* at length 1; what has no direction becomes 0, which is like nothing."""
    with np.errstate(all="ignore"):
        given = np.array(vectors, dtype=np.float32)
        lengths = np.linalg.norm(given, axis=1, keepdims=True)
        units: Vectors = given / lengths
    units[~np.isfinite(units).all(axis=1)] = 0.0
    return units


def _layout(dimensions: int) -> np.dtype[np.void]:
    fields = [("checksum", "<u4"), ("unused", "<u4"), ("key", "<i8")]
    return np.dtype([*fields, ("vector", "<f4", (dimensions,))])


def _empty(layout: np.dtype[np.void] | None = None) -> VectorTable:
    """A table without rows; its *layout* tells the dimensions if they are known."""
    records = np.empty(0, layout or _layout(0))
    return VectorTable(records, np.empty(0, np.int64), np.empty(0, np.intp))


def _sync(path: Path) -> None:
    """Have *path*, a file or a folder, on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
