"""Attributes of a type: what they are bound to, and what types they have."""

from typing import TYPE_CHECKING, NamedTuple

from judge.codegraph import ir
from judge.codegraph.infer import types as ty
from judge.codegraph.infer.name_resolver import DECLARING, Declaration, declared
from judge.codegraph.infer.standard_library import METHOD_RESULTS

if TYPE_CHECKING:
    from judge.codegraph.infer.type_evaluator import TypeEvaluator


class Member(NamedTuple):
    """What an attribute is bound to, where, and how type variables read there.

    *receiver* is the object whose attribute it is, unless that belongs to a module.
    """

    declaration: Declaration
    receiver: ty.Instance | ty.ClassObject | None
    mapping: ty.TypeVariables

    @property
    def function(self) -> ty.Definition | None:
        """The function that is meant, when it is one."""
        path, value, _ = self.declaration
        return ty.Definition(path, value.scope) if isinstance(value, ir.FunctionBinding) else None


class MemberAccess:
    """Look up attributes along the method resolution order."""

    def __init__(self, evaluator: "TypeEvaluator") -> None:
        self._evaluator = evaluator

    def find(self, one: ty.Type, name: str) -> list[Member]:
        """What the attribute *name* of the type *one* is bound to."""
        match one:
            case ty.Instance() | ty.ClassObject():
                return self.class_members(one, name)
            case ty.SuperObject(receiver=receiver, cls=cls):
                return self.class_members(receiver, name, after=cls)
        return [Member(d, None, {}) for d in self._evaluator.resolver.outer_member(one, name)]

    def class_members(
        self, one: ty.Instance | ty.ClassObject, name: str, after: ty.Definition | None = None
    ) -> list[Member]:
        """What *name* is bound to in the class of *one* or an ancestor.

        What methods assign to `self` hides neither a method or property of an ancestor nor what it
        declares. Only the classes *after* one are asked when that is given: so `super()` looks.
        """
        classes = self._evaluator.classes
        ancestors = classes.mro(one.cls).ancestors
        if after is not None:
            places = [place for place, a in enumerate(ancestors) if a.cls == after]
            ancestors = ancestors[(places[0] if places else 0) + 1 :]
        own = classes.type_arguments(one)
        assigned: list[Member] = []
        for cls, mapping in ancestors:
            found, is_in_body = self._declarations(cls, name)
            inner = {k: ty.substitute(v, own) for k, v in mapping.items()} if mapping else own
            members = [Member(declaration, one, inner) for declaration in found]
            if any(isinstance(member.declaration.value, DECLARING) for member in members):
                return members
            assigned = assigned or members
            if is_in_body:
                break
        return assigned

    def _declarations(self, cls: ty.Definition, name: str) -> tuple[list[Declaration], bool]:
        """What one class binds *name* to, and whether its body does, not its methods alone."""
        scope = self._evaluator.resolver.scope(cls)
        in_body = scope.names.get(name, [])
        in_methods = scope.attributes.get(name, [])
        if not in_body and not in_methods:
            return [], False
        found = self._evaluator.resolver.declarations(cls.path, in_body)
        if not any(isinstance(d.value, (ir.FunctionBinding, ir.ClassBinding)) for d in found):
            found += self._evaluator.resolver.declarations(cls.path, in_methods)
        return declared(found), bool(in_body)

    def attribute(self, one: ty.Type, name: str) -> ty.Types:
        """The types of the attribute *name* of the type *one*."""
        match one:
            case ty.Generic(kind="raised") if name == "value":
                return one.argument(0)
            case ty.Generic(kind=kind, arguments=arguments):
                is_known = f"{kind}.{name}" in METHOD_RESULTS
                return (ty.ExternalMethod(one, name),) if is_known or not arguments else ()
        members = self.find(one, name)
        found = ty.union(self._member_types(member) for member in members)
        return found if members else self._implied(one, name)

    def _implied(self, one: ty.Type, name: str) -> ty.Types:
        """The types of an attribute that no class or module of ours binds."""
        match one:
            case ty.Instance() if name == "__class__":
                return (ty.ClassObject(one.cls, one.arguments),)
            case ty.ClassObject() if name == "__new__":
                return ty.generic("callable", (ty.instance_of(one),))
            case ty.SuperObject(receiver=receiver) if name == "__new__":
                return ty.generic("callable", (ty.instance_of(receiver),))
            case ty.Instance():
                bases = self.generic_bases(one)
                return ty.union(self.attribute(base, name) for base in bases)
        return ()

    def generic_bases(self, one: ty.Instance) -> ty.Types:
        """The generics from outside that the class of *one* derives from: `list[Row]`."""
        bases = self._evaluator.classes.mro(one.cls).external
        generics = tuple(one for one in bases if isinstance(one, ty.Generic) and one.arguments)
        return ty.substitute(generics, self._evaluator.classes.type_arguments(one))

    def _member_types(self, member: Member) -> ty.Types:
        declaration, receiver, mapping = member
        path, value, _ = declaration
        if receiver is None:
            return self._evaluator.bound(declaration, outside=True)
        match value:
            case ir.FunctionBinding(scope=scope):
                function = ty.FunctionObject(ty.Definition(path, scope), receiver)
                if "property" in self._evaluator.classes.flags(function.function):
                    return self._evaluator.calls.result(function)
                return (function,)
            case ir.AnnotatedVariable(annotation=annotation, value=assigned):
                types = self._evaluator.annotated(path, annotation)
                found = ty.substitute(types, {**mapping, "Self": (ty.instance_of(receiver),)})
                return found or (self._evaluator.types(path, assigned) if assigned else ())
            case ir.ClassBinding() | ir.ImportFrom():
                pass
            case _ if self._evaluator.classes.is_enum(receiver.cls):
                return (ty.instance_of(receiver),)
        return self._evaluator.bound(declaration, outside=True)
