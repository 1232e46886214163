"""Intermediate representation: the kinds of expression and of binding that facts are made of.

Each kind keeps only what the type evaluator needs. It refers to bindings and scopes by their index
in the lists of the same file. The tag is the kind's name in stored facts.
"""

from typing import TypeAlias

from msgspec import Struct


class _Fact(Struct, frozen=True, array_like=True, gc=False):
    """The base of all kinds: stored as an array. Trees need no garbage collector."""


# --- expressions ----------------------------------------------------------------------------


class Variable(_Fact, frozen=True, tag="v"):
    """A variable, with the bindings that may reach this point."""

    bindings: tuple[int, ...]


class Name(_Fact, frozen=True, tag="n"):
    """A name to look up from *scope* outwards."""

    scope: int
    name: str


class Attribute(_Fact, frozen=True, tag="a"):
    """`receiver.name`."""

    receiver: "Expr"
    name: str


class Call(_Fact, frozen=True, tag="c"):
    """A call, with its positional arguments."""

    function: "Expr"
    arguments: tuple["Expr", ...] = ()


class Subscript(_Fact, frozen=True, tag="s"):
    """A subscript, in a value or an annotation."""

    receiver: "Expr"
    indices: tuple["Expr", ...]


class Alternatives(_Fact, frozen=True, tag="u"):
    """One of several expressions: operands of `or` and `|`, both branches of `if … else`."""

    options: tuple["Expr", ...]


class Constant(_Fact, frozen=True, tag="k"):
    """A constant, by its type (`literal` for `Literal[…]`); *value* only for small integers."""

    type_name: str
    value: int | None = None


class Display(_Fact, frozen=True, tag="l"):
    """A display or comprehension; *elements* has an expression for each type argument.

    Kinds are `list`, `set`, `generator`, `dict` (key and value) and `tuple` (each element).
    """

    kind: str
    elements: tuple["Expr", ...]


class Unwrapped(_Fact, frozen=True, tag="e"):
    """What `for`, `async for`, `with`, `async with` or `await` (*how*) gets out of *value*."""

    value: "Expr"
    how: str = "for"


class UnpackedElement(_Fact, frozen=True, tag="o"):
    """The element of *value* that unpacking assigns to target number *index*; None for any."""

    index: int | None
    value: "Expr"


class Narrowed(_Fact, frozen=True, tag="i"):
    """*value*, narrowed to where `isinstance(value, classes)` *holds*, or to where it fails."""

    value: "Expr"
    classes: "Expr"
    holds: bool = True


class AnnotatedVariable(_Fact, frozen=True, tag="ann"):
    """A variable with a declared type, and the value assigned to it, if any."""

    annotation: "Expr"
    value: "Expr | None"


Expr: TypeAlias = (
    Variable
    | Name
    | Attribute
    | Call
    | Subscript
    | Alternatives
    | Constant
    | Display
    | Unwrapped
    | UnpackedElement
    | Narrowed
    | AnnotatedVariable
)

#: An expression of unknown type.
UNKNOWN = Alternatives(())
#: The scope of a `Name` that means the builtin, whatever the module calls by it.
BUILTIN = -1

# --- other bindings -------------------------------------------------------------------------


class FunctionBinding(_Fact, frozen=True, tag="def"):
    """A function, by its scope."""

    scope: int


class ClassBinding(_Fact, frozen=True, tag="cls"):
    """A class, by its scope."""

    scope: int


class ImportFrom(_Fact, frozen=True, tag="imp"):
    """`from module import name`, which may be `*`; *level* counts the leading dots."""

    level: int
    module: str
    name: str


class ImportModule(_Fact, frozen=True, tag="mod"):
    """`import a.b as c`, which binds *module* itself, or `import a.b`, which binds `a`."""

    module: str


class Alias(_Fact, frozen=True, tag="j"):
    """Another name for what *name* means, seen from *scope*: `export { name as outer }`."""

    scope: int
    name: str


class ParameterBinding(_Fact, frozen=True, tag="par"):
    """Parameter number *index* of the function with this scope."""

    scope: int
    index: int


class TypeParameter(_Fact, frozen=True, tag="T"):
    """`T` in `def f[T: bound]`, by its own index among the bindings."""

    binding: int
    bound: "Expr | None" = None


Import: TypeAlias = ImportFrom | ImportModule
Binding: TypeAlias = (
    Expr | FunctionBinding | ClassBinding | Import | Alias | ParameterBinding | TypeParameter
)

#: Bindings that make a name a definition or an import, whatever else it is bound to.
DEFINING_BINDINGS = (FunctionBinding, ClassBinding, ImportFrom, ImportModule)


class FieldUse(_Fact, frozen=True, tag="field"):
    """A use of a field: `owner(name=…)` of a generated constructor, or `owner["name"]`."""

    owner: "Expr"
    name: str
    is_key: bool = False


class FixtureUse(_Fact, frozen=True, tag="fix"):
    """A fixture of pytest that is asked for by its name, in the class or module of *scope*."""

    scope: int
    name: str


#: What an occurrence names: an expression, another binding, a field, or a fixture.
Target: TypeAlias = Binding | FieldUse | FixtureUse
