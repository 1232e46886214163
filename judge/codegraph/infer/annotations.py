"""Annotations -> types, and what the type variables in them stand for."""

from judge.codegraph import ir
from judge.codegraph.infer import types as ty
from judge.codegraph.infer.name_resolver import Declaration, NameResolver
from judge.codegraph.infer.standard_library import CANONICAL_GENERICS, TRANSPARENT_GENERICS

_NOTHING_TOLD = frozenset({"builtins.None", "typing.Any", "builtins.object"})


class AnnotationEvaluator:
    """Read annotations with the names that *resolver* knows."""

    def __init__(self, resolver: NameResolver, limit: ty.RecursionLimit) -> None:
        self._resolver = resolver
        # By identity: facts stay loaded while a file is linked, and comparing trees costs time.
        self._known: dict[int, ty.Types] = {}
        self._limit = limit

    def types(self, path: str, expr: ir.Expr) -> ty.Types:
        """The types that the annotation *expr* of the file at *path* allows."""
        key = id(expr)
        known = self._known.get(key)
        if known is not None:
            return known
        if self._limit.is_exhausted():
            return ()
        self._known[key] = ()
        self._limit.level += 1
        found = self._types(path, expr)
        self._limit.level -= 1
        self._known[key] = found
        return found

    def _types(self, path: str, expr: ir.Expr) -> ty.Types:
        match expr:
            case ir.Name() | ir.Variable() | ir.Attribute():
                return self._named(path, expr, ())
            case ir.Subscript(receiver=receiver, indices=indices):
                arguments = tuple(self._argument(path, index) for index in indices)
                return self._named(path, receiver, arguments)
            case ir.Alternatives(options=parts):
                return ty.union(self.types(path, part) for part in parts)
            case ir.Display(elements=parts):
                return ty.union(self.types(path, part) for part in parts)
        return ()

    def _argument(self, path: str, expr: ir.Expr) -> ty.Types:
        if isinstance(expr, ir.Constant) and expr.type_name == "ellipsis":
            return (ty.ELLIPSIS,)
        return self.types(path, expr)

    def _named(self, path: str, expr: ir.Expr, arguments: tuple[ty.Types, ...]) -> ty.Types:
        declarations = self._resolver.resolve(path, expr)
        return ty.union(self._declared(declaration, arguments) for declaration in declarations)

    def _declared(  # noqa: PLR0911 - a table
        self, declaration: Declaration, arguments: tuple[ty.Types, ...]
    ) -> ty.Types:
        path, value, _ = declaration
        match value:
            case ir.ClassBinding(scope=scope):
                return (ty.Instance(ty.Definition(path, scope), arguments),)
            case ty.External(name=name):
                return external(name, arguments)
            case ir.AnnotatedVariable(value=alias) if alias is not None:
                return self._alias(path, alias, arguments)
            case ir.TypeParameter(binding=binding, bound=bound):
                allowed = self.types(path, bound) if bound is not None else ()
                return (ty.TypeVariable(f"{path}:T{binding}", allowed),)
            case ir.Call():
                return self._type_call(path, value)
            case (
                ir.Name()
                | ir.Variable()
                | ir.Attribute()
                | ir.Subscript()
                | ir.Alternatives()
                | ir.Display()
                | ir.Unpacked()
            ):
                return self._alias(path, value, arguments)
        return ()

    def _alias(self, path: str, expr: ir.Expr, arguments: tuple[ty.Types, ...]) -> ty.Types:
        if not arguments:
            return self.types(path, expr)
        if isinstance(expr, (ir.Name, ir.Variable, ir.Attribute)):
            return self._named(path, expr, arguments)
        found = self.types(path, expr)
        names = dict.fromkeys(ty.type_variables(found))
        return ty.substitute(found, dict(zip(names, arguments, strict=False)))

    def _type_call(self, path: str, call: ir.Call) -> ty.Types:
        """A type made by a call: `TypeVar("T", …)`, `NewType("Id", int)`."""
        functions = self._resolver.resolve(path, call.function)
        names = [f.value.name for f in functions if isinstance(f.value, ty.External)]
        function = names[0].rpartition(".")[2] if names else ""
        if function == "TypeVar":
            bound = ty.union(self.types(path, part) for part in call.arguments[1:])
            return (ty.TypeVariable(f"{path}:{id(call)}", bound),)
        return ()


def external(name: str, arguments: tuple[ty.Types, ...]) -> ty.Types:
    """The type that a name from outside the repository stands for in an annotation."""
    short = name.rpartition(".")[2]
    if name in _NOTHING_TOLD:
        return ()
    if short in TRANSPARENT_GENERICS and name != short:
        return ty.union(arguments if short in ("Optional", "Union") else arguments[:1])
    if short == "Self":
        return (ty.TypeVariable("Self"),)
    kind = CANONICAL_GENERICS.get(short)
    if kind is None:
        return ty.generic(name, *arguments) if arguments else (ty.ExternalInstance(name),)
    if kind == "type":
        return ty.classes_of(ty.union(arguments))
    return _canonical(kind, arguments)


def _canonical(kind: str, arguments: tuple[ty.Types, ...]) -> ty.Types:
    if kind in ("awaitable", "callable"):
        return ty.generic(kind, arguments[-1] if arguments else ())
    if kind == "tuple" and len(arguments) == 2 and arguments[1] == (ty.ELLIPSIS,):
        return ty.generic("list", arguments[0])
    return ty.generic(kind, *arguments)
