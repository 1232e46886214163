"""The types that an expression may have: their kinds, and how sets of them combine."""

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace


class Definition(NamedTuple):
    """A class or function of the repository: scope number *scope* of the file at *path*."""

    path: str
    scope: int


class Type(Struct, frozen=True):
    """The base of all kinds. Types are compared by value, so that a union has each once."""


class Instance(Type, frozen=True):
    """An instance of a class of the repository."""

    cls: Definition
    arguments: tuple["Types", ...] = ()


class ClassObject(Type, frozen=True):
    """A class of the repository itself."""

    cls: Definition
    arguments: tuple["Types", ...] = ()


class SuperObject(Type, frozen=True):
    """The result of `super()` in a method of *cls* that was called on *receiver*."""

    cls: Definition
    receiver: Instance | ClassObject


class FunctionObject(Type, frozen=True):
    """A function of the repository, or a method bound to *receiver*; *arguments* are types."""

    function: Definition
    receiver: Instance | ClassObject | None = None
    arguments: tuple["Types", ...] = ()


class ModuleObject(Type, frozen=True):
    """The module in the file at *path*."""

    path: str


class NamespacePackage(Type, frozen=True):
    """A package without a file of its own, as *importer* sees it."""

    name: str
    importer: str


class External(Type, frozen=True):
    """A module, class or function from outside the repository, by its full name."""

    name: str
    arguments: tuple["Types", ...] = ()


class Generic(Type, frozen=True):
    """An instance of an external class, which is often generic.

    *kind* is one of the behaviours in `standard_library`, else the full name of the class.
    """

    kind: str
    arguments: tuple["Types", ...] = ()

    def argument(self, index: int) -> "Types":
        """The types of type argument number *index*; empty when it is not given."""
        return self.arguments[index] if index < len(self.arguments) else ()


class ExternalMethod(Type, frozen=True):
    """The method *name* of an instance of an external class."""

    receiver: Generic
    name: str


class TypeVariable(Type, frozen=True):
    """A type variable; *bound* has the types to use while it is unsolved."""

    name: str
    bound: "Types" = ()


Types: TypeAlias = tuple[Type, ...]
#: The types of type variables, by name.
Substitution: TypeAlias = dict[str, Types]

ELLIPSIS = Generic("...")

#: A longer union says nothing useful.
_MAX_TYPES = 16
#: Of nested evaluations; beyond it a type is unknown. One takes up to 16 frames of Python's stack,
#: which has room for 1,000; real code hardly ever nests more than a dozen.
MAX_DEPTH = 36


def union(groups: Iterable[Types]) -> Types:
    """All types of all *groups*, each once."""
    types = dict.fromkeys(t for group in groups for t in group)
    return tuple(types)[:_MAX_TYPES]


def generic(kind: str, *arguments: Types) -> Types:
    """An instance of an external generic class, as the only type."""
    return (Generic(kind, arguments),)


def instance_of(cls: ClassObject | Instance) -> Instance:
    """An instance of the same class, with the same type arguments."""
    return Instance(cls.cls, cls.arguments)


def type_variables(types: Types) -> Iterable[str]:
    """The names of the type variables in *types*, in order."""
    for type_ in types:
        if isinstance(type_, TypeVariable):
            yield type_.name
        elif isinstance(type_, (Generic, Instance, ClassObject, External)):
            for argument in type_.arguments:
                yield from type_variables(argument)


def substitute(types: Types, mapping: Substitution, *, keep: bool = False) -> Types:
    """*types* with each type variable replaced by its types in *mapping*.

    A variable that *mapping* lacks stays if *keep*, else it is replaced by its bound.
    """
    return union(_substitute_in(t, mapping, keep=keep) for t in types)


def _substitute_in(type_: Type, mapping: Substitution, *, keep: bool) -> Types:
    match type_:
        case TypeVariable(name=name, bound=bound):
            return mapping.get(name, (type_,) if keep else bound)
        case Generic(kind=kind):
            arguments = tuple(substitute(part, mapping, keep=keep) for part in type_.arguments)
            return classes_of(union(arguments)) if kind == "type" else generic(kind, *arguments)
        case Instance() | ClassObject() | External() if type_.arguments:
            arguments = tuple(substitute(part, mapping, keep=keep) for part in type_.arguments)
            return (replace(type_, arguments=arguments),)
    return (type_,)


def classes_of(types: Types) -> Types:
    """`type[X]` for each X of *types*."""
    return union(_class_of(t) for t in types)


def _class_of(type_: Type) -> Types:
    match type_:
        case Instance(cls=cls, arguments=arguments):
            return (ClassObject(cls, arguments),)
        case Generic(kind=name, arguments=()):
            return (External(name),)
        case TypeVariable():
            return generic("type", (type_,))
    return ()


def instances(classes: Types) -> Types:
    """Instances of *classes*, which may come in tuples."""
    return tuple(instance_of(t) for t in flattened(classes) if isinstance(t, ClassObject))


def flattened(types: Types) -> Types:
    """*types* with tuples and lists, nested ones too, replaced by their elements."""
    elements: list[Type] = []
    for type_ in types:
        if isinstance(type_, Generic) and type_.kind in ("tuple", "list"):
            elements.extend(inner for argument in type_.arguments for inner in flattened(argument))
        else:
            elements.append(type_)
    return tuple(elements)
