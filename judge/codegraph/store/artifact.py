"""The graph and the build cache as bytes: their shapes, versions, encoding and decoding.

`rag_graph.json` is for everybody. Its edges are arrays in the order of `edge_fields`, which keeps
it a third of the size. `rag_facts.msgpack` is for the next build alone and may be deleted.
"""

import gc
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import msgspec

from judge.codegraph.errors import GraphMissing
from judge.codegraph.facts import FACTS_VERSION, FileFacts
from judge.codegraph.models import Edge, Node
from judge.codegraph.store.repository import MAX_FILE_BYTES

#: Goes up when the same facts give another graph, or the graph another shape.
LINKER_VERSION = 4
GRAPH_VERSION = 1

#: What Python can parse depends on its version.
BUILDER = (
    f"{GRAPH_VERSION}.{FACTS_VERSION}.{LINKER_VERSION}"
    f"+python{sys.version_info.major}.{sys.version_info.minor}"
)
SETTINGS: dict[str, int] = {"max_file_bytes": MAX_FILE_BYTES}
EDGE_FIELDS = list(Edge.__struct_fields__)


class FileRecord(msgspec.Struct, frozen=True):
    """A file of the graph; *status* says what was made of it.

    `parsed`, `text` (another language), `syntax-error`, `binary`, `too-large` or `unreadable`;
    the first gives exact answers, the next two are searched as text, the rest are only listed.
    """

    path: str
    lang: str
    hash: str
    size: int
    mtime_ns: int
    status: str


class Artifact(msgspec.Struct):
    """The whole of `rag_graph.json`."""

    version: int
    builder: str
    settings: dict[str, int]
    edge_fields: list[str]
    files: list[FileRecord]
    nodes: list[Node]
    edges: list[Edge]


class GraphHead(msgspec.Struct):
    """What a build reads of the graph that it replaces."""

    version: int
    builder: str
    settings: dict[str, int]
    files: list[FileRecord]


class ByteSpan(NamedTuple):
    """A part of the graph's bytes."""

    start: int = 0
    end: int = 0


class CachedFile(msgspec.Struct):
    """What a build keeps of one source file: its facts, packed, and where its part of the graph is.

    *nodes* and *edges* are those parts of the graph's bytes.
    """

    hash: str
    facts: bytes
    names: list[str]
    variables: list[str]
    fingerprints: dict[str, str]
    nodes: ByteSpan = ByteSpan()
    edges: ByteSpan = ByteSpan()
    counts: tuple[int, int] = (0, 0)
    looked_up: dict[str, list[str]] = {}
    asked_modules: list[str] = []
    asked_names: list[str] = []


class BuildCache(msgspec.Struct):
    """The whole of `rag_facts.msgpack`; *graph_crc32* is that of the graph it goes with."""

    builder: str
    graph_crc32: int
    files: dict[str, CachedFile]


_json = msgspec.json.Encoder()
_pack = msgspec.msgpack.Encoder()
_facts_decoder = msgspec.msgpack.Decoder(FileFacts)
_cache_decoder = msgspec.msgpack.Decoder(BuildCache)
_artifact_decoder = msgspec.json.Decoder(Artifact)
_head_decoder = msgspec.json.Decoder(GraphHead)
_BETWEEN_PARTS = b",\n"

Graphlike = TypeVar("Graphlike", Artifact, GraphHead)


@contextmanager
def collection_paused() -> Iterator[None]:
    """Millions of objects are made here and none is garbage; collecting costs a third more."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def encode_facts(facts: FileFacts) -> bytes:
    """The facts of one file as bytes, a third of what they would be unpacked."""
    return zlib.compress(_pack.encode(facts), 1)


def decode_facts(content: bytes) -> FileFacts:
    """The facts that `encode_facts` wrote."""
    return _facts_decoder.decode(zlib.decompress(content))


def encode_build_cache(cache: BuildCache) -> bytes:
    """What the next build may use again, as bytes."""
    return _pack.encode(cache)


def decode_build_cache(content: bytes | None, graph: bytes) -> BuildCache:
    """The cache of the last build; empty when it is damaged or was not made with *graph*."""
    empty = BuildCache(BUILDER, 0, {})
    if content is None:
        return empty
    try:
        cache = _cache_decoder.decode(content)
    except msgspec.DecodeError:
        return empty
    is_ours = cache.builder == BUILDER and cache.graph_crc32 == zlib.crc32(graph)
    return cache if is_ours else empty


def encode_nodes(nodes: Iterable[Node]) -> bytes:
    """Nodes as JSON objects with commas between, to be joined with those of other files."""
    return _json.encode(list(nodes))[1:-1]


def encode_edges(edges: Iterable[Edge]) -> bytes:
    """Edges as JSON arrays with commas between, to be joined with those of other files."""
    return _json.encode(list(edges))[1:-1]


def encode_artifact(
    files: list[FileRecord], nodes: Sequence[bytes], edges: Sequence[bytes]
) -> tuple[bytes, list[ByteSpan], list[ByteSpan]]:
    """The graph as JSON, from the encoded *nodes* and *edges* of its files; where each stands."""
    head: dict[str, Any] = {
        "version": GRAPH_VERSION,
        "builder": BUILDER,
        "settings": SETTINGS,
        "edge_fields": EDGE_FIELDS,
    }
    start = b"".join(
        [
            _json.encode(head)[:-1],
            b',\n"files":[\n',
            b",\n".join(_json.encode(file) for file in files),
            b'],\n"nodes":[\n',
        ]
    )
    between = b'],\n"edges":[\n'
    content = b"".join([start, _joined(nodes), between, _joined(edges), b"]}\n"])
    node_spans, end = _spans(nodes, len(start))
    edge_spans, _ = _spans(edges, end + len(between))
    return content, node_spans, edge_spans


def _joined(parts: Sequence[bytes]) -> bytes:
    return _BETWEEN_PARTS.join(part for part in parts if part)


def _spans(parts: Sequence[bytes], start: int) -> tuple[list[ByteSpan], int]:
    """Where each of the joined *parts* begins and ends, and where all of them end."""
    spans = []
    end = start
    for part in parts:
        if part and end > start:
            end += len(_BETWEEN_PARTS)
        spans.append(ByteSpan(end, end + len(part)))
        end += len(part)
    return spans, end


def decode_artifact(content: bytes) -> Artifact:
    """The graph; raise GraphMissing when it is damaged or of another version."""
    return _decoded(content, _artifact_decoder)


def decode_head(content: bytes) -> GraphHead:
    """What the graph says of its files; raise GraphMissing as `decode_artifact` does."""
    return _decoded(content, _head_decoder)


def _decoded(content: bytes, decoder: msgspec.json.Decoder[Graphlike]) -> Graphlike:
    try:
        with collection_paused():
            artifact = decoder.decode(content)
    except msgspec.DecodeError as error:
        message = "The code graph cannot be read. Make it again with: judge code build-graph"
        raise GraphMissing(message) from error
    if artifact.version != GRAPH_VERSION:
        raise GraphMissing(
            f"The code graph has version {artifact.version}, this is {GRAPH_VERSION}. "
            "Make it again with: judge code build-graph"
        )
    return artifact
