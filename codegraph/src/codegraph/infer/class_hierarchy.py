"""Classes: their bases and method resolution order; and what decorators make of functions."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from codegraph import ir
from codegraph.infer import types as ty
from codegraph.infer.standard_library import CONTEXT_MANAGERS, ENUMS, PROPERTIES

if TYPE_CHECKING:
    from codegraph.infer.type_evaluator import TypeEvaluator

#: Per base. Merging takes quadratic time, and no class written by hand has half as many.
_MAX_ANCESTORS = 100
_FLAGS = {"staticmethod": "static", "classmethod": "class"}
#: Bases that declare the type parameters of a class.
_DECLARING_BASES = ("Generic", "Protocol")


class Ancestor(NamedTuple):
    """A class in the lookup order; *mapping* has the types of its type variables there."""

    cls: ty.Definition
    mapping: ty.Substitution


class MethodResolutionOrder(NamedTuple):
    """A class and its ancestors in lookup order, and the *external* base classes."""

    ancestors: tuple[Ancestor, ...]
    external: ty.Types = ()


class ClassHierarchy:
    """The classes and functions of all files."""

    def __init__(self, evaluator: "TypeEvaluator", limit: ty.RecursionLimit) -> None:
        self._evaluator, self._resolver = evaluator, evaluator.resolver
        self._orders: dict[ty.Definition, MethodResolutionOrder] = {}
        self._flags: dict[ty.Definition, frozenset[str]] = {}
        self._limit = limit

    def mro(self, cls: ty.Definition) -> MethodResolutionOrder:
        """The class itself and its ancestors, in the order of Python's C3 linearisation."""
        cached = self._orders.get(cls)
        if cached is not None:
            return cached
        alone = self._orders[cls] = MethodResolutionOrder((Ancestor(cls, {}),))
        if self._limit.is_exhausted():
            return alone
        self._limit.level += 1
        self._orders[cls] = order = self._linearise(cls)
        self._limit.level -= 1
        return order

    def _linearise(self, cls: ty.Definition) -> MethodResolutionOrder:
        chains: list[list[Ancestor]] = []
        external: list[ty.Type] = []
        for base in self._bases(cls):
            if not isinstance(base, ty.Instance):
                external.append(base)
                continue
            inherited = self.mro(base.cls)
            mapping = self.type_arguments(base)
            nearest = inherited.ancestors[:_MAX_ANCESTORS]
            chain = [Ancestor(a.cls, _composed(a.mapping, mapping)) for a in nearest]
            chain[0] = Ancestor(base.cls, mapping)
            external.extend(ty.substitute(inherited.external, mapping, keep=True))
            chains.append(chain)
        merged = _merge([*chains, [chain[0] for chain in chains]])
        return MethodResolutionOrder((Ancestor(cls, {}), *merged), tuple(external))

    def _bases(self, cls: ty.Definition) -> list[ty.Type]:
        bases = self._resolver.scope(cls).bases
        return [t for base in bases for t in self._evaluator.annotation_types(cls.path, base)]

    def type_parameters(self, cls: ty.Definition) -> list[str]:
        """The names of a generic class's type variables, in order."""
        declared = self._resolver.scope(cls).type_params
        if declared:
            return [f"{cls.path}:T{binding}" for binding in declared]
        inherited: list[str] = []
        for base in self._bases(cls):
            names = list(ty.type_variables((base,)))
            is_declaring = isinstance(base, ty.Generic) and _last(base.kind) in _DECLARING_BASES
            if is_declaring and names:
                return names
            inherited.extend(names)
        return list(dict.fromkeys(inherited))

    def type_arguments(self, type_: ty.Instance | ty.ClassObject) -> ty.Substitution:
        """The types of a generic class's type variables in *type_*."""
        if not type_.arguments:
            return {}
        return dict(zip(self.type_parameters(type_.cls), type_.arguments, strict=False))

    def is_subclass(self, cls: ty.Definition, other: ty.Definition) -> bool:
        """Whether a class is *other* or derives from it."""
        return any(ancestor.cls == other for ancestor in self.mro(cls).ancestors)

    def is_instance(self, type_: ty.Type, classes: Iterable[ty.ClassObject | ty.Instance]) -> bool:
        """Whether *type_* is an instance of one of *classes* or of a subclass."""
        return isinstance(type_, ty.Instance) and any(
            self.is_subclass(type_.cls, other.cls) for other in classes
        )

    def narrowed(self, types: ty.Types, tested: ty.Types, *, holds: bool) -> ty.Types:
        """*types*, narrowed to where `isinstance` with the classes *tested* *holds*, or fails."""
        classes = [t for t in ty.flattened(tested) if isinstance(t, ty.ClassObject)]
        if not holds:
            return tuple(t for t in types if not self.is_instance(t, classes))
        if not classes:
            return types
        narrowed = tuple(t for t in types if self.is_instance(t, classes))
        return narrowed or tuple(ty.instance_of(cls) for cls in classes)

    def is_enum(self, cls: ty.Definition) -> bool:
        """Whether a class is an enumeration, so that its attributes are its instances."""
        return any(_last(name) in ENUMS for name in self.external_base_names(cls))

    def external_base_names(self, cls: ty.Definition) -> set[str]:
        """The full names of the external base classes."""
        return {base.kind for base in self.mro(cls).external if isinstance(base, ty.Generic)}

    def flags(self, function: ty.Definition) -> frozenset[str]:
        """What decorators make of a function: `property`, `static`, `class` and so on."""
        flags = self._flags.get(function)
        if flags is None:
            self._flags[function] = frozenset()
            path, decorators = function.path, self._resolver.scope(function).decorators
            found = (flag for d in decorators for flag in self._decorator_flags(path, d))
            flags = self._flags[function] = frozenset(found)
        return flags

    def _decorator_flags(self, path: str, decorator: ir.Expr) -> list[str]:
        flags = []
        for declaration in self._resolver.resolve(path, decorator):
            match declaration.value:
                case ty.External(name=name):
                    flags.append(_flag(name))
                case ir.ClassBinding(scope=scope):
                    ancestors = self.mro(ty.Definition(declaration.path, scope)).ancestors
                    if any("__get__" in self._resolver.scope(a.cls).names for a in ancestors):
                        flags.append("property")
        return [flag for flag in flags if flag]


def _flag(name: str) -> str:
    if name in PROPERTIES:
        return "property"
    return CONTEXT_MANAGERS.get(name) or _FLAGS.get(_last(name), "")


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _composed(mapping: ty.Substitution, outer: ty.Substitution) -> ty.Substitution:
    return {name: ty.substitute(types, outer, keep=True) for name, types in mapping.items()}


def _merge(chains: list[list[Ancestor]]) -> list[Ancestor]:
    """C3 merge; where no consistent order exists, the first chain wins."""
    merged: list[Ancestor] = []
    while chains := [chain for chain in chains if chain]:
        tails = {ancestor.cls for chain in chains for ancestor in chain[1:]}
        heads = (chain[0] for chain in chains)
        head = next((a for a in heads if a.cls not in tails), chains[0][0])
        merged.append(head)
        chains = [[a for a in chain if a.cls != head.cls] for chain in chains]
    return merged
