"""Attributes of a type: their declarations and their types."""

from typing import TYPE_CHECKING, NamedTuple

from codegraph import ir
from codegraph.infer import types as ty
from codegraph.infer.name_resolver import DECLARING_BINDINGS, Declaration, prefer_declared
from codegraph.infer.standard_library import METHOD_RESULTS

if TYPE_CHECKING:
    from codegraph.infer.type_evaluator import TypeEvaluator


class Member(NamedTuple):
    """The declaration of an attribute, and the types of its type variables.

    *receiver* is the object whose attribute it is; None for an attribute of a module.
    """

    declaration: Declaration
    receiver: ty.Instance | ty.ClassObject | None
    mapping: ty.Substitution

    @property
    def function(self) -> ty.Definition | None:
        """The function that the attribute is, if it is one."""
        path, value, _ = self.declaration
        return ty.Definition(path, value.scope) if isinstance(value, ir.FunctionBinding) else None


class MemberAccess:
    """Look up attributes along the method resolution order."""

    def __init__(self, evaluator: "TypeEvaluator") -> None:
        self._evaluator = evaluator

    def find(self, type_: ty.Type, name: str) -> list[Member]:
        """The declarations of the attribute *name* of the type *type_*."""
        match type_:
            case ty.Instance() | ty.ClassObject():
                return self.class_members(type_, name)
            case ty.SuperObject(receiver=receiver, cls=cls):
                return self.class_members(receiver, name, after=cls)
        return [Member(d, None, {}) for d in self._evaluator.resolver.namespace_member(type_, name)]

    def class_members(
        self, type_: ty.Instance | ty.ClassObject, name: str, after: ty.Definition | None = None
    ) -> list[Member]:
        """The declarations of *name* in the class of *type_* or the nearest ancestor with one.

        An assignment to `self.name` does not hide a method, property or declared type of an
        ancestor. With *after*, the look-up starts after that class, as for `super()`.
        """
        classes = self._evaluator.classes
        ancestors = classes.mro(type_.cls).ancestors
        if after is not None:
            indices = [index for index, a in enumerate(ancestors) if a.cls == after]
            ancestors = ancestors[(indices[0] if indices else 0) + 1 :]
        arguments = classes.type_arguments(type_)
        assigned: list[Member] = []
        for cls, mapping in ancestors:
            declarations, is_in_body = self._declarations(cls, name)
            solved = {k: ty.substitute(v, arguments) for k, v in mapping.items()} or arguments
            members = [Member(declaration, type_, solved) for declaration in declarations]
            if any(isinstance(member.declaration.value, DECLARING_BINDINGS) for member in members):
                return members
            assigned = assigned or members
            if is_in_body:
                break
        return assigned

    def _declarations(self, cls: ty.Definition, name: str) -> tuple[list[Declaration], bool]:
        """The declarations of *name* in one class, and whether some are in its body."""
        scope = self._evaluator.resolver.scope(cls)
        in_body = scope.names.get(name, [])
        in_methods = scope.attributes.get(name, [])
        if not in_body and not in_methods:
            return [], False
        found = self._evaluator.resolver.declarations(cls.path, in_body)
        if not any(isinstance(d.value, (ir.FunctionBinding, ir.ClassBinding)) for d in found):
            found += self._evaluator.resolver.declarations(cls.path, in_methods)
        return prefer_declared(found), bool(in_body)

    def attribute_types(self, type_: ty.Type, name: str) -> ty.Types:
        """The types of the attribute *name* of the type *type_*."""
        match type_:
            case ty.Generic(kind="raised") if name == "value":
                return type_.argument(0)
            case ty.Generic(kind=kind, arguments=arguments):
                is_known = f"{kind}.{name}" in METHOD_RESULTS
                return (ty.ExternalMethod(type_, name),) if is_known or not arguments else ()
        members = self.find(type_, name)
        if not members:
            return self._implicit_attribute_types(type_, name)
        return ty.union(self._member_types(member) for member in members)

    def _implicit_attribute_types(self, type_: ty.Type, name: str) -> ty.Types:
        """The types of an attribute that no class or module of the repository binds."""
        match type_:
            case ty.Instance() if name == "__class__":
                return (ty.ClassObject(type_.cls, type_.arguments),)
            case ty.ClassObject() if name == "__new__":
                return ty.generic("callable", (ty.instance_of(type_),))
            case ty.SuperObject(receiver=receiver) if name == "__new__":
                return ty.generic("callable", (ty.instance_of(receiver),))
            case ty.Instance():
                bases = self.generic_bases(type_)
                return ty.union(self.attribute_types(base, name) for base in bases)
        return ()

    def generic_bases(self, type_: ty.Instance) -> ty.Types:
        """The external generics that the class of *type_* derives from: `list[Row]`."""
        bases = self._evaluator.classes.mro(type_.cls).external
        generics = tuple(t for t in bases if isinstance(t, ty.Generic) and t.arguments)
        return ty.substitute(generics, self._evaluator.classes.type_arguments(type_))

    def _member_types(self, member: Member) -> ty.Types:
        declaration, receiver, mapping = member
        path, value, _ = declaration
        if receiver is None:
            return self._evaluator.bound_types(declaration, other_scope=True)
        match value:
            case ir.FunctionBinding(scope=scope):
                function = ty.FunctionObject(ty.Definition(path, scope), receiver)
                if "property" in self._evaluator.classes.flags(function.function):
                    return self._evaluator.calls.result(function)
                return (function,)
            case ir.AnnotatedVariable(annotation=annotation, value=assigned):
                types = self._evaluator.annotation_types(path, annotation)
                declared = ty.substitute(types, {**mapping, "Self": (ty.instance_of(receiver),)})
                return declared or (self._evaluator.types(path, assigned) if assigned else ())
            case ir.ClassBinding() | ir.ImportFrom():
                pass
            case _ if self._evaluator.classes.is_enum(receiver.cls):
                return (ty.instance_of(receiver),)
        return self._evaluator.bound_types(declaration, other_scope=True)
