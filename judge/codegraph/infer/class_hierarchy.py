"""Classes: their bases, the order in which methods are looked up, what decorators make."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from judge.codegraph import ir
from judge.codegraph.infer import types as ty
from judge.codegraph.infer.standard_library import CONTEXT_MANAGERS, ENUMS, PROPERTIES

if TYPE_CHECKING:
    from judge.codegraph.infer.type_evaluator import TypeEvaluator

#: Of one base; merging takes the square of it, and no class that people write has half as many.
_MOST_ANCESTORS = 100
_FLAGS = {"staticmethod": "static", "classmethod": "class"}


class Ancestor(NamedTuple):
    """A class in the lookup order; *mapping* gives its type variables' meaning there."""

    cls: ty.Definition
    mapping: ty.TypeVariables


class MethodResolutionOrder(NamedTuple):
    """A class and its ancestors in lookup order, with the bases from outside."""

    ancestors: tuple[Ancestor, ...]
    external: ty.Types = ()


class ClassHierarchy:
    """Answer questions about the classes and functions of all files."""

    def __init__(self, evaluator: "TypeEvaluator", limit: ty.RecursionLimit) -> None:
        self._evaluator, self._resolver = evaluator, evaluator.resolver
        self._orders: dict[ty.Definition, MethodResolutionOrder] = {}
        self._flags: dict[ty.Definition, frozenset[str]] = {}
        self._limit = limit

    def mro(self, cls: ty.Definition) -> MethodResolutionOrder:
        """The class itself and its ancestors, in the order of Python's C3 linearisation."""
        known = self._orders.get(cls)
        if known is not None:
            return known
        alone = self._orders[cls] = MethodResolutionOrder((Ancestor(cls, {}),))
        if self._limit.is_exhausted():
            return alone
        self._limit.level += 1
        self._orders[cls] = found = self._linearise(cls)
        self._limit.level -= 1
        return found

    def _linearise(self, cls: ty.Definition) -> MethodResolutionOrder:
        chains: list[list[Ancestor]] = []
        external: list[ty.Type] = []
        for base in self._bases(cls):
            if not isinstance(base, ty.Instance):
                external.append(base)
                continue
            inherited = self.mro(base.cls)
            mapping = self.type_arguments(base)
            nearest = inherited.ancestors[:_MOST_ANCESTORS]
            chain = [Ancestor(a.cls, _composed(a.mapping, mapping)) for a in nearest]
            chain[0] = Ancestor(base.cls, mapping)
            external.extend(ty.substitute(inherited.external, mapping, keep=True))
            chains.append(chain)
        merged = _merge([*chains, [chain[0] for chain in chains]])
        return MethodResolutionOrder((Ancestor(cls, {}), *merged), tuple(external))

    def _bases(self, cls: ty.Definition) -> list[ty.Type]:
        bases = self._resolver.scope(cls).bases
        return [one for base in bases for one in self._evaluator.annotated(cls.path, base)]

    def type_parameters(self, cls: ty.Definition) -> list[str]:
        """The names of a generic class's type variables, in order."""
        declared = self._resolver.scope(cls).type_params
        if declared:
            return [f"{cls.path}:T{binding}" for binding in declared]
        found: list[str] = []
        for base in self._bases(cls):
            names = list(ty.type_variables((base,)))
            if (
                isinstance(base, ty.Generic)
                and _last(base.kind) in ("Generic", "Protocol")
                and names
            ):
                return names
            found.extend(names)
        return list(dict.fromkeys(found))

    def type_arguments(self, one: ty.Instance | ty.ClassObject) -> ty.TypeVariables:
        """What the type variables of a generic class stand for in *one*."""
        if not one.arguments:
            return {}
        return dict(zip(self.type_parameters(one.cls), one.arguments, strict=False))

    def is_subclass(self, cls: ty.Definition, other: ty.Definition) -> bool:
        """Whether a class is *other* or derives from it."""
        return any(ancestor.cls == other for ancestor in self.mro(cls).ancestors)

    def is_any(self, one: ty.Type, others: Iterable[ty.ClassObject | ty.Instance]) -> bool:
        """Whether *one* is an instance of the class of one of *others*, or of a subclass."""
        return isinstance(one, ty.Instance) and any(
            self.is_subclass(one.cls, other.cls) for other in others
        )

    def narrowed(self, types: ty.Types, tested: ty.Types, *, holds: bool) -> ty.Types:
        """What is left of *types* where `isinstance` with the classes *tested* holds, or fails."""
        ours = [one for one in ty.unpacked(tested) if isinstance(one, ty.ClassObject)]
        if not holds:
            return tuple(one for one in types if not self.is_any(one, ours))
        if not ours:
            return types
        found = tuple(one for one in types if self.is_any(one, ours))
        return found or tuple(ty.instance_of(cls) for cls in ours)

    def is_enum(self, cls: ty.Definition) -> bool:
        """Whether a class is an enumeration, whose attributes are its instances."""
        return any(_last(name) in ENUMS for name in self.external_base_names(cls))

    def external_base_names(self, cls: ty.Definition) -> set[str]:
        """The full names of the bases from outside."""
        return {base.kind for base in self.mro(cls).external if isinstance(base, ty.Generic)}

    def flags(self, function: ty.Definition) -> frozenset[str]:
        """What decorators make of a function: `property`, `static` and so on."""
        known = self._flags.get(function)
        if known is None:
            self._flags[function] = frozenset()
            path, decorators = function.path, self._resolver.scope(function).decorators
            flags = (flag for decorator in decorators for flag in self._decorated(path, decorator))
            known = self._flags[function] = frozenset(flags)
        return known

    def _decorated(self, path: str, decorator: ir.Expr) -> list[str]:
        flags = []
        for declaration in self._resolver.resolve(path, decorator):
            match declaration.value:
                case ty.External(name=name):
                    flags.append(_flag(name))
                case ir.ClassBinding(scope=scope):
                    ancestors = self.mro(ty.Definition(declaration.path, scope)).ancestors
                    if any("__get__" in self._resolver.scope(one.cls).names for one in ancestors):
                        flags.append("property")
        return [flag for flag in flags if flag]


def _flag(name: str) -> str:
    if name in PROPERTIES:
        return "property"
    return CONTEXT_MANAGERS.get(name) or _FLAGS.get(_last(name), "")


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _composed(mapping: ty.TypeVariables, outer: ty.TypeVariables) -> ty.TypeVariables:
    return {name: ty.substitute(types, outer, keep=True) for name, types in mapping.items()}


def _merge(chains: list[list[Ancestor]]) -> list[Ancestor]:
    """C3 merge; where the classes contradict one another, the first chain wins."""
    merged: list[Ancestor] = []
    while chains := [chain for chain in chains if chain]:
        tails = {ancestor.cls for chain in chains for ancestor in chain[1:]}
        heads = (chain[0] for chain in chains)
        head = next((one for one in heads if one.cls not in tails), chains[0][0])
        merged.append(head)
        chains = [[one for one in chain if one.cls != head.cls] for chain in chains]
    return merged
