"""Which of the graph's files may be trusted to be as they were: stat first, hash on mismatch."""

from typing import NamedTuple

from judge.codegraph.errors import GraphMissing
from judge.codegraph.repository import FileStat, Repository
from judge.codegraph.store import BUILDER, SETTINGS, Artifact, FileRecord, decode_artifact

#: A file written this shortly before the graph may have been written again in the same tick of
#: the file system's clock; such files are hashed. Two seconds cover every file system in use.
RACY_NS = 2_000_000_000


class RecordedFiles(NamedTuple):
    """The files as the last build saw them, and when it wrote the graph."""

    by_path: dict[str, FileRecord]
    written_ns: int

    @classmethod
    def of(cls, repository: Repository) -> "RecordedFiles":
        """What the graph of *repository* records; nothing when there is none that we can use."""
        try:
            content, written_ns = repository.graph()
            artifact = decode_artifact(content)
        except GraphMissing:
            return cls({}, 0)
        return cls.from_artifact(artifact, written_ns) if is_ours(artifact) else cls({}, 0)

    @classmethod
    def from_artifact(cls, artifact: Artifact, written_ns: int) -> "RecordedFiles":
        """What *artifact*, written at *written_ns*, records."""
        return cls({file.path: file for file in artifact.files}, written_ns)

    def unchanged(self, path: str, known: FileStat) -> FileRecord | None:
        """The record of a file that is plainly the same by size and time; else None."""
        record = self.by_path.get(path)
        if record is None or (record.size, record.mtime_ns) != known:
            return None
        return None if known.mtime_ns > self.written_ns - RACY_NS else record


def is_ours(artifact: Artifact) -> bool:
    """Whether this very builder, with these settings, wrote the graph."""
    return artifact.builder == BUILDER and artifact.settings == SETTINGS
