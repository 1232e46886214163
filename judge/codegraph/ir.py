"""Intermediate representation: the kinds of expression and of binding that facts are made of.

Each kind keeps just what the type evaluator asks of it. It refers to bindings and scopes by their
place in the lists of the same file. The tag is the kind's name in stored facts.
"""

from typing import TypeAlias

from msgspec import Struct


class _Fact(Struct, frozen=True, array_like=True, gc=False):
    """How all kinds are stored: as arrays. They are trees, which need no garbage collector."""


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
    """Any of these, as the operands of `or` and `|` and both branches of `if … else`."""

    options: tuple["Expr", ...]


class Constant(_Fact, frozen=True, tag="k"):
    """A constant by the name of its type (`literal` for `Literal[…]`); *value* if it is small."""

    type_name: str
    value: int | None = None


class Display(_Fact, frozen=True, tag="l"):
    """A display or comprehension of *kind*, with what each argument of its type comes from.

    Kinds are `list`, `set`, `generator`, `dict` (key and value) and `tuple` (each element).
    """

    kind: str
    elements: tuple["Expr", ...]


class Taken(_Fact, frozen=True, tag="e"):
    """What `for`, `with`, both with `async` before them, or `await` takes from *value*."""

    value: "Expr"
    how: str = "for"


class Unpacked(_Fact, frozen=True, tag="o"):
    """The part of an unpacked value that target number *index* gets."""

    index: int
    value: "Expr"


class Narrowed(_Fact, frozen=True, tag="i"):
    """*value* where `isinstance(value, classes)` *holds*, or where it does not."""

    value: "Expr"
    classes: "Expr"
    holds: bool = True


class SentValue(_Fact, frozen=True, tag="Y"):
    """What is sent to the generator with this scope."""

    scope: int


class AnnotatedVariable(_Fact, frozen=True, tag="ann"):
    """A variable with a declared type, and what is assigned to it if anything is."""

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
    | Taken
    | Unpacked
    | Narrowed
    | SentValue
    | AnnotatedVariable
)

#: An expression of which nothing is told.
UNKNOWN = Alternatives(())

# --- what else a name may be bound to -------------------------------------------------------


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
    bound: str


class Alias(_Fact, frozen=True, tag="j"):
    """Another name for what *name* means, seen from *scope*: `export { name as outer }`."""

    scope: int
    name: str


class ParameterBinding(_Fact, frozen=True, tag="par"):
    """Parameter number *index* of the function with this scope."""

    scope: int
    index: int


class TypeParameter(_Fact, frozen=True, tag="T"):
    """`T` in `def f[T: bound]`, by its own place among the bindings."""

    binding: int
    bound: "Expr | None" = None


Import: TypeAlias = ImportFrom | ImportModule
Binding: TypeAlias = (
    Expr | FunctionBinding | ClassBinding | Import | Alias | ParameterBinding | TypeParameter
)

#: Bindings that make a name a definition or an import, whatever else it is bound to.
DEFINING_BINDINGS = (FunctionBinding, ClassBinding, ImportFrom, ImportModule)


class FieldUse(_Fact, frozen=True, tag="field"):
    """A field: `owner(name=…)` of a generated constructor, or the key `owner["name"]`."""

    owner: "Expr"
    name: str
    is_key: bool = False


#: What an occurrence names: what an expression or import does, or a field.
Target: TypeAlias = Binding | FieldUse
