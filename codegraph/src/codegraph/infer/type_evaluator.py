"""Expressions -> types, which decide whose method is called.

Types come from annotations, else from what is assigned, returned and yielded. Nothing is guessed:
the attributes of an expression without a type become possible uses. `class_hierarchy` and `calls`
evaluate their kinds of expression and call back here for its parts.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath

from msgspec.structs import replace

from codegraph import ir
from codegraph.facts import fixture_key
from codegraph.infer import types as ty
from codegraph.infer.calls import CallEvaluator
from codegraph.infer.class_hierarchy import ClassHierarchy
from codegraph.infer.name_resolver import Declaration, NameResolver
from codegraph.infer.standard_library import external_instance

_GENERIC = (ty.ClassObject, ty.External, ty.FunctionObject)
_LITERALS = {"str", "int", "float", "bool", "bytes", "complex"}


class TypeEvaluator:
    """Infer types in all files, with caches."""

    def __init__(self, resolver: NameResolver, *, declared_only: bool = False) -> None:
        """*declared_only*: the result of a function without a return annotation is unknown."""
        self.resolver = resolver
        self.declared_only = declared_only
        #: The number of nested evaluations, of types and of base classes together.
        self.depth = 0
        self.classes = ClassHierarchy(self)
        self.calls = CallEvaluator(self)
        # Keyed by id(): facts stay loaded while a file is linked, and hashing trees costs time.
        self._type_cache: dict[int, ty.Types] = {}
        self._annotation_cache: dict[int, ty.Types] = {}

    def annotation_types(self, path: str, expr: ir.Expr) -> ty.Types:
        """The types that the annotation *expr* allows: instances of its value, which is a class."""
        key = id(expr)
        if key not in self._annotation_cache:
            self._annotation_cache[key] = ()
            self._annotation_cache[key] = ty.union(
                map(_allowed_types, ty.flattened(self.types(path, expr)))
            )
        return self._annotation_cache[key]

    def types(self, path: str, expr: ir.Binding) -> ty.Types:
        """The types that *expr*, an expression of the file at *path*, may have."""
        key = id(expr)
        cached = self._type_cache.get(key)
        if cached is not None:
            return cached
        if self.depth >= ty.MAX_DEPTH:
            return ()
        self._type_cache[key] = ()  # Types may depend on one another in a circle.
        self.depth += 1
        types = self._type_cache[key] = self._evaluate(path, expr)
        self.depth -= 1
        return types

    def _evaluate(self, path: str, expr: ir.Binding) -> ty.Types:  # noqa: C901, PLR0911, PLR0912 - a table
        match expr:
            case ir.Variable(bindings=bindings):
                declarations = self.resolver.declarations(path, bindings)
                return ty.union(map(self.bound_types, declarations))
            case ir.Attribute(receiver=receiver, name=name):
                types = self.types(path, receiver)
                return ty.union(self.classes.attribute_types(t, name) for t in types)
            case ir.Name(scope=scope, name=name) | ir.Alias(scope=scope, name=name):
                declarations = self.resolver.look_up(path, scope, name)
                return ty.union(self.bound_types(d, other_scope=True) for d in declarations)
            case ir.Call():
                return self.calls.call(path, expr)
            case ir.Constant(type_name="ellipsis"):
                return (ty.ELLIPSIS,)
            case ir.Constant(type_name=name):
                return ty.generic(f"builtins.{name}") if name in _LITERALS else ()
            case ir.Alternatives(options=options):
                return ty.union(self.types(path, part) for part in options)
            case ir.Display(kind=kind, elements=elements):
                return ty.generic(kind, *[self.types(path, part) for part in elements])
            case ir.Unwrapped(value=value, how=how):
                return self.calls.unwrapped(self.types(path, value), how)
            case ir.UnpackedElement(index=index, value=value):
                return self.calls.item(self.types(path, value), index)
            case ir.Subscript():
                return self._subscript(path, expr)
            case ir.Narrowed():
                types, tested = self.types(path, expr.value), self.types(path, expr.classes)
                return self.classes.narrowed(types, tested, holds=expr.holds)
            case ir.AnnotatedVariable():
                return self._annotated_variable(path, expr, other_scope=False)
            case ir.TypeParameter(binding=binding, bound=bound):
                allowed = self.annotation_types(path, bound) if bound is not None else ()
                return (ty.TypeVariable(f"{path}:T{binding}", allowed),)
        return ()

    def bound_types(  # noqa: PLR0911 - a table
        self, declaration: Declaration, *, other_scope: bool = False
    ) -> ty.Types:
        """The types of a declaration.

        *other_scope*: seen from another scope, where only a declared type is reliable.
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
                declarations = self.resolver.resolve(path, value)
                return ty.union(self.bound_types(d, other_scope=True) for d in declarations)
            case ir.ParameterBinding():
                return self._parameter(path, value)
            case ir.AnnotatedVariable():
                return self._annotated_variable(path, value, other_scope=other_scope)
        return self.types(path, value)

    def _annotated_variable(
        self, path: str, variable: ir.AnnotatedVariable, *, other_scope: bool
    ) -> ty.Types:
        allowed = ty.substitute(self.annotation_types(path, variable.annotation), {})
        if variable.value is None or (other_scope and allowed):
            return allowed
        assigned = self.types(path, variable.value)
        if not allowed:
            return assigned
        classes = [t for t in allowed if isinstance(t, ty.Instance)]
        return tuple(t for t in assigned if self.classes.is_instance(t, classes)) or allowed

    def _parameter(self, path: str, binding: ir.ParameterBinding) -> ty.Types:
        function = ty.Definition(path, binding.scope)
        parameter = self.resolver.scope(function).params[binding.index]
        self_type = self.first_parameter_type(function)
        self_types = (self_type,) if self_type is not None else ()
        receiver = self_types if binding.index == 0 and parameter.kind == "p" else ()
        if parameter.annotation is not None:
            types = self.annotation_types(path, parameter.annotation)
            types = ty.substitute(types, {"Self": self_types}) or receiver
            if parameter.kind == "*":
                return ty.generic("list", types)
            if parameter.kind == "**":
                return ty.generic("dict", ty.generic("builtins.str"), types)
            return types
        if receiver:
            return receiver
        if parameter.default is not None:
            return self.types(path, parameter.default)
        return () if self.declared_only else self._fixture_types(function, parameter.name)

    def _fixture_types(self, function: ty.Definition, name: str) -> ty.Types:
        """The types of the fixture *name* in *function*, when that is a test or a fixture."""
        is_test = self.resolver.scope(function).name.startswith("test")
        is_asking = is_test or "fixture" in self.classes.flags(function)
        fixture = self.fixture(function, name) if is_asking else None
        if fixture is None:
            return ()
        types, scope = self.calls.result(ty.FunctionObject(fixture)), self.resolver.scope(fixture)
        if scope.yielded:
            return self.calls.elements(types, is_async=scope.is_async)
        return self.calls.awaited(types) if scope.is_async else types

    def fixture(self, user: ty.Definition, name: str) -> ty.Definition | None:
        """The fixture *name* as pytest finds it for the function or class *user*, if any."""
        for path, value, _ in _candidates(self.resolver, user, name):
            if isinstance(value, ir.FunctionBinding):
                found = ty.Definition(path, value.scope)
                if found != user and "fixture" in self.classes.flags(found):
                    return found
        return None

    def first_parameter_type(self, function: ty.Definition) -> ty.Instance | ty.ClassObject | None:
        """The type of a method's `self` or `cls`; None for static methods and other functions."""
        scope = self.resolver.scope(function)
        owner = ty.Definition(function.path, scope.parent)
        if self.resolver.scope(owner).kind != "class":
            return None
        flags = self.classes.flags(function)
        if "static" in flags:
            return None
        takes_class = "class" in flags or scope.name in ("__new__", "__init_subclass__")
        return ty.ClassObject(owner) if takes_class else ty.Instance(owner)

    def _subscript(self, path: str, expr: ir.Subscript) -> ty.Types:
        types = self.types(path, expr.receiver)
        classes = [t for t in types if isinstance(t, _GENERIC)]
        if classes:
            arguments = tuple(self.annotation_types(path, index) for index in expr.indices)
            if variables := dict.fromkeys(ty.type_variables(types)):
                return ty.substitute(types, dict(zip(variables, arguments, strict=False)))
            return tuple(replace(t, arguments=arguments) for t in classes)
        match expr.indices:
            case (ir.Constant(type_name="int", value=index), *_):
                return self.calls.item(types, index)
        return self.calls.item(types, None)


def _allowed_types(type_: ty.Type) -> ty.Types:
    """The types that an annotation with the value *type_* allows; empty for what is no class."""
    match type_:
        case ty.ClassObject(cls=cls, arguments=arguments):
            return (ty.Instance(cls, arguments),)
        case ty.External():
            return external_instance(type_)
        case ty.TypeVariable() | ty.Generic(kind="..."):
            return (type_,)
    return ()


def _candidates(resolver: NameResolver, user: ty.Definition, name: str) -> Iterator[Declaration]:
    """The declarations of *name* in the class, the module and each `conftest.py`, in order."""
    path, scope = user.path, resolver.scope(user)
    keys = (fixture_key(name), name)
    if scope.kind == "function":
        scope = resolver.facts(path).scopes[scope.parent]
    if scope.kind == "class":
        for key in keys:
            yield from resolver.declarations(path, scope.names.get(key, ()))
    # In the order in which pytest looks.
    conftests = (str(folder / "conftest.py") for folder in PurePosixPath(path).parents)
    for file in (path, *conftests):
        resolver.lookups.add(file.removesuffix(".py").replace("/", "."))
        for key in keys:
            for declaration in resolver.module_declarations(file, key):
                yield from resolver.resolve_alias(declaration)
