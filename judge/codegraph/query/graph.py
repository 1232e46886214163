"""The stored graph, indexed for questions."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import islice

from judge.codegraph.models import Edge, Node
from judge.codegraph.store.artifact import Artifact, FileRecord


class Graph:
    """Nodes and edges with the indexes that questions need, each made when first needed.

    Definitions of one name in one scope (overloads, a property's setter, the branches of an
    `if`) are one symbol; the id without its `~n` stands for all of them.
    """

    def __init__(self, artifact: Artifact) -> None:
        self.artifact = artifact
        self._outgoing_by_file: dict[str, dict[str, list[Edge]]] = {}
        self.files: dict[str, FileRecord] = {file.path: file for file in artifact.files}

    @cached_property
    def symbols(self) -> dict[str, list[Node]]:
        """The definitions of each symbol, by id."""
        found: dict[str, list[Node]] = {}
        for node in self.artifact.nodes:
            found.setdefault(symbol_id(node.id), []).append(node)
        return found

    def fqn(self, symbol: str) -> str:
        """The full name of the symbol with this id."""
        return self.symbols[symbol][0].fqn

    def kind(self, symbol: str) -> str:
        """What the symbol is, as `Node` names it."""
        return self.symbols[symbol][0].kind

    @cached_property
    def _incoming(self) -> dict[str, list[Edge]]:
        found: dict[str, list[Edge]] = {}
        for edge in self.artifact.edges:
            found.setdefault(edge.dst, []).append(edge)
        return found

    def _outgoing(self, path: str) -> dict[str, list[Edge]]:
        """The edges of the file at *path* by `src`; the artifact holds edges in order of files."""
        known = self._outgoing_by_file.get(path)
        if known is None:
            known = self._outgoing_by_file[path] = {}
            edges = self.artifact.edges
            start = bisect_left(edges, path, key=_file)
            for edge in islice(edges, start, bisect_right(edges, path, lo=start, key=_file)):
                known.setdefault(edge.src, []).append(edge)
        return known

    def edges_to(self, target: str) -> Iterable[Edge]:
        """The edges whose `dst` is *target*."""
        return self._incoming.get(target, ())

    def edges_from(self, source: str) -> Iterable[Edge]:
        """The edges whose `src` is *source*."""
        return self._outgoing(source.partition(":")[0]).get(source, ())

    def overridden_by(self, method: str) -> list[str]:
        """The methods that replace *method* in subclasses, near and far."""
        return _closure(method, lambda one: [e.src for e in self.edges_to(one) if _replaces(e)])

    def overrides_of(self, method: str) -> list[str]:
        """The methods of base classes, near and far, that *method* replaces."""
        return _closure(method, lambda one: [e.dst for e in self.edges_from(one) if _replaces(e)])

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for symbol in self.symbols:
            file, _, qualified = symbol.partition(":")
            if qualified:
                outer = qualified.rpartition(".")[0]
                found.setdefault(f"{file}:{outer}" if outer else file, []).append(symbol)
        return found

    def within(self, symbol: str) -> list[str]:
        """The symbol and everything defined inside it."""
        found = [symbol]
        for outer in found:
            found.extend(self._children.get(outer, ()))
        return found


def _file(edge: Edge) -> str:
    return edge.file


def _replaces(edge: Edge) -> bool:
    return edge.kind == "overrides"


def _closure(start: str, following: Callable[[str], list[str]]) -> list[str]:
    found = [start]
    for one in found:
        found.extend(other for other in following(one) if other not in found)
    return found[1:]


def symbol_id(node_id: str) -> str:
    """The id of the symbol to which a definition belongs."""
    return node_id.partition("~")[0]
