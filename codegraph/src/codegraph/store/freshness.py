"""Is the graph up to date? Each query compares sizes and times, and hashes where they differ."""

from collections.abc import Callable
from typing import NamedTuple

from codegraph.models import FileStat, Freshness, Staleness
from codegraph.store.artifact import BUILDER, SETTINGS, Artifact, FileRecord

#: A file written this shortly before the graph may have been written again in the same tick of
#: the file system's clock, so it is hashed. Two seconds cover every file system in use.
RACY_NS = 2_000_000_000


class RecordedFiles(NamedTuple):
    """The files as the last build saw them, and when it wrote the graph."""

    by_path: dict[str, FileRecord]
    written_ns: int

    @classmethod
    def from_artifact(cls, artifact: Artifact, written_ns: int) -> "RecordedFiles":
        """The files that *artifact*, written at *written_ns*, records."""
        return cls({file.path: file for file in artifact.files}, written_ns)

    def unchanged(self, path: str, stat: FileStat) -> FileRecord | None:
        """The record of a file whose size and time prove that it is the same; else None."""
        record = self.by_path.get(path)
        if record is None or (record.size, record.mtime_ns) != stat:
            return None
        return None if stat.mtime_ns > self.written_ns - RACY_NS else record


def is_current(artifact: Artifact) -> bool:
    """Whether the builder of this version, with these settings, wrote the graph."""
    return artifact.builder == BUILDER and artifact.settings == SETTINGS


def compare(
    recorded: RecordedFiles,
    files: dict[str, FileStat] | None,
    hash_of: Callable[[str], str | None],
    *,
    same_builder: bool,
) -> tuple[Freshness, Staleness]:
    """FRESH when files, hashes, builder and settings match; STALE with the differences.

    UNKNOWN when *files* could not be listed, or a file that may have changed cannot be read.
    """
    if files is None:
        return "UNKNOWN", Staleness(reason="The files of the repository cannot be listed.")
    changed = []
    for path in files.keys() & recorded.by_path.keys():
        if recorded.unchanged(path, files[path]) is not None:
            continue
        is_same = _is_same(recorded.by_path[path], files[path], hash_of)
        if is_same is None:
            return "UNKNOWN", Staleness(reason=f"{path} cannot be read.")
        if not is_same:
            changed.append(path)
    staleness = Staleness(
        changed=tuple(sorted(changed)),
        added=tuple(sorted(files.keys() - recorded.by_path.keys())),
        deleted=tuple(sorted(recorded.by_path.keys() - files.keys())),
        reason=None if same_builder else "Another version of the builder wrote the graph.",
    )
    return ("STALE" if staleness else "FRESH"), staleness


def _is_same(
    record: FileRecord, stat: FileStat, hash_of: Callable[[str], str | None]
) -> bool | None:
    """Whether a file is the same as recorded; None when it cannot be read."""
    if record.size != stat.size:
        return False
    if record.status in ("too-large", "unreadable"):
        return record.mtime_ns == stat.mtime_ns
    current = hash_of(record.path)
    return None if current is None else current == record.hash
