"""The stored graph, decoded file by file as queries need it."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from operator import attrgetter, itemgetter

from msgspec.structs import replace

from codegraph.errors import GraphMissing
from codegraph.models import VARIABLE_KINDS, Edge, Node, symbol_id
from codegraph.query.sections import Section
from codegraph.store.artifact import (
    BROKEN,
    EDGE_KINDS,
    EDGES,
    NODES,
    TARGETS,
    Artifact,
    EdgeRow,
    GraphPart,
    NodeRow,
    decode,
    quoted,
)
from codegraph.store.freshness import RecordedFiles


class Graph:
    """Nodes and edges by symbol.

    Definitions of one name in one scope (overloads, a property's setter, the branches of an
    `if`) are one symbol; the id without its `~n` stands for all of them. Every method raises
    GraphMissing when it decodes a damaged part of the graph.
    """

    def __init__(self, artifact: Artifact, written_ns: int = 0) -> None:
        """*artifact* was written at *written_ns*; raise GraphMissing when parts are missing."""
        self.artifact = artifact
        self.recorded = RecordedFiles.from_artifact(artifact, written_ns)
        self._parts = {path: _FilePart(path, part) for path, part in artifact.parts().items()}

    def definitions(self, symbol: str) -> list[Node]:
        """The definitions of the symbol with this id; empty when there is no such symbol."""
        part = self._parts.get(symbol.partition(":")[0])
        return part.definitions.get(symbol, []) if part is not None else []

    def sections_of(self, path: str) -> list[Section]:
        """The definitions in a file that are not variables, nested ones after the outer one."""
        part = self._parts.get(path)
        return part.sections if part is not None else []

    def names_in(self, path: str) -> bytes:
        """A text with the names of all definitions in a file."""
        part = self._parts.get(path)
        return bytes(part.encoded.nodes) if part is not None else b""

    def nodes(self, ending: str = "") -> Iterator[Node]:
        """All definitions in the files that define a name with this *ending*."""
        needle = quoted(ending)[1:]
        for part in self._parts.values():
            if needle in bytes(part.encoded.nodes):
                yield from part.nodes

    def fqn(self, symbol: str) -> str:
        """The full name of the symbol with this id."""
        return self.definitions(symbol)[0].fqn

    def kind(self, symbol: str) -> str:
        """The kind of the symbol, as in `Node`."""
        return self.definitions(symbol)[0].kind

    def edges_to(self, target: str) -> list[Edge]:
        """The edges whose `dst` is *target*, by file."""
        own = self._parts.get(target.partition(":")[0])
        parts = [*([own] if own is not None else []), *self._referring_parts.get(target, ())]
        ordered = sorted(parts, key=attrgetter("path"))
        return [edge for part in ordered for edge in part.edges_to(target)]

    def edges_from(self, source: str) -> list[Edge]:
        """The edges whose `src` is *source*."""
        part = self._parts.get(source.partition(":")[0])
        return part.edges_from(source) if part is not None else []

    @cached_property
    def _referring_parts(self) -> dict[str, list["_FilePart"]]:
        """The files with edges to a symbol in another file, by the symbol's id."""
        referring: dict[str, list[_FilePart]] = {}
        for part in self._parts.values():
            for target in part.targets:
                referring.setdefault(target, []).append(part)
        return referring

    def overridden_by(self, method: str) -> list[str]:
        """The methods that override *method*, in direct and indirect subclasses."""
        return _closure(method, lambda m: [e.src for e in self.edges_to(m) if _is_override(e)])

    def overrides_of(self, method: str) -> list[str]:
        """The methods that *method* overrides, in direct and indirect base classes."""
        return _closure(method, lambda m: [e.dst for e in self.edges_from(m) if _is_override(e)])

    def dispatched_to(self, method: str) -> Iterator[tuple[str, Edge]]:
        """The uses of base methods that may dispatch to *method*, each with the base method."""
        for base in self.overrides_of(method):
            for edge in self.edges_to(base):
                if may_dispatch(edge):
                    yield base, replace(edge, confidence="dispatch")

    def with_nested(self, symbol: str) -> list[str]:
        """The symbol and everything defined inside it."""
        symbols = [symbol]
        part = self._parts.get(symbol.partition(":")[0])
        nested = part.nested if part is not None else {}
        for outer in symbols:
            symbols.extend(nested.get(outer, ()))
        return symbols


