"""The graph and the build cache as bytes: their format, version, encoding and decoding.

`rag_graph.json` is public. Nodes and edges are arrays, file by file in the order of the parsed
files, so that a query decodes only the few files that it needs, and a build copies the parts of
unchanged files as they are.
"""

import re
import sys
import zlib
from collections.abc import Sequence
from itertools import product
from operator import itemgetter
from typing import Annotated, NamedTuple, TypeAlias, TypeVar

import msgspec

from codegraph.errors import GraphMissing
from codegraph.facts import FACTS_VERSION, FileFacts
from codegraph.models import Edge, Node, Part, symbol_id
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

#: *name* is the module's full name, or the name within the module: `Class.method`.
NODE_FIELDS = ["name", "kind", "start", "end", "line"]
#: *src* and *dst* are indices into the file's nodes; a *dst* past their end goes on into its
#: targets, the ids of symbols in other files. *kind* is an index into the edge kinds. The edges of
#: a file are sorted by *dst*.
EDGE_FIELDS = ["src", "dst", "kind", "line"]
EDGE_KINDS = list(
    product(
        ("calls", "references", "imports", "inherits", "overrides", "exports"),
        ("exact", "inferred", "possible", "text"),
        (False, True),
    )
)
_KIND_INDEX = {kind: index for index, kind in enumerate(EDGE_KINDS)}

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


class GraphPart(NamedTuple):
    """The graph's part for one parsed file, as JSON: three arrays and an object."""

    nodes: msgspec.Raw
    targets: msgspec.Raw
    edges: msgspec.Raw
    aliases: msgspec.Raw


class Artifact(msgspec.Struct):
    """The whole of `rag_graph.json`."""

    version: int
    builder: str
    settings: dict[str, int]
    node_fields: list[str]
    edge_fields: list[str]
    edge_kinds: list[tuple[str, str, bool]]
    files: list[FileRecord]
    nodes: list[msgspec.Raw]
    targets: list[msgspec.Raw]
    edges: list[msgspec.Raw]
    aliases: list[msgspec.Raw]

    def parts(self) -> dict[str, GraphPart]:
        """The parts of the parsed files, by path; raise GraphMissing when some are missing."""
        paths = [file.path for file in self.files if file.status == "parsed"]
        columns = (self.nodes, self.targets, self.edges, self.aliases)
        if any(len(column) != len(paths) for column in columns):
            raise GraphMissing(BROKEN)
        return dict(zip(paths, map(GraphPart, *columns), strict=True))


class NodeRow(msgspec.Struct, array_like=True, gc=False):
    """A definition in the order of NODE_FIELDS."""

    name: str
    kind: str
    start: int
    end: int
    line: int


_Index: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
_KindIndex: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=len(EDGE_KINDS))]
#: A relation in the order of EDGE_FIELDS.
EdgeRow: TypeAlias = tuple[_Index, _Index, _KindIndex, int]
Decoded = TypeVar("Decoded")

_json = msgspec.json.Encoder()
_artifact_decoder = msgspec.json.Decoder(Artifact)
#: Decoders for the arrays of a GraphPart.
_NODES = msgspec.json.Decoder(list[NodeRow])
_TARGETS = msgspec.json.Decoder(list[str])
_EDGES = msgspec.json.Decoder(list[EdgeRow])
_ALIASES = msgspec.json.Decoder(dict[str, list[str]])


def encode_part(part: Part) -> GraphPart:
    """Encode the part of a file: its nodes, the module first, and the edges from them."""
    nodes, edges, aliases = part
    module = nodes[0]
    rows = [NodeRow(module.fqn, module.kind, *module.span, module.line)]
    start = len(module.file) + 1
    rows += [NodeRow(node.id[start:], node.kind, *node.span, node.line) for node in nodes[1:]]
    indices: dict[str, int] = {}
    for index, node in enumerate(nodes):
        indices.setdefault(symbol_id(node.id), index)
    targets: list[str] = []
    encoded: list[EdgeRow] = []
    for edge in edges:
        dst = indices.get(edge.dst)
        if dst is None:
            dst = indices[edge.dst] = len(nodes) + len(targets)
            targets.append(edge.dst)
        kind = _KIND_INDEX[edge.kind, edge.confidence, edge.is_direct]
        encoded.append((indices[edge.src], dst, kind, edge.line))
    encoded.sort(key=itemgetter(1))
    return GraphPart(
        *(msgspec.Raw(_json.encode(array)) for array in (rows, targets, encoded, aliases))
    )


def decode_part(path: str, part: GraphPart) -> Part:
    """The part of the file at *path*; raise GraphMissing or IndexError when damaged."""
    rows = decode(part.nodes, _NODES)
    module = rows[0].name if rows else ""
    nodes = [
        Node(
            f"{path}:{row.name}" if at else path,
            f"{module}.{symbol_id(row.name)}" if at else module,
            row.kind,
            path,
            (row.start, row.end),
            row.line,
        )
        for at, row in enumerate(rows)
    ]
    symbols = [*(symbol_id(node.id) for node in nodes), *decode(part.targets, _TARGETS)]
    edges = []
    for src, dst, kind_index, line in decode(part.edges, _EDGES):
        kind, confidence, is_direct = EDGE_KINDS[kind_index]
        edges.append(Edge(symbols[src], symbols[dst], kind, path, line, confidence, is_direct))
    return Part(nodes, edges, decode(part.aliases, _ALIASES))


def encode_artifact(files: list[FileRecord], parts: Sequence[GraphPart]) -> bytes:
    """The graph as JSON; *parts* are those of the parsed *files*, in their order."""
    artifact = Artifact(
        GRAPH_VERSION,
        BUILDER,
        SETTINGS,
        NODE_FIELDS,
        EDGE_FIELDS,
        EDGE_KINDS,
        files,
        nodes=[part.nodes for part in parts],
        targets=[part.targets for part in parts],
        edges=[part.edges for part in parts],
        aliases=[part.aliases for part in parts],
    )
    return _json.encode(artifact)


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
