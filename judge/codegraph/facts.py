"""What one Python file says about itself: the facts that the reader writes and the linker reads.

Facts hold no path and no module name, so they can be kept by the hash of a file's content. An
expression is a tuple whose first member is one of the tags below; expressions refer to values and
scopes by their place in the lists of the same file.

| tag | rest | stands for |
|---|---|---|
| `v` | value ids | a variable, with the bindings that may reach this point |
| `n` | scope, name | a name to look up from that scope outwards |
| `a` | receiver, attribute | `receiver.attribute` |
| `c` | function, arguments | a call |
| `bound` | annotation | the bound of a `TypeVar`, among the arguments of its call |
| `s` | receiver, indices | a subscript, in a value or an annotation |
| `u` | expressions | any of these |
| `f` | expressions | the first of these whose type is known |
| `k` | type name, value | a constant |
| `l` | `list`, `set`, `generator`, elements | a display or comprehension |
| `d` | key, value | a dictionary display or comprehension |
| `t` | expressions | a tuple |
| `w` | expression | `await` |
| `e`, `E` | expression | an element met by `for`, `async for` |
| `x`, `X` | expression | what `with`, `async with` binds |
| `o` | index, expression | one part of an unpacked value |
| `b` | method, left, right | a binary operation |
| `i`, `!` | expression, classes | narrowed by `isinstance`, or by its failing |
| `L` | expression | a lambda with this result |
| `Y` | scope | what is sent to the generator with this scope |
| `?` | | unknown |

and these only as values of a binding:

| tag | rest | stands for |
|---|---|---|
| `def`, `cls` | scope | a function, a class |
| `imp` | level, module, name | `from module import name` |
| `mod` | dotted name | `import a.b as c` |
| `top` | first part, dotted name | `import a.b` |
| `j` | value ids | where bindings meet at the start of a loop |
| `par` | scope, index | a parameter |
| `ann` | annotation, value or None | a variable with a declared type |
| `T` | its own value id | a type parameter, `T` in `def f[T]` |
"""

from typing import Any

import msgspec

#: Goes up when facts change meaning, so that kept ones are read anew.
FACTS_VERSION = 3

Expr = tuple[Any, ...]
Use = tuple[int, int, str, Expr]
UNKNOWN: Expr = ("?",)

#: Values whose names are uses of a symbol; a plain variable's are not.
SYMBOL_TAGS = frozenset({"def", "cls", "imp", "mod", "top", "j"})


class Parameter(msgspec.Struct, array_like=True):
    """One parameter; *kind* is `p` (positional), `k` (keyword only), `*` or `**`."""

    name: str
    kind: str
    annotation: Expr | None
    default: Expr | None


class LexicalScope(msgspec.Struct, array_like=True):
    """A module, class or function: what it binds and, for the last two, what it declares."""

    kind: str  # "module", "class" or "function"
    name: str
    parent: int
    line: int
    span: tuple[int, int]
    names: dict[str, list[int]] = {}
    decorators: list[Expr] = []
    bases: list[Expr] = []
    attributes: dict[str, list[int]] = {}
    params: list[Parameter] = []
    returns: Expr | None = None
    returned: list[Expr] = []
    yielded: list[Expr] = []
    is_async: bool = False
    type_params: list[int] = []


class FileFacts(msgspec.Struct, array_like=True):
    """All facts of one file. A use is `(line, source scope, kind, expression)`."""

    scopes: list[LexicalScope]
    values: list[Expr]
    uses: list[Use]
    stars: list[tuple[int, str]]
    exports: list[str] | None
    fingerprints: dict[str, str]


def imported_modules(facts: FileFacts, *, inside: bool) -> set[tuple[int, str]]:
    """The modules that `import a.b` names, with their levels; *inside* a package all it imports."""
    found = {(0, value[2]) for value in facts.values if value[0] == "top"}
    if inside:
        found.update(facts.stars)
        found.update((0, value[1]) for value in facts.values if value[0] == "mod")
        for value in facts.values:
            if value[0] == "imp":
                found.add((value[1], value[2]))
                found.add((value[1], f"{value[2]}.{value[3]}".lstrip(".")))
    return found
