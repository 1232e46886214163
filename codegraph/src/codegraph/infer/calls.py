"""What calls return, and what containers, context managers and awaitables hold."""

from typing import TYPE_CHECKING

from codegraph import ir
from codegraph.infer import standard_library as std
from codegraph.infer import types as ty

if TYPE_CHECKING:
    from codegraph.infer.type_evaluator import TypeEvaluator

#: A positional argument, with the file in which it is written.
Argument = tuple[str, ir.Expr]
_ITERABLE = ("list", "set", "iterator", "generator", "dict", "holder")
_ASYNC_ITERABLE = ("aiterator", "generator")


class CallEvaluator:
    """Infer what calls return: from annotations, else from `return` and `yield`.

    And what is inside containers.
    """

    def __init__(self, evaluator: "TypeEvaluator") -> None:
        self._evaluator, self._resolver = evaluator, evaluator.resolver
        self._classes = evaluator.classes
        self._results: dict[ty.FunctionObject, ty.Types] = {}

    def call(self, path: str, call: ir.Call) -> ty.Types:
        """The types of a call in the file at *path*."""
        function = call.function
        if isinstance(function, ir.Name) and function.name == "super":
            return self._super(ty.Definition(path, function.scope), call.arguments)
        arguments = [(path, argument) for argument in call.arguments]
        functions = self._evaluator.types(path, function)
        if any(isinstance(f, ty.External) and f.name.endswith(".TypeVar") for f in functions):
            allowed = (self._evaluator.annotation_types(path, t) for t in call.arguments[1:])
            return (ty.TypeVariable(f"{path}:{id(call)}", ty.union(allowed)),)
        return ty.union(self.result(t, arguments) for t in functions)

    def _super(self, inside: ty.Definition, arguments: tuple[ir.Expr, ...]) -> ty.Types:
        """The type of `super()`, or `super(Class, self)`, in the scope *inside*, of its method."""
        path, index = inside
        while index > 0:
            function = ty.Definition(path, index)
            index = self._resolver.scope(function).parent
            cls = ty.Definition(path, index)
            if index > 0 and self._resolver.scope(cls).kind == "class":
                receiver = self._evaluator.first_parameter_type(function) or ty.Instance(cls)
                named = self._evaluator.types(path, arguments[0]) if arguments else ()
                classes = [t.cls for t in named if isinstance(t, ty.ClassObject)]
                return (ty.SuperObject(classes[0] if classes else cls, receiver),)
        return ()

    def method_result(self, type_: ty.Type, method: str) -> ty.Types:
        """The types of `type_.method()`."""
        functions = self._classes.attribute_types(type_, method)
        return ty.union(self.result(function) for function in functions)

    def result(  # noqa: PLR0911 - a table
        self, callee: ty.Type, arguments: list[Argument] | None = None
    ) -> ty.Types:
        """The types of a call of *callee* with these positional *arguments*."""
        match callee:
            case ty.ClassObject():
                return self._instance(callee, arguments or [])
            case ty.FunctionObject():
                return self._function_result(callee, arguments or [])
            case ty.Instance():
                return self.method_result(callee, "__call__")
            case ty.Generic(kind="callable"):
                returned = callee.argument(0)
                return tuple(t for t in returned if not isinstance(t, ty.TypeVariable))
            case ty.ExternalMethod(receiver=ty.Generic() as receiver, name=name):
                rule = std.METHOD_RESULTS.get(full := f"{receiver.kind}.{name}")
                if rule is None and full in std.FUNCTION_RESULTS:
                    return self._external_result(full, arguments or [])
                return rule(receiver) if rule is not None else ()
            case ty.External(arguments=type_arguments) if type_arguments:
                return std.external_instance(callee)
            case ty.External(name=name):
                return self._external_result(name, arguments or [])
        return ()

    def _instance(self, cls: ty.ClassObject, arguments: list[Argument]) -> ty.Types:
        parameters = self._classes.type_parameters(cls.cls)
        if not parameters or cls.arguments:
            return (ty.instance_of(cls),)
        mapping: ty.Substitution = {}
        for member in self._classes.class_members(cls, "__init__"):
            if (function := member.function) is not None:
                self._match_arguments(function, 1, arguments, mapping)
        return (ty.Instance(cls.cls, tuple(mapping.get(name, ()) for name in parameters)),)

    def _function_result(self, callee: ty.FunctionObject, arguments: list[Argument]) -> ty.Types:
        function = callee.function
        scope = self._resolver.scope(function)
        if scope.returns is None:
            return () if self._evaluator.declared_only else self._inferred_result(callee)
        types = self._evaluator.annotation_types(function.path, scope.returns)
        if any(ty.type_variables(types)):
            types = ty.substitute(types, self._type_variables_of(callee, arguments))
        if scope.is_async and not scope.yielded:
            types = ty.generic("awaitable", types)
        return self._as_context_manager(function, types)

    def _inferred_result(self, callee: ty.FunctionObject) -> ty.Types:
        if callee not in self._results:
            self._results[callee] = ()  # A function may call itself.
            self._results[callee] = self._infer_from_body(callee)
        return self._results[callee]

    def _infer_from_body(self, callee: ty.FunctionObject) -> ty.Types:
        function = callee.function
        scope = self._resolver.scope(function)
        if scope.yielded:
            kind = "aiterator" if scope.is_async else "iterator"
            yielded = ty.union(self._evaluator.types(function.path, part) for part in scope.yielded)
            return self._as_context_manager(function, ty.generic(kind, yielded))
        types = ty.union(self._evaluator.types(function.path, part) for part in scope.returned)
        own, receiver = self._evaluator.first_parameter_type(function), callee.receiver
        if receiver is not None and own is not None:
            # The receiver's class for the method's own: `self` and `cls()`.
            both, made = (ty.Instance, ty.ClassObject), (receiver.cls, receiver.arguments)
            swapped: dict[ty.Type, ty.Type] = {kind(own.cls): kind(*made) for kind in both}
            types = tuple(swapped.get(t, t) for t in types)
        return ty.generic("awaitable", types) if scope.is_async else types

    def _as_context_manager(self, function: ty.Definition, types: ty.Types) -> ty.Types:
        """*types*, as context managers if *function* is decorated with `contextmanager`."""
        for kind in ("context", "acontext"):
            if kind in self._classes.flags(function):
                return ty.generic(kind, self.elements(types, is_async=kind == "acontext"))
        return types

    # --- type variables ---------------------------------------------------------------------

    def _type_variables_of(
        self, callee: ty.FunctionObject, arguments: list[Argument]
    ) -> ty.Substitution:
        """The types of a function's type variables in this call."""
        function, receiver = callee.function, callee.receiver
        mapping: ty.Substitution = {}
        skip = 0
        if receiver is not None:
            skip = 0 if "static" in self._classes.flags(function) else 1
            mapping["Self"] = (ty.instance_of(receiver),)
            owner = ty.Definition(function.path, self._resolver.scope(function).parent)
            given = self._classes.type_arguments(receiver)
            for cls, inner in self._classes.mro(receiver.cls).ancestors:
                if cls == owner:
                    mapping |= {k: ty.substitute(v, given) for k, v in inner.items()} | given
        self._match_arguments(function, skip, arguments, mapping)
        names = (f"{function.path}:T{b}" for b in self._resolver.scope(function).type_params)
        return mapping | dict(zip(names, callee.arguments, strict=False))

    def _match_arguments(
        self,
        function: ty.Definition,
        skip: int,
        arguments: list[Argument],
        mapping: ty.Substitution,
    ) -> None:
        """Solve type variables by *arguments* into *mapping*; *skip* counts bound parameters."""
        params = self._resolver.scope(function).params[skip:]
        for parameter, argument in zip(params, arguments, strict=False):
            if parameter.annotation is not None:
                pattern = self._evaluator.annotation_types(function.path, parameter.annotation)
                if any(ty.type_variables(pattern)):
                    self._unify(pattern, self._evaluator.types(*argument), mapping)

    def _unify(self, pattern: ty.Types, actual: ty.Types, mapping: ty.Substitution) -> None:
        for type_ in pattern:
            match type_:
                case ty.TypeVariable(name=name):
                    mapping[name] = ty.union((mapping.get(name, ()), actual))
                case ty.Generic(arguments=(inner, *_)):
                    self._unify(inner, self._first_argument_of(type_, actual), mapping)
                case ty.Instance(cls=cls, arguments=arguments) if arguments:
                    for other in actual:
                        if isinstance(other, ty.Instance) and other.cls == cls:
                            for inner, given in zip(arguments, other.arguments, strict=False):
                                self._unify(inner, given, mapping)

    def _first_argument_of(self, pattern: ty.Generic, actual: ty.Types) -> ty.Types:
        """The part of *actual* that corresponds to the first type argument of *pattern*."""
        if pattern.kind == "type":
            return tuple(ty.instance_of(t) for t in actual if isinstance(t, ty.ClassObject))
        if pattern.kind == "callable":
            return ty.union(self.result(t) for t in actual)
        return self.elements(actual, is_async=pattern.kind == "aiterator")

    def _external_result(self, name: str, arguments: list[Argument]) -> ty.Types:
        """The types of a call of something outside the repository."""
        if name in std.CASTS and arguments:
            return ty.substitute(self._evaluator.annotation_types(*arguments[0]), {})
        rule = std.FUNCTION_RESULTS.get(name) or std.FUNCTION_RESULTS.get(name.rpartition(".")[2])
        if rule is None:
            return ty.generic(name)
        types = [self._evaluator.types(*argument) for argument in arguments]
        return rule(self, types[0] if types else (), types)

    # --- containers -------------------------------------------------------------------------

    def unwrapped(self, types: ty.Types, how: str) -> ty.Types:
        """What `for`, `async for`, `with`, `async with` or `await` (*how*) yields from *types*."""
        if how == "await":
            return self.awaited(types)
        unwrap = self._entered if how.endswith("with") else self._elements_of
        return ty.union(unwrap(t, is_async=how.startswith("async")) for t in types)

    def elements(self, types: ty.Types, *, is_async: bool = False) -> ty.Types:
        """The elements over which a `for` or `async for` iterates."""
        return ty.union(self._elements_of(t, is_async=is_async) for t in types)

    def _elements_of(self, type_: ty.Type, *, is_async: bool = False) -> ty.Types:
        match type_:
            case ty.Generic(kind="tuple"):
                return ty.union(type_.arguments)
            case ty.Generic(kind="map"):
                return ty.generic("tuple", type_.argument(0), type_.argument(1))
            case ty.Generic(kind=kind):
                iterable = _ASYNC_ITERABLE if is_async else _ITERABLE
                return type_.argument(0) if kind in iterable else ()
            case ty.ClassObject(cls=cls) if self._classes.is_enum(cls):
                return (ty.instance_of(type_),)
            case ty.Instance():
                return () if is_async else self._iterated(type_)
        return ()

    def _iterated(self, type_: ty.Instance) -> ty.Types:
        method_result = self.method_result
        elements = ty.union(
            method_result(iterator, "__next__")
            if isinstance(iterator, ty.Instance)
            else self._elements_of(iterator)
            for iterator in method_result(type_, "__iter__")
        )
        return elements or method_result(type_, "__getitem__")

    def item(self, types: ty.Types, index: int | None) -> ty.Types:
        """The types of `types[index]`; *index* is None when it is no literal integer."""
        return ty.union(self._item_of(t, index) for t in types)

    def _item_of(self, type_: ty.Type, index: int | None) -> ty.Types:
        match type_:
            case ty.Generic(kind="dict" | "map"):
                return type_.argument(1)
            case ty.Generic(kind=kind, arguments=parts):
                if kind == "tuple" and index is not None and -len(parts) <= index < len(parts):
                    return parts[index]
                return self._elements_of(type_)
            case ty.Instance():
                if index is not None and (field := self._field_name(type_, index)):
                    return self._classes.attribute_types(type_, field)
                result = self.method_result(type_, "__getitem__")
                bases = self._classes.generic_bases(type_) if not result else ()
                return result or ty.union(self._item_of(base, index) for base in bases)
        return ()

    def _field_name(self, type_: ty.Instance, index: int) -> str:
        """The name of field number *index* of a named tuple; empty for other classes."""
        classes, resolver = self._classes, self._evaluator.resolver
        if "typing.NamedTuple" not in classes.external_base_names(type_.cls):
            return ""
        # The direct subclass of NamedTuple declares the fields, and comes last in the order.
        cls = classes.mro(type_.cls).ancestors[-1].cls
        fields = [
            name
            for name, indices in resolver.scope(cls).names.items()
            if isinstance(resolver.facts(cls.path).bindings[indices[0]], ir.AnnotatedVariable)
        ]
        return fields[index] if -len(fields) <= index < len(fields) else ""

    def awaited(self, types: ty.Types) -> ty.Types:
        """The results of `await` on *types*."""
        results = []
        for type_ in types:
            if isinstance(type_, ty.Generic) and type_.kind == "awaitable":
                results.append(type_.argument(0))
            elif isinstance(type_, ty.Instance):
                # `await` returns the third argument of `Generator[…, …, Result]`.
                generators = self.method_result(type_, "__await__")
                results += [g.argument(2) for g in generators if isinstance(g, ty.Generic)]
        return ty.union(results)

    def _entered(self, type_: ty.Type, *, is_async: bool) -> ty.Types:
        match type_:
            case ty.Generic(kind="context" | "acontext"):
                return type_.argument(0)
            case ty.Instance():
                method = "__aenter__" if is_async else "__enter__"
                entered = self.method_result(type_, method)
                return self.awaited(entered) if is_async else entered
        return ()

    def results(self, functions: ty.Types) -> ty.Types:
        """The results of calling *functions*."""
        return ty.union(map(self.result, functions))
