"""The graph as bytes: its shape, its version, encoding and decoding.

`rag_graph.json` is for everybody. Nodes and edges are arrays, file by file in the order of the
files that were parsed, so that a question decodes the parts of the few files that it is about, and
a build takes those of unchanged files as they are.
"""

import gc
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from operator import itemgetter
from typing import Annotated, NamedTuple, TypeAlias, TypeVar

import msgspec

from judge.codegraph.errors import GraphMissing
from judge.codegraph.facts import FACTS_VERSION
from judge.codegraph.models import Edge, Node, symbol_id
from judge.codegraph.store.repository import MAX_FILE_BYTES

#: Goes up when the same facts give another graph, or the graph another shape.
LINKER_VERSION = 11
GRAPH_VERSION = 3

#: What Python can parse depends on its version.
BUILDER = (
    f"{GRAPH_VERSION}.{FACTS_VERSION}.{LINKER_VERSION}"
    f"+python{sys.version_info.major}.{sys.version_info.minor}"
)
SETTINGS: dict[str, int] = {"max_file_bytes": MAX_FILE_BYTES}

#: *name* is that of the module, or the place within it: `Class.method`.
NODE_FIELDS = ["name", "kind", "start", "end", "line"]
#: *src* and *dst* are places among the nodes of the file; a *dst* past their end is a place among
#: its targets, ids of symbols elsewhere. *kind* is a place among the edge kinds. The edges of a
#: file are in order of *dst*.
EDGE_FIELDS = ["src", "dst", "kind", "line"]
EDGE_KINDS = list(
    product(
        ("calls", "references", "imports", "inherits", "overrides", "exports"),
        ("exact", "inferred", "possible", "text"),
        (False, True),
    )
)
_KIND_PLACES = {kind: place for place, kind in enumerate(EDGE_KINDS)}

_VERSION = re.compile(rb'\{"version":(\d{1,9}),')
BROKEN = "The code graph cannot be read. Make it again with: judge code build-graph"


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


class GraphPart(NamedTuple):
    """What the graph holds of one parsed file, each an array as JSON."""

    nodes: msgspec.Raw
    targets: msgspec.Raw
    edges: msgspec.Raw


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

    def parts(self) -> dict[str, GraphPart]:
        """The parts of the parsed files, by path; raise GraphMissing when some are not there."""
        paths = [file.path for file in self.files if file.status == "parsed"]
        if not len(paths) == len(self.nodes) == len(self.targets) == len(self.edges):
            raise GraphMissing(BROKEN)
        parts = map(GraphPart, self.nodes, self.targets, self.edges)
        return dict(zip(paths, parts, strict=True))


class NodeRow(msgspec.Struct, array_like=True, gc=False):
    """A definition in the order of NODE_FIELDS."""

    name: str
    kind: str
    start: int
    end: int
    line: int


_Place: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
_KindPlace: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=len(EDGE_KINDS))]
#: A relation in the order of EDGE_FIELDS.
EdgeRow: TypeAlias = tuple[_Place, _Place, _KindPlace, int]
Decoded = TypeVar("Decoded")

_json = msgspec.json.Encoder()
_artifact_decoder = msgspec.json.Decoder(Artifact)
#: How to read what a GraphPart holds.
NODES = msgspec.json.Decoder(list[NodeRow])
TARGETS = msgspec.json.Decoder(list[str])
EDGES = msgspec.json.Decoder(list[EdgeRow])


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


def encode_part(nodes: Sequence[Node], edges: Iterable[Edge]) -> GraphPart:
    """The part of a file with these *nodes*, its module first, and *edges* from them."""
    module = nodes[0]
    rows = [NodeRow(module.fqn, module.kind, *module.span, module.line)]
    start = len(module.file) + 1
    rows += [NodeRow(one.id[start:], one.kind, *one.span, one.line) for one in nodes[1:]]
    places: dict[str, int] = {}
    for place, node in enumerate(nodes):
        places.setdefault(symbol_id(node.id), place)
    targets: list[str] = []
    encoded: list[EdgeRow] = []
    for edge in edges:
        dst = places.get(edge.dst)
        if dst is None:
            dst = places[edge.dst] = len(nodes) + len(targets)
            targets.append(edge.dst)
        kind = _KIND_PLACES[edge.kind, edge.confidence, edge.is_direct]
        encoded.append((places[edge.src], dst, kind, edge.line))
    encoded.sort(key=itemgetter(1))
    return GraphPart(*(msgspec.Raw(_json.encode(one)) for one in (rows, targets, encoded)))


def quoted(text: str) -> bytes:
    """A name as the graph holds it."""
    return _json.encode(text)


def encode_artifact(files: list[FileRecord], parts: Sequence[GraphPart]) -> bytes:
    """The graph as JSON; *parts* are those of the parsed ones of *files*, in their order."""
    nodes, targets, edges = (list(one) for one in zip(*parts, strict=True)) if parts else ([],) * 3
    artifact = Artifact(
        GRAPH_VERSION,
        BUILDER,
        SETTINGS,
        NODE_FIELDS,
        EDGE_FIELDS,
        EDGE_KINDS,
        files,
        nodes,
        targets,
        edges,
    )
    return _json.encode(artifact)


def decode_artifact(content: bytes) -> Artifact:
    """The graph; raise GraphMissing when it is damaged or of another version."""
    version = _VERSION.match(content)
    if version is not None and int(version[1]) != GRAPH_VERSION:
        raise GraphMissing(
            f"The code graph has version {int(version[1])}, this is {GRAPH_VERSION}. "
            "Make it again with: judge code build-graph"
        )
    with collection_paused():
        return decode(content, _artifact_decoder)


def decode(content: bytes | msgspec.Raw, decoder: msgspec.json.Decoder[Decoded]) -> Decoded:
    """What *content* holds; raise GraphMissing when it is damaged."""
    try:
        return decoder.decode(content)
    except msgspec.DecodeError as error:
        raise GraphMissing(BROKEN) from error
