"""Annotations -> types, and what the type variables in them stand for.

A type is a tuple: `("I", path, scope, arguments)` an instance of a class of the repository,
`("C", …)` the class itself, `("F", path, scope, receiver)` a function, `("M", path)` a module,
`("B", kind, arguments…)` a container or another generic from outside, `("Z", name)` something
else from outside, `("O", name)` an instance of it, `("T", name, bound)` a type variable. Each
argument is itself a tuple of types, any of which may be meant.
"""

from collections.abc import Iterable
from typing import Any

from judge.codegraph.facts import Expr
from judge.codegraph.infer.name_resolver import Declaration, NameResolver
from judge.codegraph.infer.standard_library import CANONICAL_GENERICS, TRANSPARENT_GENERICS

Type = tuple[Any, ...]
Types = tuple[Type, ...]
Mapping = dict[str, Types]

#: More alternatives than this tell nothing.
_MAX_TYPES = 16


class RecursionLimit:
    """How many questions wait for one another's answers: types, annotations and bases alike.

    Past the limit the answer is "unknown". A question takes up to 16 frames of Python's stack,
    which has room for 1,000; chains in real code are hardly ever longer than a dozen.
    """

    limit = 36

    def __init__(self) -> None:
        self.level = 0

    def is_exhausted(self) -> bool:
        """Whether no further question may be asked."""
        return self.level >= self.limit


def union(groups: Iterable[Types]) -> Types:
    """All types of all *groups*, each once."""
    found = dict.fromkeys(one for group in groups for one in group)
    return tuple(found)[:_MAX_TYPES]


class AnnotationEvaluator:
    """Read annotations with the names that *resolver* knows."""

    def __init__(self, resolver: NameResolver, depth: RecursionLimit) -> None:
        self._resolver = resolver
        self._known: dict[int, Types] = {}
        self._depth = depth

    def types(self, path: str, expr: Expr) -> Types:
        """The types that the annotation *expr* of the file at *path* allows."""
        key = id(expr)
        known = self._known.get(key)
        if known is not None:
            return known
        if self._depth.is_exhausted():
            return ()
        self._known[key] = ()
        self._depth.level += 1
        found = self._types(path, expr)
        self._depth.level -= 1
        self._known[key] = found
        return found

    def _types(self, path: str, expr: Expr) -> Types:  # noqa: PLR0911 - a table
        match expr[0]:
            case "n" | "v" | "a":
                refs = self._resolver.follow(path, expr)
                return union(self._named(ref, ()) for ref in refs)
            case "s":
                arguments = tuple(self._argument(path, index) for index in expr[2:])
                refs = self._resolver.follow(path, expr[1])
                return union(self._named(ref, arguments) for ref in refs)
            case "b" if expr[1] == "__or__":
                return union((self.types(path, expr[2]), self.types(path, expr[3])))
            case "u" | "t" | "f":
                return union(self.types(path, part) for part in expr[1:])
            case "l":
                return union(self.types(path, part) for part in expr[2:])
            case "k" if expr[1] == "literal":
                return (("O", "literal"),)
        return ()

    def _argument(self, path: str, expr: Expr) -> Types:
        return (("O", "..."),) if expr == ("k", "ellipsis") else self.types(path, expr)

    def _named(self, ref: Declaration, arguments: tuple[Types, ...]) -> Types:  # noqa: PLR0911 - a table
        value = ref.value
        match value[0]:
            case "cls":
                return (("I", ref.path, value[1], arguments),)
            case "ext":
                return external(value[1], arguments)
            case "ann":
                return () if value[2] is None else self._alias(ref.path, value[2], arguments)
            case "T":
                return (("T", f"{ref.path}:T{value[1]}", ()),)
            case "c":
                return self._made(ref.path, value)
            case "n" | "v" | "a" | "s" | "b" | "u" | "f" | "t" | "o":
                return self._alias(ref.path, value, arguments)
        return ()

    def _alias(self, path: str, expr: Expr, arguments: tuple[Types, ...]) -> Types:
        if arguments and expr[0] in "nva":
            refs = list(self._resolver.follow(path, expr))
            return union(self._named(ref, arguments) for ref in refs)
        found = self.types(path, expr)
        if not arguments:
            return found
        names = list(dict.fromkeys(type_variables(found)))
        return substitute(found, dict(zip(names, arguments, strict=False)))

    def _made(self, path: str, call: Expr) -> Types:
        """A type made by a call: `TypeVar("T", …)`, `NewType("Id", int)`."""
        names = {ref.value[1] for ref in self._resolver.follow(path, call[1]) if ref.path == ""}
        maker = next(iter(names), "").rpartition(".")[2]
        if maker == "TypeVar":
            bounds = [part[1] for part in call[2:] if part[0] == "bound"]
            bound = union(self.types(path, part) for part in bounds)
            return (("T", f"{path}:{id(call)}", bound),)
        if maker == "NewType" and len(call) > 3:
            return self.types(path, call[3])
        return ()


