"""What an expression may turn out to be: the kinds of type, and how sets of them combine."""

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace


class Definition(NamedTuple):
    """A class or function of the repository: scope number *scope* of the file at *path*."""

    path: str
    scope: int


class Type(Struct, frozen=True):
    """What all kinds share: they are compared by content, so that each counts once in a union."""


class Instance(Type, frozen=True):
    """An instance of a class of the repository."""

    cls: Definition
    arguments: tuple["Types", ...] = ()


class ClassObject(Type, frozen=True):
    """A class of the repository itself."""

    cls: Definition
    arguments: tuple["Types", ...] = ()


class SuperObject(Type, frozen=True):
    """What `super()` gives in a method of *cls*, called on *receiver*."""

    cls: Definition
    receiver: Instance | ClassObject


class FunctionObject(Type, frozen=True):
    """A function of the repository, or a method bound to *receiver*."""

    function: Definition
    receiver: Instance | ClassObject | None = None


class ModuleObject(Type, frozen=True):
    """The module in the file at *path*."""

    path: str


class NamespacePackage(Type, frozen=True):
    """A package without a file of its own."""

    name: str


class External(Type, frozen=True):
    """Something from outside the repository, by its full name: a module, class or function."""

    name: str
    arguments: tuple["Types", ...] = ()


class Generic(Type, frozen=True):
    """An instance of a class from outside, which is often generic.

    *kind* is one of the behaviours in `standard_library`, else the full name.
    """

    kind: str
    arguments: tuple["Types", ...] = ()

    def argument(self, index: int) -> "Types":
        """The types that argument number *index* allows; none when it is not given."""
        return self.arguments[index] if index < len(self.arguments) else ()


class ExternalMethod(Type, frozen=True):
    """The method *name* of an instance of a class from outside."""

    receiver: Generic
    name: str


class TypeVariable(Type, frozen=True):
    """A type variable; *bound* is what it stands for when nothing else is known."""

    name: str
    bound: "Types" = ()


Types: TypeAlias = tuple[Type, ...]
#: Type variables by name, with what they stand for.
TypeVariables: TypeAlias = dict[str, Types]

ELLIPSIS = Generic("...")

#: More alternatives than this tell nothing.
_MAX_TYPES = 16


class RecursionLimit:
    """How many questions wait for one another's answers: types and bases alike.

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


def generic(kind: str, *arguments: Types) -> Types:
    """The one type of a generic from outside."""
    return (Generic(kind, arguments),)


def instance_of(cls: ClassObject | Instance) -> Instance:
    """An instance of the same class, with the same arguments."""
    return Instance(cls.cls, cls.arguments)


def type_variables(types: Types) -> Iterable[str]:
    """The names of the type variables in *types*, in order."""
    for one in types:
        if isinstance(one, TypeVariable):
            yield one.name
        elif isinstance(one, (Generic, Instance, ClassObject, External)):
            for argument in one.arguments:
                yield from type_variables(argument)


def substitute(types: Types, mapping: TypeVariables, *, keep: bool = False) -> Types:
    """*types* with each type variable replaced by what it stands for.

    A variable that *mapping* lacks stays when *keep*, else gives way to its bound.
    """
    return union(_substitute(one, mapping, keep=keep) for one in types)


def _substitute(one: Type, mapping: TypeVariables, *, keep: bool) -> Types:
    match one:
        case TypeVariable(name=name, bound=bound):
            return mapping.get(name, (one,) if keep else bound)
        case Generic(kind=kind):
            arguments = tuple(substitute(part, mapping, keep=keep) for part in one.arguments)
            return classes_of(union(arguments)) if kind == "type" else generic(kind, *arguments)
        case Instance() | ClassObject() | External() if one.arguments:
            arguments = tuple(substitute(part, mapping, keep=keep) for part in one.arguments)
            return (replace(one, arguments=arguments),)
    return (one,)


def classes_of(types: Types) -> Types:
    """`type[X]` for each X of *types*."""
    return union(_class_of(one) for one in types)


def _class_of(one: Type) -> Types:
    match one:
        case Instance(cls=cls, arguments=arguments):
            return (ClassObject(cls, arguments),)
        case Generic(kind=name, arguments=()):
            return (External(name),)
        case TypeVariable():
            return generic("type", (one,))
    return ()


def instances(classes: Types) -> Types:
    """Instances of *classes*, which may come in tuples."""
    return tuple(instance_of(one) for one in unpacked(classes) if isinstance(one, ClassObject))


def unpacked(types: Types) -> Types:
    """*types* with what stands in tuples and lists taken out of them."""
    found: list[Type] = []
    for one in types:
        if isinstance(one, Generic) and one.kind in ("tuple", "list"):
            found.extend(inner for argument in one.arguments for inner in unpacked(argument))
        else:
            found.append(one)
    return tuple(found)
