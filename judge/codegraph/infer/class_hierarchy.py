"""Classes: their bases, the order in which methods are looked up, what decorators make."""

from typing import NamedTuple

from judge.codegraph.infer.annotations import (
    AnnotationEvaluator,
    Mapping,
    RecursionLimit,
    Type,
    Types,
    substitute,
    type_variables,
)
from judge.codegraph.infer.name_resolver import NameResolver
from judge.codegraph.infer.standard_library import CONTEXT_MANAGERS, ENUMS, PROPERTIES


class Ancestor(NamedTuple):
    """A class in the lookup order; *mapping* gives its type variables' meaning there."""

    path: str
    scope: int
    mapping: Mapping


class MethodResolutionOrder(NamedTuple):
    """A class and its ancestors in lookup order, with the bases from outside."""

    ancestors: tuple[Ancestor, ...]
    outside: Types


class ClassHierarchy:
    """Answer questions about the classes and functions of all files."""

    def __init__(
        self, resolver: NameResolver, annotations: AnnotationEvaluator, depth: RecursionLimit
    ) -> None:
        self._resolver = resolver
        self._annotations = annotations
        self._lineages: dict[tuple[str, int], MethodResolutionOrder] = {}
        self._traits: dict[tuple[str, int], frozenset[str]] = {}
        self._depth = depth

    def lineage(self, path: str, scope: int) -> MethodResolutionOrder:
        """The class itself and its ancestors, in the order of Python's C3 linearisation."""
        key = (path, scope)
        known = self._lineages.get(key)
        if known is not None:
            return known
        alone = MethodResolutionOrder((Ancestor(path, scope, {}),), ())
        self._lineages[key] = alone
        if self._depth.is_exhausted():
            return alone
        self._depth.level += 1
        self._lineages[key] = found = self._linearise(alone)
        self._depth.level -= 1
        return found

    def _linearise(self, alone: MethodResolutionOrder) -> MethodResolutionOrder:
        path, scope, _ = alone.ancestors[0]
        chains: list[list[Ancestor]] = []
        direct: list[Ancestor] = []
        outside: list[Type] = []
        for base in self._resolver.scope(path, scope).bases:
            for one in self._annotations.types(path, base):
                if one[0] != "I":
                    outside.append(one)
                    continue
                inherited = self.lineage(one[1], one[2])
                mapping = dict(zip(self.parameters(one[1], one[2]), one[3], strict=False))
                chain = [
                    Ancestor(a.path, a.scope, _composed(a.mapping, mapping))
                    for a in inherited.ancestors
                ]
                chain[0] = Ancestor(one[1], one[2], mapping)
                outside.extend(substitute(inherited.outside, mapping, keep=True))
                chains.append(chain)
                direct.append(chain[0])
        return MethodResolutionOrder(
            (alone.ancestors[0], *_merge([*chains, direct])), tuple(outside)
        )

    def parameters(self, path: str, scope: int) -> list[str]:
        """The names of a generic class's type variables, in order."""
        declared = self._resolver.scope(path, scope).type_params
        if declared:
            return [f"{path}:T{place}" for place in declared]
        found: list[str] = []
        for base in self._resolver.scope(path, scope).bases:
            for one in self._annotations.types(path, base):
                names = list(type_variables((one,)))
                if one[0] == "B" and one[1].rpartition(".")[2] in ("Generic", "Protocol"):
                    return names
                found.extend(names)
        return list(dict.fromkeys(found))

    def is_subclass(self, path: str, scope: int, other: tuple[str, int]) -> bool:
        """Whether a class is *other* or derives from it."""
        return any((a.path, a.scope) == other for a in self.lineage(path, scope).ancestors)

    def is_enum(self, path: str, scope: int) -> bool:
        """Whether a class is an enumeration, whose attributes are its instances."""
        return any(
            one[0] == "O" and one[1].rpartition(".")[2] in ENUMS
            for one in self.lineage(path, scope).outside
        )

    def traits(self, path: str, scope: int) -> frozenset[str]:
        """What decorators make of a function: `property`, `static`, `overload` and so on."""
        key = (path, scope)
        known = self._traits.get(key)
        if known is None:
            self._traits[key] = frozenset()
            found = self._resolver.scope(path, scope).decorators
            marks = [mark for decorator in found for mark in self._decorated(path, decorator)]
            known = self._traits[key] = frozenset(marks)
        return known

    def _decorated(self, path: str, decorator: tuple[object, ...]) -> list[str]:
        if decorator[0] == "a" and decorator[2] in ("setter", "deleter", "getter"):
            return ["setter"]
        if decorator[0] == "c":
            return []
        marks = []
        for ref in self._resolver.follow(path, decorator):
            if ref.value[0] == "ext":
                marks.append(_mark(ref.value[1]))
            elif ref.value[0] == "cls" and self._is_property(ref.path, ref.value[1]):
                marks.append("property")
        return [mark for mark in marks if mark]

    def _is_property(self, path: str, scope: int) -> bool:
        lineage = self.lineage(path, scope)
        if any(one[0] in "OB" and one[1] in PROPERTIES for one in lineage.outside):
            return True
        return any(
            "__get__" in self._resolver.scope(a.path, a.scope).names for a in lineage.ancestors
        )


def _mark(name: str) -> str:
    if name in PROPERTIES:
        return "property"
    if name in CONTEXT_MANAGERS:
        return CONTEXT_MANAGERS[name]
    short = name.rpartition(".")[2]
    return {"staticmethod": "static", "classmethod": "class", "overload": "overload"}.get(short, "")


def _composed(mapping: Mapping, outer: Mapping) -> Mapping:
    return {name: substitute(types, outer, keep=True) for name, types in mapping.items()}


def _merge(chains: list[list[Ancestor]]) -> list[Ancestor]:
    """C3 merge; where the classes contradict one another, the first chain wins."""
    chains = [chain for chain in chains if chain]
    merged: list[Ancestor] = []
    while chains:
        tails = {(a.path, a.scope) for chain in chains for a in chain[1:]}
        heads = (chain[0] for chain in chains)
        head = next((a for a in heads if (a.path, a.scope) not in tails), chains[0][0])
        key = (head.path, head.scope)
        merged.append(head)
        chains = [[a for a in chain if (a.path, a.scope) != key] for chain in chains]
        chains = [chain for chain in chains if chain]
    return merged
