"""Is the graph still that of the files? Stat first, hash on mismatch, asked at every query."""

from collections.abc import Callable

from judge.codegraph.models import Freshness, Staleness
from judge.codegraph.repository import FileStat
from judge.codegraph.store import FileRecord
from judge.codegraph.trust import RecordedFiles


def compare(
    recorded: RecordedFiles,
    files: dict[str, FileStat] | None,
    hash_of: Callable[[str], str | None],
    *,
    same_builder: bool,
) -> tuple[Freshness, Staleness]:
    """FRESH when files, hashes, builder and settings match; STALE says which do not.

    UNKNOWN when *files* could not be listed, or a file that may have changed cannot be read.
    """
    if files is None:
        return "UNKNOWN", Staleness(reason="The files of the repository cannot be listed.")
    changed = []
    for path in files.keys() & recorded.by_path.keys():
        if recorded.unchanged(path, files[path]) is not None:
            continue
        verdict = _is_same(recorded.by_path[path], files[path], hash_of)
        if verdict is None:
            return "UNKNOWN", Staleness(reason=f"{path} cannot be read.")
        if not verdict:
            changed.append(path)
    staleness = Staleness(
        changed=tuple(sorted(changed)),
        added=tuple(sorted(files.keys() - recorded.by_path.keys())),
        deleted=tuple(sorted(recorded.by_path.keys() - files.keys())),
        reason=None if same_builder else "Another version of the builder wrote the graph.",
    )
    return ("STALE" if staleness else "FRESH"), staleness


def _is_same(
    record: FileRecord, known: FileStat, hash_of: Callable[[str], str | None]
) -> bool | None:
    if record.size != known.size:
        return False
    if record.status in ("too-large", "unreadable"):
        return record.mtime_ns == known.mtime_ns
    found = hash_of(record.path)
    return None if found is None else found == record.hash