def external(name: str, arguments: tuple[Types, ...]) -> Types:
    """The type that a name from outside the repository stands for in an annotation."""
    short = name.rpartition(".")[2]
    if name in ("builtins.None", "typing.Any", "builtins.object"):
        return ()
    if short in TRANSPARENT_GENERICS and name != short:
        return union(arguments) if short in ("Optional", "Union") else union(arguments[:1])
    if short == "Self":
        return (("T", "Self", ()),)
    kind = CANONICAL_GENERICS.get(short)
    if kind is None:
        return (("B", name, *arguments),) if arguments else (("O", name),)
    if kind == "type":
        return classes_of(union(arguments))
    return (_generic(kind, arguments),)


def _generic(kind: str, arguments: tuple[Types, ...]) -> Type:
    if kind in ("awaitable", "callable"):
        return ("B", kind, arguments[-1] if arguments else ())
    if kind == "tuple" and len(arguments) == 2 and arguments[1] == (("O", "..."),):
        return ("B", "list", arguments[0])
    return ("B", kind, *arguments)


def type_variables(types: Types) -> Iterable[str]:
    """The names of the type variables in *types*, in order."""
    for one in types:
        if one[0] == "T":
            yield one[1]
        elif one[0] == "B":
            for argument in one[2:]:
                yield from type_variables(argument)
        elif one[0] == "I":
            for argument in one[3]:
                yield from type_variables(argument)


def substitute(types: Types, mapping: Mapping, *, keep: bool = False) -> Types:
    """*types* with each type variable replaced by what it stands for.

    A variable that *mapping* lacks stays when *keep*, else gives way to its bound.
    """
    return union(_substitute(one, mapping, keep=keep) for one in types)


def _substitute(one: Type, mapping: Mapping, *, keep: bool) -> Types:
    if one[0] == "T":
        return mapping.get(one[1], (one,) if keep else one[2])
    if one[0] == "B":
        # What a callable returns may depend on arguments that it has not been given yet.
        later = keep or one[1] == "callable"
        arguments = tuple(substitute(part, mapping, keep=later) for part in one[2:])
        if one[1] == "type":
            return classes_of(union(arguments))
        return (("B", one[1], *arguments),)
    if one[0] == "I" and one[3]:
        arguments = tuple(substitute(part, mapping, keep=keep) for part in one[3])
        return (("I", one[1], one[2], arguments),)
    return (one,)


def classes_of(types: Types) -> Types:
    """`type[X]` for each X of *types*."""
    return union(_class_of(one) for one in types)


def _class_of(one: Type) -> Types:
    match one[0]:
        case "I":
            return (("C", *one[1:]),)
        case "O":
            return (("Z", one[1]),)
        case "T":
            return (("B", "type", (one,)),)
    return ()
