"""The graph and the build cache as bytes, and whether the graph is up to date.

`rag_graph.json` is public. Nodes and edges are arrays, file by file in the order of the parsed
files. Each query compares sizes and times with it, and hashes where they differ.
"""

import sys
from collections.abc import Callable

import msgspec

from codegraph.errors import GraphMissing
from codegraph.facts import FACTS_VERSION
from codegraph.models import FileStat, Freshness, Part, Staleness
from codegraph.source_text import content_hash
from codegraph.store.repository import MAX_FILE_BYTES

#: Raised when the same facts give another graph, and when the graph's format changes.
LINKER_VERSION = 16
GRAPH_VERSION = 4

#: With Python's version, since that decides which syntax can be parsed.
BUILDER = (
    f"{GRAPH_VERSION}.{FACTS_VERSION}.{LINKER_VERSION}"
    f"+python{sys.version_info.major}.{sys.version_info.minor}"
)
SETTINGS: dict[str, int] = {"max_file_bytes": MAX_FILE_BYTES}

#: A file written this shortly before the graph may have been written again in the same tick of
#: the file system's clock, so it is hashed. Two seconds cover every file system in use.
RACY_NS = 2_000_000_000

BROKEN = "The code graph cannot be read. Make it again with: judge code build-graph"


class FileRecord(msgspec.Struct, frozen=True):
    """A file of the graph; *status* says how it was read.

    `parsed`, `text` (another language), `syntax-error`, `binary`, `too-large` or `unreadable`;
    the first has nodes and edges, the next two are searched as text, the rest are only listed.
    """

    path: str
    lang: str
    hash: str
    size: int
    mtime_ns: int
    status: str

    def is_unchanged(self, stat: FileStat, written_ns: int) -> bool:
        """Whether size and time prove that the file is as recorded in what was written then."""
        is_settled = stat.mtime_ns <= written_ns - RACY_NS
        return is_settled and (self.size, self.mtime_ns) == stat


class Artifact(msgspec.Struct):
    """The whole of `rag_graph.json`; *graph* has a Part for each parsed file, in their order."""

    version: int
    builder: str
    settings: dict[str, int]
    files: list[FileRecord]
    graph: list[Part]


def encode_artifact(files: list[FileRecord], parts: list[bytes]) -> bytes:
    """The graph as JSON; *parts* are those of the parsed *files*, in their order."""
    graph = [msgspec.Raw(part) for part in parts]
    head = {"version": GRAPH_VERSION, "builder": BUILDER, "settings": SETTINGS}
    return msgspec.json.encode({**head, "files": files, "graph": graph})


def decode_artifact(content: bytes) -> Artifact:
    """The graph in *content*; raise GraphMissing when it is damaged or of another version."""
    try:
        artifact = msgspec.json.decode(content, type=Artifact)
    except msgspec.DecodeError as error:
        raise GraphMissing(BROKEN) from error
    if artifact.version != GRAPH_VERSION:
        raise GraphMissing(
            f"The code graph has version {artifact.version}, this is {GRAPH_VERSION}. "
            "Make it again with: judge code build-graph"
        )
    return artifact


class CachedFile(msgspec.Struct):
    """A file in the build cache: its record and, when it was parsed, its facts and *part*.

    *counts* are the numbers of its nodes and edges, *names* its `defined_names`, and *lookups* what
    linking it looked up.
    """

    record: FileRecord
    facts: bytes = b""
    names: list[str] = []
    part: bytes = b""
    counts: tuple[int, int] = (0, 0)
    lookups: list[str] = []


class BuildCache(msgspec.Struct):
    """The whole of `rag_facts.msgpack`, which may be deleted."""

    files: dict[str, CachedFile]
    builder: str
    settings: dict[str, int]


def encode_build_cache(files: dict[str, CachedFile]) -> bytes:
    """The cache for the next build, as bytes."""
    return msgspec.msgpack.encode(BuildCache(files, BUILDER, SETTINGS))


def decode_build_cache(content: bytes) -> dict[str, CachedFile]:
    """The cache of the last build; empty when it is damaged, or another builder wrote it."""
    try:
        cache = msgspec.msgpack.decode(content, type=BuildCache)
    except msgspec.DecodeError:
        return {}
    return cache.files if (cache.builder, cache.settings) == (BUILDER, SETTINGS) else {}


def compare(
    artifact: Artifact,
    written_ns: int,
    files: dict[str, FileStat] | None,
    read: Callable[[str], bytes | None],
) -> tuple[Freshness, Staleness]:
    """FRESH when files, hashes, builder and settings match; STALE with the differences.

    UNKNOWN when *files* could not be listed, or a file that may have changed cannot be read.
    """
    if files is None:
        return "UNKNOWN", Staleness(reason="The files of the repository cannot be listed.")
    recorded = {record.path: record for record in artifact.files}
    changed = []
    for path in files.keys() & recorded.keys():
        record, stat = recorded[path], files[path]
        if record.is_unchanged(stat, written_ns):
            continue
        if record.size != stat.size:
            changed.append(path)
        elif record.status in ("too-large", "unreadable"):
            changed += [path] if record.mtime_ns != stat.mtime_ns else []
        elif (content := read(path)) is None:
            return "UNKNOWN", Staleness(reason=f"{path} cannot be read.")
        elif content_hash(content) != record.hash:
            changed.append(path)
    is_same_builder = (artifact.builder, artifact.settings) == (BUILDER, SETTINGS)
    staleness = Staleness(
        changed=tuple(sorted(changed)),
        added=tuple(sorted(files.keys() - recorded.keys())),
        deleted=tuple(sorted(recorded.keys() - files.keys())),
        reason=None if is_same_builder else "Another version of the builder wrote the graph.",
    )
    return ("STALE" if staleness else "FRESH"), staleness
