"""Facts of all files -> the nodes and edges of one file.

The linker asks, for every use in a file, which definitions it means. It also says what it looked
up on the way, so that the next build links again only the files whose answers may have changed.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

from judge.codegraph.facts import Expr, FileFacts
from judge.codegraph.infer.annotations import Types
from judge.codegraph.infer.name_resolver import Declaration, NameResolver
from judge.codegraph.infer.type_evaluator import TypeEvaluator
from judge.codegraph.models import Edge, Node
from judge.codegraph.module_index import ModuleIndex


class LinkedFile(NamedTuple):
    """A file's part of the graph, and what it depends on elsewhere."""

    nodes: list[Node]
    edges: list[Edge]
    looked_up: dict[str, set[str]]
    asked_modules: set[str]
    asked_names: set[str]


def link_file(
    path: str,
    modules: ModuleIndex,
    load: Callable[[str], FileFacts | None],
    known_names: Collection[str],
) -> LinkedFile:
    """Link the file at *path*; *known_names* are those of all definitions and modules."""
    return _Linker(path, modules, load, known_names).link()


def defined_names(facts: FileFacts) -> set[str]:
    """The names of all functions and classes that a file defines."""
    return {scope.name for scope in facts.scopes[1:]}


def node_id(path: str, qualified: str) -> str:
    """The id of a definition, or of the module itself when *qualified* is empty."""
    return f"{path}:{qualified}" if qualified else path


class _Linker:
    def __init__(
        self,
        path: str,
        modules: ModuleIndex,
        load: Callable[[str], FileFacts | None],
        known_names: Collection[str],
    ) -> None:
        self._path = path
        self._load = load
        self._modules = modules
        self._known_names = known_names
        self._resolver = NameResolver(modules, load)
        self._inference = TypeEvaluator(self._resolver)
        self._declared = TypeEvaluator(self._resolver, declared_for=path)
        self._ids: dict[tuple[str, int], str] = {}
        self._asked_names: set[str] = set()
        facts = load(path)
        assert facts is not None
        self._facts = facts

    def link(self) -> LinkedFile:
        nodes, edges = self._definitions()
        found: dict[Edge, None] = dict.fromkeys(edges)
        for line, source, kind, fact in self._facts.uses:
            src = self._id(self._path, source)
            for dst, confidence in self._targets(fact, kind):
                found[Edge(src, dst, kind, self._path, line, confidence)] = None
        found.update(dict.fromkeys(self._overrides()))
        return LinkedFile(
            nodes,
            list(found),
            self._resolver.looked_up,
            self._resolver.asked_modules,
            self._asked_names,
        )

    def _definitions(self) -> tuple[list[Node], list[Edge]]:
        nodes: list[Node] = []
        edges: list[Edge] = []
        seen: dict[str, int] = {}
        module = self._modules.names[self._path]
        for place, scope in enumerate(self._facts.scopes):
            name = self._id(self._path, place)
            qualified = name[len(self._path) + 1 :]
            fqn = f"{module}.{qualified}" if qualified else module
            count = seen[name] = seen.get(name, 0) + 1
            unique = name if count == 1 else f"{name}~{count}"
            nodes.append(Node(unique, fqn, self._kind(place), self._path, scope.span))
            if place:
                parent = self._id(self._path, scope.parent)
                edges.append(Edge(parent, unique, "defines", self._path, scope.line, "exact"))
        return nodes, edges

    def _kind(self, place: int) -> str:
        scope = self._facts.scopes[place]
        if scope.kind == "function" and self._facts.scopes[scope.parent].kind == "class":
            return "method"
        return scope.kind

    def _id(self, path: str, place: int) -> str:
        """The id of a definition; definitions of one name in one scope share it."""
        key = (path, place)
        known = self._ids.get(key)
        if known is None:
            parts: list[str] = []
            while place > 0:
                scope = self._resolver.scope(path, place)
                parts.append(scope.name)
                place = scope.parent
            known = self._ids[key] = node_id(path, ".".join(reversed(parts)))
        return known

    def _targets(self, fact: Expr, kind: str) -> list[tuple[str, str]]:
        """The ids that a use means, each with its confidence."""
        confidence = "text" if kind == "exports" else "exact"
        if fact[0] == "a":
            return self._attribute_targets(fact)
        if fact[0] == "star":
            full = self._modules.absolute(self._path, fact[1], fact[2])
            refs = [self._resolver.module(self._path, full)]
        else:
            refs = list(self._resolver.follow(self._path, fact))
        found = [target for ref in refs for target in self._symbols(ref)]
        if fact[0] == "imp":
            full = self._modules.absolute(self._path, fact[1], fact[2])
            found.extend(self._symbols(self._resolver.module(self._path, full)))
        return [(target, confidence) for target in dict.fromkeys(found)]

    def _attribute_targets(self, fact: Expr) -> list[tuple[str, str]]:
        name = fact[2]
        self._asked_names.add(name)
        if name not in self._known_names:
            return []
        types = self._inference.types(self._path, fact[1])
        if not types:
            return [(f"*.{name}", "possible")]
        found = self._members(self._inference, types, name)
        if not found:
            return []
        declared = self._declared.types(self._path, fact[1])
        plain = declared and self._members(self._declared, declared, name)
        return [(target, "exact" if target in plain else "inferred") for target in found]

    def _members(self, inference: TypeEvaluator, types: Types, name: str) -> list[str]:
        found: dict[str, None] = {}
        for one in types:
            for member in inference.members.find(one, name):
                for ref in self._resolver.imports(member.ref):
                    found.update(dict.fromkeys(self._symbols(ref)))
        return list(found)

    def _symbols(self, ref: Declaration) -> list[str]:
        if ref.value[0] in ("def", "cls"):
            return [self._id(ref.path, ref.value[1])]
        return [ref.path] if ref.value[0] == "module" else []

    def _overrides(self) -> list[Edge]:
        """An edge from each method to the one that it replaces."""
        edges = []
        for place, scope in enumerate(self._facts.scopes):
            if self._kind(place) != "method":
                continue
            owner = ("super", self._path, scope.parent, ("I", self._path, scope.parent, ()))
            for member in self._inference.members.find(owner, scope.name)[:1]:
                for target in self._symbols(member.ref):
                    src = self._id(self._path, place)
                    edges.append(Edge(src, target, "overrides", self._path, scope.line, "exact"))
        return edges
