"""The graph and the build cache as bytes: their format, version, encoding and decoding.

`rag_graph.json` is public. Nodes and edges are arrays, file by file in the order of the parsed
files, and a build copies the parts of unchanged files as they are.
"""

import re
import sys
import zlib
from typing import TypeVar

import msgspec

from codegraph.errors import GraphMissing
from codegraph.facts import FACTS_VERSION, FileFacts
from codegraph.models import Part
from codegraph.store.repository import MAX_FILE_BYTES

#: Raised when the same facts give another graph, and when the graph's format changes.
LINKER_VERSION = 12
GRAPH_VERSION = 4

#: With Python's version, since that decides which syntax can be parsed.
BUILDER = (
    f"{GRAPH_VERSION}.{FACTS_VERSION}.{LINKER_VERSION}"
    f"+python{sys.version_info.major}.{sys.version_info.minor}"
)
SETTINGS: dict[str, int] = {"max_file_bytes": MAX_FILE_BYTES}

_VERSION = re.compile(rb'\{"version":(\d{1,9}),')
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


class Artifact(msgspec.Struct):
    """The whole of `rag_graph.json`; *graph* has a Part for each parsed file, in their order."""

    version: int
    builder: str
    settings: dict[str, int]
    files: list[FileRecord]
    graph: list[msgspec.Raw]

    def parts(self) -> dict[str, msgspec.Raw]:
        """The parts of the parsed files, by path; raise GraphMissing when some are missing."""
        paths = [file.path for file in self.files if file.status == "parsed"]
        if len(paths) != len(self.graph):
            raise GraphMissing(BROKEN)
        return dict(zip(paths, self.graph, strict=True))


Decoded = TypeVar("Decoded")

_json = msgspec.json.Encoder()
_artifact_decoder = msgspec.json.Decoder(Artifact)
_part_decoder = msgspec.json.Decoder(Part)


def encode_part(part: Part) -> msgspec.Raw:
    """The part of one file as JSON."""
    return msgspec.Raw(_json.encode(part))


def decode_part(content: msgspec.Raw) -> Part:
    """What `encode_part` wrote; raise GraphMissing when it is damaged."""
    return decode(content, _part_decoder)


def encode_artifact(files: list[FileRecord], parts: list[msgspec.Raw]) -> bytes:
    """The graph as JSON; *parts* are those of the parsed *files*, in their order."""
    return _json.encode(Artifact(GRAPH_VERSION, BUILDER, SETTINGS, files, parts))


def decode_artifact(content: bytes) -> Artifact:
    """The graph in *content*; raise GraphMissing when it is damaged or of another version."""
    version = _VERSION.match(content)
    if version is not None and int(version[1]) != GRAPH_VERSION:
        raise GraphMissing(
            f"The code graph has version {int(version[1])}, this is {GRAPH_VERSION}. "
            "Make it again with: judge code build-graph"
        )
    return decode(content, _artifact_decoder)


def decode(content: bytes | msgspec.Raw, decoder: msgspec.json.Decoder[Decoded]) -> Decoded:
    """Decode *content*; raise GraphMissing when it is damaged."""
    try:
        return decoder.decode(content)
    except msgspec.DecodeError as error:
        raise GraphMissing(BROKEN) from error


class CachedFile(msgspec.Struct):
    """A source file in the build cache: its facts, and the names that linking it looked up.

    *counts* are the numbers of its nodes and edges.
    """

    hash: str
    facts: msgspec.Raw
    counts: tuple[int, int] = (0, 0)
    lookups: dict[str, list[str]] = {}


class BuildCache(msgspec.Struct):
    """The whole of `rag_facts.msgpack`, which may be deleted; *graph_crc32* is of its graph."""

    builder: str
    graph_crc32: int
    files: dict[str, CachedFile]


def encode_facts(facts: FileFacts) -> msgspec.Raw:
    """The facts of one file as bytes."""
    return msgspec.Raw(msgspec.msgpack.encode(facts))


def decode_facts(content: msgspec.Raw) -> FileFacts:
    """The facts that `encode_facts` wrote; raise msgspec.DecodeError for anything else."""
    return msgspec.msgpack.decode(content, type=FileFacts)


def encode_build_cache(files: dict[str, CachedFile], graph: bytes) -> bytes:
    """The cache of the build that wrote *graph*, as bytes."""
    return msgspec.msgpack.encode(BuildCache(BUILDER, zlib.crc32(graph), files))


def decode_build_cache(content: bytes | None, graph: bytes) -> dict[str, CachedFile]:
    """The cache of the last build; empty when it is damaged or does not belong to *graph*."""
    try:
        cache = msgspec.msgpack.decode(content or b"", type=BuildCache)
    except msgspec.DecodeError:
        return {}
    is_ours = cache.builder == BUILDER and cache.graph_crc32 == zlib.crc32(graph)
    return cache.files if is_ours else {}
