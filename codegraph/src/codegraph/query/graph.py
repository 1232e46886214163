"""The stored graph in memory: nodes and edges by symbol."""

from collections import defaultdict
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from codegraph.errors import GraphMissing
from codegraph.models import VARIABLE_KINDS, Edge, Node, symbol_id
from codegraph.query.sections import Section
from codegraph.store.artifact import BROKEN, Artifact


class Graph:
    """Nodes and edges by symbol.

    Definitions of one name in one scope (overloads, a property's setter, the branches of an
    `if`) are one symbol; the id without its `~n` stands for all of them.
    """

    def __init__(self, artifact: Artifact) -> None:
        """Raise GraphMissing when *artifact* is damaged."""
        self.artifact = artifact
        #: The definitions by the last part of their full names.
        self.by_last_name: defaultdict[str, list[Node]] = defaultdict(list)
        #: By another name, and by the path of the module that gives it: the ids of the symbols.
        self.by_alias: dict[str, dict[str, list[str]]] = {}
        self._nodes: dict[str, list[Node]] = {}
        self._definitions: defaultdict[str, list[Node]] = defaultdict(list)
        self._nested: defaultdict[str, list[str]] = defaultdict(list)
        self._incoming: defaultdict[str, list[Edge]] = defaultdict(list)
        self._outgoing: defaultdict[str, list[Edge]] = defaultdict(list)
        paths = [file.path for file in artifact.files if file.status == "parsed"]
        if len(paths) != len(artifact.graph):
            raise GraphMissing(BROKEN)
        for path, part in zip(paths, artifact.graph, strict=True):
            self._nodes[path] = part.nodes
            for node in part.nodes:
                self._define(node)
            for name, symbols in part.aliases.items():
                self.by_alias.setdefault(name, {})[path] = symbols
            for edge in part.edges:
                if edge.src not in self._definitions:
                    raise GraphMissing(BROKEN)
                self._incoming[edge.dst].append(edge)
                self._outgoing[edge.src].append(edge)

    def _define(self, node: Node) -> None:
        symbol = symbol_id(node.id)
        if symbol not in self._definitions and symbol != node.file:
            qualified = symbol[len(node.file) + 1 :].rpartition(".")[0]
            outer = f"{node.file}:{qualified}" if qualified else node.file
            self._nested[outer].append(symbol)
        self._definitions[symbol].append(node)
        self.by_last_name[node.fqn.rpartition(".")[2]].append(node)

    def definitions(self, symbol: str) -> list[Node]:
        """The definitions of the symbol with this id; empty when there is no such symbol."""
        return self._definitions.get(symbol, [])

    def sections_of(self, path: str) -> list[Section]:
        """The definitions in a file that are not variables, nested ones after the outer one."""
        sections = [
            Section(*node.span, node.fqn)
            for node in self._nodes.get(path, ())
            if node.kind not in VARIABLE_KINDS
        ]
        return sorted(sections, key=lambda section: (section.start, -section.end))

    def fqn(self, symbol: str) -> str:
        """The full name of the symbol with this id."""
        return self.definitions(symbol)[0].fqn

    def kind(self, symbol: str) -> str:
        """The kind of the symbol, as in `Node`."""
        return self.definitions(symbol)[0].kind

    def edges_to(self, target: str) -> list[Edge]:
        """The edges whose `dst` is *target*, by file."""
        return self._incoming.get(target, [])

    def edges_from(self, source: str) -> list[Edge]:
        """The edges whose `src` is *source*."""
        return self._outgoing.get(source, [])

    def overridden_by(self, method: str) -> list[str]:
        """The methods that override *method*, in direct and indirect subclasses."""
        return _closure(method, lambda m: [e.src for e in self.edges_to(m) if _overrides(e)])

    def dispatched_to(self, method: str) -> Iterator[tuple[str, Edge]]:
        """The uses of base methods that may dispatch to *method*, each with the base method."""
        bases = _closure(method, lambda m: [e.dst for e in self.edges_from(m) if _overrides(e)])
        for base in bases:
            for edge in self.edges_to(base):
                if may_dispatch(edge):
                    yield base, replace(edge, confidence="dispatch")

    def members(self, symbol: str) -> list[str]:
        """The symbols that are defined directly in *symbol*."""
        return self._nested.get(symbol, [])

    def with_nested(self, symbol: str) -> list[str]:
        """The symbol and everything defined inside it."""
        symbols = [symbol]
        for outer in symbols:
            symbols.extend(self._nested.get(outer, ()))
        return symbols


def may_dispatch(edge: Edge) -> bool:
    """Whether a use may reach an override of the method that it names."""
    is_use = edge.kind in ("calls", "references") and edge.confidence in ("exact", "inferred")
    return is_use and not edge.is_direct


def _overrides(edge: Edge) -> bool:
    return edge.kind == "overrides"


def _closure(start: str, following: Callable[[str], list[str]]) -> list[str]:
    """All symbols reached from *start* by following, without *start*."""
    reached, seen = [start], {start}
    for symbol in reached:
        new = [other for other in dict.fromkeys(following(symbol)) if other not in seen]
        reached += new
        seen.update(new)
    return reached[1:]
