"""The facts of one file: its symbol table and occurrences, written by readers, read by the linker.

Facts hold no path and no module name, so they can be cached by the hash of a file's content.
"""

from typing import Literal

import msgspec

from codegraph import ir

#: Raised when the meaning of facts changes, so that stored ones are not reused.
FACTS_VERSION = 24

ParameterKind = Literal["p", "k", "*", "**"]
ScopeKind = Literal["module", "class", "function", "block"]


class Parameter(msgspec.Struct, array_like=True):
    """One parameter; *kind* is `p` (positional), `k` (keyword only), `*` or `**`."""

    name: str
    kind: ParameterKind
    annotation: ir.Expr | None
    default: ir.Expr | None


class LexicalScope(msgspec.Struct, array_like=True):
    """A scope that binds names: a module, class or function with what it declares, or a block.

    Only TypeScript has blocks; what is in one belongs to the enclosing definition. An object
    literal is a class that *is_object*. *parent* is the index of the outer scope; *names* and
    *attributes* (of `self`) map to indices of bindings.
    """

    kind: ScopeKind
    name: str
    parent: int
    line: int
    span: tuple[int, int]
    names: dict[str, list[int]] = {}
    decorators: list[ir.Expr] = []
    bases: list[ir.Expr] = []
    attributes: dict[str, list[int]] = {}
    params: list[Parameter] = []
    returns: ir.Expr | None = None
    returned: list[ir.Expr] = []
    yielded: list[ir.Expr] = []
    is_async: bool = False
    type_params: list[int] = []
    is_object: bool = False


class Occurrence(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A place that names something: its line, the enclosing definition's scope, the target."""

    line: int
    scope: int
    kind: str
    target: ir.Target


class VariableSymbol(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A module variable, or an attribute of the class with this *scope*, that code may refer to."""

    scope: int
    name: str
    span: tuple[int, int]


class FileFacts(msgspec.Struct, array_like=True):
    """All facts of one file.

    *star_imports*: levels and modules of `from … import *`; *exports*: `__all__`, or by `export`.
    """

    scopes: list[LexicalScope]
    bindings: list[ir.Binding]
    occurrences: list[Occurrence]
    star_imports: list[tuple[int, str]]
    exports: set[str] | None
    variables: list[VariableSymbol] = []


def new_facts(lines: int) -> FileFacts:
    """Empty facts for a file of that many *lines*."""
    return FileFacts([LexicalScope("module", "", -1, 1, (1, lines))], [], [], [], None)


def fixture_key(name: str) -> str:
    """The key, no identifier, in `names` of a fixture of pytest with `name="…"`."""
    return f"fixture {name}"


def defined_names(facts: FileFacts) -> set[str]:
    """The names that a file defines; those of variables and attributes begin with a dot."""
    scopes = {
        f".{scope.name}" if scope.is_object else scope.name
        for scope in facts.scopes[1:]
        if scope.kind != "block"
    }
    return scopes | {f".{variable.name}" for variable in facts.variables}
