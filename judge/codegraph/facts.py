"""What one file says about itself: the facts that readers write and the linker reads.

Facts hold no path and no module name, so they can be kept by the hash of a file's content.
"""

from typing import Literal

import msgspec

from judge.codegraph import ir

#: Goes up when facts change meaning, so that stored ones are read anew.
FACTS_VERSION = 14

ParameterKind = Literal["p", "k", "*", "**"]
ScopeKind = Literal["module", "class", "function", "block"]


class Parameter(msgspec.Struct, array_like=True):
    """One parameter; *kind* is `p` (positional), `k` (keyword only), `*` or `**`."""

    name: str
    kind: ParameterKind
    annotation: ir.Expr | None
    default: ir.Expr | None


class LexicalScope(msgspec.Struct, array_like=True):
    """What binds names: a module, class or function with what it declares, or a block.

    Blocks are those of TypeScript; what stands in one belongs to the definition around it.
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


class Occurrence(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A place that names something: its line, the scope it stands in, and what it names."""

    line: int
    scope: int
    kind: str
    target: ir.Target


class VariableSymbol(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A variable that others may name: of the module, or an attribute of the class in *scope*."""

    scope: int
    name: str
    span: tuple[int, int]


class FileFacts(msgspec.Struct, array_like=True):
    """All facts of one file.

    *stars* are the modules, with their levels, of `from … import *`; *exports* is `__all__`;
    *fingerprints* tell by name whether the source that binds it has changed.
    """

    scopes: list[LexicalScope]
    bindings: list[ir.Binding]
    occurrences: list[Occurrence]
    stars: list[tuple[int, str]]
    exports: list[str] | None
    fingerprints: dict[str, str]
    variables: list[VariableSymbol] = []


#: What is asked of a repository besides the names that a file binds: its modules, and members.
MODULES, MEMBERS = "", "."


def new_facts(lines: int) -> FileFacts:
    """The facts of a file of which nothing is known but its *lines*."""
    return FileFacts([LexicalScope("module", "", -1, 1, (1, lines))], [], [], [], None, {})


def defined_names(facts: FileFacts) -> set[str]:
    """The names of what a file defines; those of variables and attributes begin with a dot."""
    scopes = {scope.name for scope in facts.scopes[1:] if scope.kind != "block"}
    return scopes | {f".{variable.name}" for variable in facts.variables}
