"""Finds the one symbol for a name as people write it, or the candidates."""

import re
from collections import Counter
from collections.abc import Callable
from difflib import get_close_matches
from unicodedata import normalize

from codegraph.errors import AmbiguousSymbol, UnknownSymbol
from codegraph.models import VARIABLE_KINDS, symbol_id
from codegraph.query.graph import Graph

#: Returns the lines of the file at a path.
LineReader = Callable[[str], list[str]]

_MAX_SIMILAR = 3
#: What stands for a dot, with the suffix before it: `pkg/a.py::A::m`, `pkg.cli:main`, `A#m`.
_SEPARATOR = re.compile(
    r"(?:[/\\](?:__init__|index)(?=\.))?(?:\.pyi?|(?:\.d)?\.[cm]?tsx?)?(?:::?|[/\\]|(?<=\w)#|$)"
)


def find_symbol(graph: Graph, name: str) -> str:
    """The id of the symbol called *name*: a bare name, `Class.method`, a full name or an id.

    Or with its path (`pkg/a.py::A::m`). A package that re-exports the symbol and a new name (`as`)
    stand for it, and a method may be inherited. A variable or field is found only if no other
    definition has the name but a module that holds it. Raise AmbiguousSymbol or UnknownSymbol.
    """
    name = name.strip().removeprefix("./").replace("()", "")
    if graph.definitions(name):
        return name
    # Normalised as Python does with identifiers; lone surrogates, which match nothing, replaced.
    name = normalize("NFKC", name.encode(errors="replace").decode())
    dotted, finders = _dotted(name), (_by_name, _by_export, _inherited)
    found = ((spelling, find(graph, spelling)) for spelling in (name, dotted) for find in finders)
    spelling, symbols = next((pair for pair in found if pair[1]), (name, []))
    if not symbols:
        raise UnknownSymbol(name, _similar(graph, dotted))
    if len(symbols) > 1:
        raise AmbiguousSymbol(name, _candidate_names(graph, symbols, spelling))
    return symbols[0]


def _dotted(name: str) -> str:
    """*name*, which may begin with a path, with dots: `pkg.a.A.m` for `pkg/a.py:A.m`."""
    return _SEPARATOR.sub(".", name).rstrip(".")


def _named(graph: Graph, name: str) -> tuple[list[str], list[str]]:
    """The symbols with that name, full or with all folders, and those whose name ends so."""
    if not name:
        return [], []
    named = graph.by_last_name.get(name.rpartition(".")[2], ())
    names = {symbol_id(node.id): (node.fqn, _dotted(symbol_id(node.id))) for node in named}
    full = [symbol for symbol, forms in names.items() if name in forms]
    ending = f".{name}"
    return full, [s for s, forms in names.items() if any(f.endswith(ending) for f in forms)]


def _by_name(graph: Graph, name: str) -> list[str]:
    full, others = _named(graph, name)
    # `main` may be the module as well as the function in it.
    symbols = (full or others) if "." in name else list(dict.fromkeys([*full, *others]))
    definitions = [symbol for symbol in symbols if graph.kind(symbol) not in VARIABLE_KINDS]
    inside = tuple(f"{graph.fqn(s)}." for s in definitions if graph.kind(s) == "module")
    symbols = [
        symbol
        for symbol in symbols
        if symbol in definitions
        or not definitions
        or (graph.kind(symbol) != "field" and f"{graph.fqn(symbol)}.".startswith(inside))
    ]
    # The anonymous default export of a module has no other name.
    defaults = {s: f"{s}:default" for s in symbols if graph.definitions(f"{s}:default")}
    symbols = [defaults.get(symbol, symbol) for symbol in symbols]
    # A stub is no candidate beside the definition that it describes.
    return [s for s in symbols if ".pyi" not in s or s.replace(".pyi", ".py", 1) not in symbols]


def _by_export(graph: Graph, name: str) -> list[str]:
    """The symbol that `package.Name` re-exports, when `package` imports it; or a new name's."""
    parts = name.split(".")
    for split in range(len(parts) - 1, -1, -1):
        module, exported, rest = ".".join(parts[:split]), parts[split], parts[split + 1 :]
        modules = _modules(graph, module) if split else list(graph.by_alias.get(exported, ()))
        renamed = graph.by_alias.get(exported, {})
        edges = (edge for symbol in modules for edge in graph.edges_from(symbol))
        imported = [edge.dst for edge in edges if edge.kind == "imports"]
        ids = {target for symbol in modules for target in renamed.get(symbol, ())}
        if split:
            ids |= {t for t in imported if _dotted(t).rpartition(".")[2] == exported}
            # `import *` has an edge to the module alone.
            ids = ids or {f"{target}:{exported}" for target in imported}
        symbols = {
            target + ("." if ":" in target else ":") * bool(rest) + ".".join(rest) for target in ids
        }
        defined = sorted(symbol for symbol in symbols if graph.definitions(symbol))
        if defined:
            return defined
    return []


def _modules(graph: Graph, name: str) -> list[str]:
    full, others = ([s for s in group if ":" not in s] for group in _named(graph, name))
    return full or others


def _inherited(graph: Graph, name: str) -> list[str]:
    """The inherited member: `Base.method` for `Class.method`."""
    owner, _, member = name.rpartition(".")
    found: dict[str, None] = {}
    for cls in _by_name(graph, owner):
        members = [f"{base}.{member}" for base in _with_bases(graph, cls)]
        found.update(dict.fromkeys(list(filter(graph.definitions, members))[:1]))
    return list(found)


def _with_bases(graph: Graph, cls: str) -> list[str]:
    """The class and its base classes, the nearest first."""
    classes = [cls]
    for owner in classes:
        bases = (edge.dst for edge in graph.edges_from(owner) if edge.kind == "inherits")
        classes += [base for base in dict.fromkeys(bases) if base not in classes]
    return classes


def _candidate_names(graph: Graph, symbols: list[str], query: str) -> list[str]:
    """Full names; ids for symbols that share a full name or whose full name is the *query*."""
    names = [graph.fqn(symbol) for symbol in symbols]
    counts = Counter(names)
    return sorted(
        symbol if counts[name] > 1 or name == query else name
        for symbol, name in zip(symbols, names, strict=True)
    )


def _similar(graph: Graph, name: str) -> list[str]:
    """The members of the class or module that look alike, else names of the whole graph."""
    owner, _, last = name.rpartition(".")
    last = last.rpartition(" ")[2].lower()  # `class User`
    members = {
        graph.fqn(member).rpartition(".")[2].lower(): graph.fqn(member)
        for symbol in _by_name(graph, owner)
        for base in _with_bases(graph, symbol)
        for member in graph.members(base)
    }
    by_last = {last.lower(): nodes[0].fqn for last, nodes in graph.by_last_name.items()}
    for known, cutoff in ((members, 0.6), (by_last, 0.8)):
        similar = [last] if last in known else get_close_matches(last, known, _MAX_SIMILAR, cutoff)
        if not similar and len(last) > _MAX_SIMILAR:  # Shorter parts are in too many names.
            similar = sorted((other for other in known if last in other), key=len)[:_MAX_SIMILAR]
        if similar:
            return [known[other] for other in similar]
    return []
