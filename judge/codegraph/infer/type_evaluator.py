"""Expressions -> types: the heart of "whose method is called here?".

Types come from annotations where there are any, else from what is assigned, returned and yielded.
Nothing is guessed: an expression whose type cannot be told has none, and what is asked of it
becomes a possible use, not an exact one. `member_access`, `calls` and `containers` each know one
kind of expression and ask back here for the parts of it.
"""

from msgspec.structs import replace

from judge.codegraph import ir
from judge.codegraph.infer import types as ty
from judge.codegraph.infer.calls import CallEvaluator
from judge.codegraph.infer.class_hierarchy import ClassHierarchy
from judge.codegraph.infer.containers import ContainerTypes
from judge.codegraph.infer.member_access import MemberAccess
from judge.codegraph.infer.name_resolver import Declaration, NameResolver
from judge.codegraph.infer.pytest_fixtures import fixture_types
from judge.codegraph.infer.standard_library import external_instance

_LITERALS = {"str", "int", "float", "bool", "bytes", "complex"}


class TypeEvaluator:
    """Infer types in all files, remembering what it found."""

    def __init__(self, resolver: NameResolver, *, declared_only: bool = False) -> None:
        """*declared_only*: functions that don't declare their results give nothing known."""
        self.resolver = resolver
        self.declared_only = declared_only
        self._limit = ty.RecursionLimit()
        self.classes = ClassHierarchy(self, self._limit)
        self.members = MemberAccess(self)
        self.calls = CallEvaluator(self)
        self.containers = ContainerTypes(self)
        # By identity: facts stay loaded while a file is linked, and comparing trees costs time.
        self._known: dict[int, ty.Types] = {}
        self._allowed: dict[int, ty.Types] = {}

    def annotated(self, path: str, expr: ir.Expr) -> ty.Types:
        """The types that the annotation *expr* allows: instances of what it means as a value."""
        key = id(expr)
        if key not in self._allowed:
            self._allowed[key] = ()
            self._allowed[key] = ty.union(map(_instance, ty.unpacked(self.types(path, expr))))
        return self._allowed[key]

    def types(self, path: str, expr: ir.Binding) -> ty.Types:
        """The types that *expr*, an expression of the file at *path*, may have."""
        key = id(expr)
        known = self._known.get(key)
        if known is not None:
            return known
        if self._limit.is_exhausted():
            return ()
        self._known[key] = ()  # Types may depend on one another in a circle.
        self._limit.level += 1
        found = self._types(path, expr)
        self._limit.level -= 1
        self._known[key] = found
        return found

    def _types(self, path: str, expr: ir.Binding) -> ty.Types:  # noqa: C901, PLR0911, PLR0912 - a table
        match expr:
            case ir.Variable(bindings=bindings):
                return ty.union(map(self.bound, self.resolver.variable(path, bindings)))
            case ir.Attribute(receiver=receiver, name=name):
                types = self.types(path, receiver)
                return ty.union(self.members.attribute(one, name) for one in types)
            case ir.Name(scope=scope, name=name) | ir.Alias(scope=scope, name=name):
                found = self.resolver.look_up(path, scope, name)
                return ty.union(self.bound(declaration, outside=True) for declaration in found)
            case ir.Call():
                return self.calls.call(path, expr)
            case ir.Constant(type_name=name):
                return ty.generic(f"builtins.{name}") if name in _LITERALS else ()
            case ir.Alternatives(options=options):
                return ty.union(self.types(path, part) for part in options)
            case ir.Display(kind=kind, elements=elements):
                return ty.generic(kind, *[self.types(path, part) for part in elements])
            case ir.Unwrapped(value=value, how=how):
                return self.containers.taken(self.types(path, value), how)
            case ir.UnpackedElement(index=index, value=value):
                return self.containers.item(self.types(path, value), index)
            case ir.Subscript():
                return self._subscript(path, expr)
            case ir.Narrowed():
                types, tested = self.types(path, expr.value), self.types(path, expr.classes)
                return self.classes.narrowed(types, tested, holds=expr.holds)
            case ir.AnnotatedVariable():
                return self._annotated(path, expr, outside=False)
            case ir.SentValue(scope=scope):
                return self._sent(ty.Definition(path, scope))
            case ir.TypeParameter(binding=binding, bound=bound):
                allowed = self.annotated(path, bound) if bound is not None else ()
                return (ty.TypeVariable(f"{path}:T{binding}", allowed),)
        return ()

    def bound(  # noqa: PLR0911 - a table
        self, declaration: Declaration, *, outside: bool = False
    ) -> ty.Types:
        """The types of what a name is bound to.

        *outside*: seen from another scope, where only a declared type can be relied on.
        """
        path, value, _ = declaration
        match value:
            case ir.FunctionBinding(scope=scope):
                return (ty.FunctionObject(ty.Definition(path, scope)),)
            case ir.ClassBinding(scope=scope):
                return (ty.ClassObject(ty.Definition(path, scope)),)
            case ty.ModuleObject() | ty.NamespacePackage() | ty.External():
                return (value,)
            case ir.ImportFrom() | ir.ImportModule():
                found = self.resolver.resolve(path, value)
                return ty.union(self.bound(one, outside=True) for one in found)
            case ir.ParameterBinding():
                return self._parameter(path, value)
            case ir.AnnotatedVariable():
                return self._annotated(path, value, outside=outside)
        return self.types(path, value)

    def _annotated(self, path: str, variable: ir.AnnotatedVariable, *, outside: bool) -> ty.Types:
        allowed = ty.substitute(self.annotated(path, variable.annotation), {})
        if variable.value is None or (outside and allowed):
            return allowed
        assigned = self.types(path, variable.value)
        if not allowed:
            return assigned
        ours = [one for one in allowed if isinstance(one, ty.Instance)]
        return tuple(one for one in assigned if self.classes.is_any(one, ours)) or allowed

    def _parameter(self, path: str, binding: ir.ParameterBinding) -> ty.Types:
        function = ty.Definition(path, binding.scope)
        parameter = self.resolver.scope(function).params[binding.index]
        owner = self.first_parameter(function)
        is_first = binding.index == 0 and parameter.kind == "p"
        receiver = (owner,) if owner is not None and is_first else ()
        if parameter.annotation is not None:
            types = self.annotated(path, parameter.annotation)
            found = (
                ty.substitute(types, {"Self": (owner,) if owner is not None else ()}) or receiver
            )
            if parameter.kind == "*":
                return ty.generic("list", found)
            if parameter.kind == "**":
                return ty.generic("dict", ty.generic("builtins.str"), found)
            return found
        if receiver:
            return receiver
        if parameter.default is not None:
            return self.types(path, parameter.default)
        return () if self.declared_only else fixture_types(self, function, parameter.name)

    def first_parameter(self, function: ty.Definition) -> ty.Instance | ty.ClassObject | None:
        """What a method gets first: its class or an instance of it; None for other functions."""
        scope = self.resolver.scope(function)
        owner = ty.Definition(function.path, scope.parent)
        if self.resolver.scope(owner).kind != "class":
            return None
        flags = self.classes.flags(function)
        if "static" in flags:
            return None
        gets_class = "class" in flags or scope.name in ("__new__", "__init_subclass__")
        return ty.ClassObject(owner) if gets_class else ty.Instance(owner)

    def _subscript(self, path: str, expr: ir.Subscript) -> ty.Types:
        types = self.types(path, expr.receiver)
        classes = [one for one in types if isinstance(one, (ty.ClassObject, ty.External))]
        if classes:
            arguments = tuple(self._argument(path, index) for index in expr.indices)
            if variables := dict.fromkeys(ty.type_variables(types)):
                return ty.substitute(types, dict(zip(variables, arguments, strict=False)))
            return tuple(replace(one, arguments=arguments) for one in classes)
        match expr.indices:
            case (ir.Constant(type_name="int", value=index), *_):
                return self.containers.item(types, index)
        return self.containers.item(types, None)

    def _argument(self, path: str, expr: ir.Expr) -> ty.Types:
        """What an argument of a type allows, which may be `…`."""
        if isinstance(expr, ir.Constant) and expr.type_name == "ellipsis":
            return (ty.ELLIPSIS,)
        return self.annotated(path, expr)

    def _sent(self, function: ty.Definition) -> ty.Types:
        """What `yield` gives back: the second argument of a declared `Generator`."""
        returns = self.resolver.scope(function).returns
        types = self.annotated(function.path, returns) if returns is not None else ()
        return ty.union(one.argument(1) for one in types if isinstance(one, ty.Generic))


def _instance(one: ty.Type) -> ty.Types:
    """What an annotation allows that means *one*; nothing for what is no type."""
    match one:
        case ty.ClassObject(cls=cls, arguments=arguments):
            return (ty.Instance(cls, arguments),)
        case ty.External():
            return external_instance(one)
        case ty.TypeVariable():
            return (one,)
    return ()