class _FilePart:
    """One file's part of the graph; each array is decoded when it is first needed."""

    def __init__(self, path: str, encoded: GraphPart) -> None:
        self.path = path
        self.encoded = encoded

    @cached_property
    def _node_rows(self) -> list[NodeRow]:
        return decode(self.encoded.nodes, NODES)

    @cached_property
    def _edge_rows(self) -> list[EdgeRow]:
        return decode(self.encoded.edges, EDGES)

    @cached_property
    def targets(self) -> list[str]:
        return decode(self.encoded.targets, TARGETS)

    @cached_property
    def nodes(self) -> list[Node]:
        rows = self._node_rows
        return [self._node(row, rows[0].name) for row in rows]

    def _node(self, row: NodeRow, module: str) -> Node:
        is_module = row is self._node_rows[0]
        node_id = self.path if is_module else f"{self.path}:{row.name}"
        fqn = module if is_module else f"{module}.{symbol_id(row.name)}"
        return Node(node_id, fqn, row.kind, self.path, (row.start, row.end), row.line)

    @cached_property
    def sections(self) -> list[Section]:
        # From the rows, since making nodes of them takes three times as long.
        rows = self._node_rows
        module = rows[0].name if rows else ""
        sections = [
            Section(row.start, row.end, f"{module}.{symbol_id(row.name)}" if at else module)
            for at, row in enumerate(rows)
            if row.kind not in VARIABLE_KINDS
        ]
        return sorted(sections, key=lambda section: (section.start, -section.end))

    @cached_property
    def definitions(self) -> dict[str, list[Node]]:
        definitions: dict[str, list[Node]] = {}
        for node in self.nodes:
            definitions.setdefault(symbol_id(node.id), []).append(node)
        return definitions

    @cached_property
    def nested(self) -> dict[str, list[str]]:
        """The symbols that are defined directly inside each symbol."""
        nested: dict[str, list[str]] = {}
        for symbol in self.definitions:
            if symbol != self.path:
                qualified = symbol[len(self.path) + 1 :].rpartition(".")[0]
                outer = f"{self.path}:{qualified}" if qualified else self.path
                nested.setdefault(outer, []).append(symbol)
        return nested

    def edges_to(self, target: str) -> list[Edge]:
        index = self._indices.get(target, -1)
        rows = self._edge_rows
        start = bisect_left(rows, index, key=itemgetter(1))
        end = bisect_right(rows, index, lo=start, key=itemgetter(1))
        return [self._edge(row) for row in rows[start:end]]

    def edges_from(self, source: str) -> list[Edge]:
        return [self._edge(row) for row in self._outgoing.get(source, ())]

    @cached_property
    def _symbols(self) -> list[str]:
        """The symbol for each index in an edge."""
        own = [f"{self.path}:{symbol_id(row.name)}" for row in self._node_rows[1:]]
        return [self.path, *own, *self.targets]

    @cached_property
    def _indices(self) -> dict[str, int]:
        """The index in edges of each symbol: that of its first definition."""
        return {symbol: index for index, symbol in reversed(list(enumerate(self._symbols)))}

    @cached_property
    def _outgoing(self) -> dict[str, list[EdgeRow]]:
        outgoing: dict[str, list[EdgeRow]] = {}
        for row in self._edge_rows:
            outgoing.setdefault(self._symbol(row[0]), []).append(row)
        return outgoing

    def _edge(self, row: EdgeRow) -> Edge:
        src, dst, kind_index, line = row
        source, target = self._symbol(src), self._symbol(dst)
        kind, confidence, is_direct = EDGE_KINDS[kind_index]
        return Edge(source, target, kind, self.path, line, confidence, is_direct)

    def _symbol(self, index: int) -> str:
        """The symbol for an index in an edge; raise GraphMissing when it is out of range."""
        try:
            return self._symbols[index]
        except IndexError:
            raise GraphMissing(BROKEN) from None


def may_dispatch(edge: Edge) -> bool:
    """Whether a use may reach an override of the method that it names."""
    is_use = edge.kind in ("calls", "references") and edge.confidence in ("exact", "inferred")
    return is_use and not edge.is_direct


def _is_override(edge: Edge) -> bool:
    return edge.kind == "overrides"


def _closure(start: str, following: Callable[[str], list[str]]) -> list[str]:
    """All symbols reached from *start* by following, without *start*."""
    reached, seen = [start], {start}
    for symbol in reached:
        new = [other for other in dict.fromkeys(following(symbol)) if other not in seen]
        reached += new
        seen.update(new)
    return reached[1:]
