"""Classes: their bases, method resolution order and members; what decorators make of functions."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from codegraph import ir
from codegraph.infer import name_resolver as names
from codegraph.infer import standard_library as std
from codegraph.infer import types as ty

if TYPE_CHECKING:
    from codegraph.infer.type_evaluator import TypeEvaluator

#: Per base. Merging takes quadratic time, and no class written by hand has half as many.
_MAX_ANCESTORS = 100
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


class Member(NamedTuple):
    """The declaration of an attribute, and the types of its type variables.

    *receiver* is the object whose attribute it is; None for an attribute of a module.
    """

    declaration: names.Declaration
    receiver: ty.Instance | ty.ClassObject | None
    mapping: ty.Substitution

    @property
    def function(self) -> ty.Definition | None:
        """The function that the attribute is, if it is one."""
        path, value, _ = self.declaration
        return ty.Definition(path, value.scope) if isinstance(value, ir.FunctionBinding) else None


class ClassHierarchy:
    """The classes and functions of all files, and what is looked up in them."""

    def __init__(self, evaluator: "TypeEvaluator") -> None:
        self._evaluator, self._resolver = evaluator, evaluator.resolver
        self._orders: dict[ty.Definition, MethodResolutionOrder] = {}
        self._flags: dict[ty.Definition, frozenset[str]] = {}

    def mro(self, cls: ty.Definition) -> MethodResolutionOrder:
        """The class itself and its ancestors, in the order of Python's C3 linearisation."""
        cached = self._orders.get(cls)
        if cached is not None:
            return cached
        alone = self._orders[cls] = MethodResolutionOrder((Ancestor(cls, {}),))
        if self._evaluator.depth >= ty.MAX_DEPTH:
            return alone
        self._evaluator.depth += 1
        self._orders[cls] = order = self._linearise(cls)
        self._evaluator.depth -= 1
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
            chain = [
                Ancestor(cls, {k: ty.substitute(v, mapping, keep=True) for k, v in inner.items()})
                for cls, inner in nearest
            ]
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

    def is_instance(self, type_: ty.Type, classes: Iterable[ty.ClassObject | ty.Instance]) -> bool:
        """Whether *type_* is an instance of one of *classes* or of a subclass."""
        wanted = {other.cls for other in classes}
        ancestors = self.mro(type_.cls).ancestors if isinstance(type_, ty.Instance) else ()
        return any(ancestor.cls in wanted for ancestor in ancestors)

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
        return any(_last(name) in std.ENUMS for name in self.external_base_names(cls))

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
        callee = decorator.function if isinstance(decorator, ir.Call) else decorator
        for declaration in self._resolver.resolve(path, callee):
            match declaration.value:
                case ty.External(name=name):
                    flags.append(std.DECORATORS.get(name) or std.DECORATORS.get(_last(name), ""))
                case ir.ClassBinding(scope=scope) if callee is decorator:
                    ancestors = self.mro(ty.Definition(declaration.path, scope)).ancestors
                    if any("__get__" in self._resolver.scope(a.cls).names for a in ancestors):
                        flags.append("property")
        return [flag for flag in flags if flag]

    # --- members ----------------------------------------------------------------------------

    def find(self, type_: ty.Type, name: str) -> list[Member]:
        """The declarations of the attribute *name* of the type *type_*."""
        match type_:
            case ty.Instance() | ty.ClassObject():
                return self.class_members(type_, name)
            case ty.SuperObject(receiver=receiver, cls=cls):
                return self.class_members(receiver, name, after=cls)
        return [Member(d, None, {}) for d in self._resolver.namespace_member(type_, name)]

    def class_members(
        self, type_: ty.Instance | ty.ClassObject, name: str, after: ty.Definition | None = None
    ) -> list[Member]:
        """The declarations of *name* in the class of *type_* or the nearest ancestor with one.

        An assignment to `self.name` does not hide a method, property or declared type of an
        ancestor. With *after*, the look-up starts after that class, as for `super()`.
        """
        ancestors = self.mro(type_.cls).ancestors
        if after is not None:
            indices = [index for index, a in enumerate(ancestors) if a.cls == after]
            ancestors = ancestors[(indices[0] if indices else 0) + 1 :]
        arguments = self.type_arguments(type_)
        assigned: list[Member] = []
        for cls, mapping in ancestors:
            declarations, is_in_body = self._declarations(cls, name)
            solved = {k: ty.substitute(v, arguments) for k, v in mapping.items()} or arguments
            members = [Member(declaration, type_, solved) for declaration in declarations]
            if any(
                isinstance(member.declaration.value, names.DECLARING_BINDINGS) for member in members
            ):
                return members
            assigned = assigned or members
            if is_in_body:
                break
        return assigned

    def _declarations(self, cls: ty.Definition, name: str) -> tuple[list[names.Declaration], bool]:
        """The declarations of *name* in one class, and whether some are in its body."""
        scope = self._resolver.scope(cls)
        in_body = scope.names.get(name, [])
        in_methods = scope.attributes.get(name, [])[: names.MAX_BINDINGS]
        if not in_body and not in_methods:
            return [], False
        found = self._resolver.declarations(cls.path, in_body)
        if not any(isinstance(d.value, (ir.FunctionBinding, ir.ClassBinding)) for d in found):
            found += self._resolver.declarations(cls.path, in_methods)
        return names.prefer_declared(found), bool(in_body)

    def attribute_types(self, type_: ty.Type, name: str) -> ty.Types:
        """The types of the attribute *name* of the type *type_*."""
        match type_:
            case ty.Generic(kind=kind, arguments=parts):
                if f"{kind}.{name}" in std.HELD:
                    return type_.argument(std.HELD[f"{kind}.{name}"])
                if kind == "tuple":  # an array, in TypeScript
                    kind, type_ = "list", ty.Generic("list", (ty.union(parts),))
                is_known = any(
                    f"{kind}.{name}" in t for t in (std.METHOD_RESULTS, std.FUNCTION_RESULTS)
                )
                return (ty.ExternalMethod(type_, name),) if is_known or not parts else ()
        members = self.find(type_, name)
        if not members:
            return self._implicit_attribute_types(type_, name)
        return ty.union(self._member_types(member) for member in members)

    def _implicit_attribute_types(self, type_: ty.Type, name: str) -> ty.Types:
        """The types of an attribute that no class or module of the repository binds."""
        match type_:
            case ty.Instance() if name == "__class__":
                return (ty.ClassObject(type_.cls, type_.arguments),)
            case ty.ClassObject() | ty.Instance() | ty.SuperObject() if name in std.CONSTRUCTORS:
                made = type_.receiver if isinstance(type_, ty.SuperObject) else type_
                return ty.generic("callable", (ty.instance_of(made),))
            case ty.Instance():
                bases = self.generic_bases(type_)
                return ty.union(self.attribute_types(base, name) for base in bases)
        return ()

    def generic_bases(self, type_: ty.Instance) -> ty.Types:
        """The external generics that the class of *type_* derives from: `list[Row]`."""
        bases = self.mro(type_.cls).external
        generics = tuple(t for t in bases if isinstance(t, ty.Generic) and t.arguments)
        return ty.substitute(generics, self.type_arguments(type_))

    def _member_types(self, member: Member) -> ty.Types:
        declaration, receiver, mapping = member
        path, value, _ = declaration
        if receiver is None:
            return self._evaluator.bound_types(declaration, other_scope=True)
        match value:
            case ir.FunctionBinding(scope=scope):
                function = ty.FunctionObject(ty.Definition(path, scope), receiver)
                if "property" in self.flags(function.function):
                    return self._evaluator.calls.result(function)
                return (function,)
            case ir.AnnotatedVariable(annotation=annotation, value=assigned):
                types = self._evaluator.annotation_types(path, annotation)
                declared = ty.substitute(types, {**mapping, "Self": (ty.instance_of(receiver),)})
                return declared or (self._evaluator.types(path, assigned) if assigned else ())
            case ir.ClassBinding() | ir.ImportFrom():
                pass
            case _ if self.is_enum(receiver.cls):
                return (ty.instance_of(receiver),)
        return self._evaluator.bound_types(declaration, other_scope=True)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


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
