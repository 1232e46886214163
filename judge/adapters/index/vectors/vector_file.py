"""The vector file: one record for each text, appended, and read through a memory map.

A record is a checksum, the key of the text and its vector, normalised to length 1. The file can
always be rebuilt from the texts, so torn or corrupt records are skipped, and their texts embedded
again. Only the holder of the index's lock may change it. What a reader has mapped is never
truncated or overwritten: records are appended, and any other change writes a new file.
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
MAX_DIMENSIONS = 1 << 16

_HEADER = struct.Struct("<8sII")
"""The magic bytes, the dimensions, and the checksum of both."""

_CHECKED_FROM = 8
"""The checksum covers a record from its key on."""

_COPY_RECORDS = 4096
"""How many records are copied at a time."""

Vectors = npt.NDArray[np.float32]
Records = npt.NDArray[np.void]
Keys = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class VectorTable:
    """The content of the file at one moment; rows in `corrupt` must not be used."""

    records: Records
    keys: Keys
    corrupt: Rows
    stamp: tuple[int, int] = (0, 0)

    @property
    def dimensions(self) -> int:
        """Of each vector; 0 while there is none."""
        return int(self.records["vector"].shape[1])

    def lacks(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """A mask of the *keys* that have no vector here."""
        return ~np.isin(keys, np.delete(self.keys, self.corrupt))

    def similarities(self, vector: Sequence[float]) -> Vectors:
        """The cosine of each row with *vector*; 0 for corrupt rows, or if the dimensions differ."""
        (unit,) = _units([vector])
        if len(unit) != self.dimensions:
            return np.zeros(len(self.keys), dtype=np.float32)
        cosines: Vectors = self.records["vector"] @ unit
        cosines[self.corrupt] = 0.0
        return cosines


class VectorFile:
    """The vectors in the file at *path*, which need not exist; share one object in a process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._table = _empty()

    def table(self) -> VectorTable:
        """The current content, of which only new records are read; raises OSError."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return _empty()
        if self._table.stamp != (status.st_ino, status.st_size):
            self._table = self._read()
        return self._table

    def append(self, vectors: Mapping[int, Sequence[float]]) -> None:
        """Add a vector for each key after the last whole record, and sync it to the disk.

        Raises OSError, and ValueError when lengths differ among *vectors* or from the file.
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

    def compact(self, rows: Rows) -> None:
        """Keep only *rows*, in a new file under the old name; raises OSError."""
        table = self.table()
        parts = (
            rows[start : start + _COPY_RECORDS] for start in range(0, len(rows), _COPY_RECORDS)
        )
        self._write_anew(table.dimensions, (table.records[part] for part in parts))

    def _read(self) -> VectorTable:
        """The file as a table; checks new rows, and old ones from the first corrupt one on."""
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
    """The header of a file of vectors with *dimensions*."""
    return _HEADER.pack(MAGIC, dimensions, zlib.crc32(struct.pack("<8sI", MAGIC, dimensions)))


def parse_header(raw: bytes) -> int:
    """The dimensions in the header *raw*; 0 when it is not a valid header."""
    if len(raw) != _HEADER.size:
        return 0
    _, dimensions, _ = _HEADER.unpack(raw)
    is_ours = 0 < dimensions <= MAX_DIMENSIONS and raw == header(dimensions)
    return int(dimensions) if is_ours else 0


def corrupt_rows(records: Records, since: int = 0) -> list[int]:
    """The rows from *since* on with wrong checksums: torn in a crash, or damaged later."""
    stored = records["checksum"][since:].tolist()
    sums = zip(stored, _checksums(records[since:]), strict=True)
    return [row for row, (expected, actual) in enumerate(sums, since) if expected != actual]


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
    """*vectors* at length 1; a vector without a direction becomes 0, similar to nothing."""
    with np.errstate(all="ignore"):
        raw = np.array(vectors, dtype=np.float32)
        units: Vectors = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    units[~np.isfinite(units).all(axis=1)] = 0.0
    return units


def _layout(dimensions: int) -> np.dtype[np.void]:
    fields = [("checksum", "<u4"), ("unused", "<u4"), ("key", "<i8")]
    return np.dtype([*fields, ("vector", "<f4", (dimensions,))])


def _empty(layout: np.dtype[np.void] | None = None) -> VectorTable:
    """A table without rows; *layout* gives the dimensions if they are known."""
    records = np.empty(0, layout or _layout(0))
    return VectorTable(records, np.empty(0, np.int64), np.empty(0, np.intp))


def _sync(path: Path) -> None:
    """Sync *path*, a file or a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
