"""What an editor needs to know about one symbol, ranked and cut to a number of tokens."""

import ast
import textwrap
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, islice, zip_longest
from math import ceil
from pathlib import PurePosixPath
from typing import NamedTuple, cast

from judge.codegraph.models import (
    CodeContextItem,
    Confidence,
    ContextKind,
    Edge,
    Node,
)
from judge.codegraph.query.graph import Graph
from judge.codegraph.query.lineage import walk
from judge.codegraph.query.snippets import snippet
from judge.codegraph.query.symbol_lookup import Lines
from judge.codegraph.query.tests_of import is_test, is_test_function

#: A token of source code is three to four characters for the usual vocabularies; to be safe: 3.
_CHARACTERS_A_TOKEN = 3
#: What `file`, `line` and the other members of an item take as JSON.
_ITEM_TOKENS = 40
#: The definition gets at most this part of the budget, so that what surrounds it is shown too.
_DEFINITION_SHARE = 0.5
_LINES_AROUND = 3
_HEAD_LINES = 6
_SURE = ("exact", "inferred")
_TEST_STEPS = 4
_TESTS_LOOKED_AT = 2000


class GatheredContext(NamedTuple):
    """What the definition says of itself, the pieces that fit, and how many tokens they take."""

    docstring: str | None
    items: tuple[CodeContextItem, ...]
    truncated: bool
    tokens: int


def gather_context(graph: Graph, symbol: str, lines: Lines, tokens: int) -> GatheredContext:
    """The definition of *symbol*, then by turns its callers, callees and tests, nearest first."""
    nodes = graph.definitions(symbol)
    share = int(tokens * _DEFINITION_SHARE)
    first, is_cut = _definition(nodes[0], lines(nodes[0].file), share)
    around = (_callers(graph, symbol, lines), _callees(graph, symbol, lines))
    others = chain.from_iterable(zip_longest(*around, _tests(graph, symbol, lines)))
    kept, used = [first], _cost(first)
    for item in others:
        if item is None or any(item.snippet.location == one.snippet.location for one in kept):
            continue
        if used + _cost(item) > tokens:
            is_cut = True
            break
        kept.append(item)
        used += _cost(item)
    return GatheredContext(_docstring(nodes[0], lines(nodes[0].file)), tuple(kept), is_cut, used)


def _cost(item: CodeContextItem) -> int:
    return _ITEM_TOKENS + ceil(len(item.snippet.text) / _CHARACTERS_A_TOKEN)


def _definition(node: Node, lines: Sequence[str], tokens: int) -> tuple[CodeContextItem, bool]:
    """The source of *node*, as many whole lines as *tokens* hold; whether that is not all."""
    start, end = node.span
    lengths = accumulate(len(line) + 1 for line in lines[start - 1 : end])
    fitting = sum(length <= tokens * _CHARACTERS_A_TOKEN for length in lengths)
    last = min(end, start + max(fitting, 1) - 1)
    source = snippet(node.file, lines, start, last, around=0)
    item = CodeContextItem(node.file, start, "definition", "exact", source, node.fqn)
    return item, last < min(end, len(lines))


def _callers(graph: Graph, symbol: str, lines: Lines) -> Iterator[CodeContextItem]:
    edges = [e for e in graph.edges_to(symbol) if e.kind in ("calls", "references", "inherits")]
    through_bases = [edge for _, edge in graph.dispatched_to(symbol) if edge.kind == "calls"]
    home = symbol.partition(":")[0]
    for edge in sorted([*edges, *through_bases], key=lambda e: _rank(e, home)):
        if edge.confidence in (*_SURE, "dispatch") and not is_test(edge.file):
            yield _around(edge, "caller", graph.fqn(edge.src), lines)


def _rank(edge: Edge, home: str) -> tuple[bool, bool, bool, str, int]:
    """Calls before mentions, sure ones first, those near home first."""
    is_far = PurePosixPath(edge.file).parent != PurePosixPath(home).parent
    return edge.kind != "calls", edge.confidence != "exact", is_far, edge.file, edge.line


def _around(edge: Edge, kind: ContextKind, symbol: str, lines: Lines) -> CodeContextItem:
    shown = snippet(edge.file, lines(edge.file), edge.line, around=_LINES_AROUND)
    sure = cast("Confidence", edge.confidence)
    return CodeContextItem(edge.file, edge.line, kind, sure, shown, symbol)


def _callees(graph: Graph, symbol: str, lines: Lines) -> Iterator[CodeContextItem]:
    """The head of each definition that the symbol, or a part of it, depends on."""
    for step in walk(graph, symbol, "upstream", depth=1):
        node = graph.definitions(step.symbol)[0]
        start, end = node.span
        last = min(end, start + _HEAD_LINES - 1)
        head = snippet(node.file, lines(node.file), start, last, around=0)
        sure = cast("Confidence", step.edge.confidence)
        yield CodeContextItem(node.file, start, "callee", sure, head, node.fqn)


def _tests(graph: Graph, symbol: str, lines: Lines) -> Iterator[CodeContextItem]:
    """The tests that reach the symbol, nearest first."""
    steps = islice(walk(graph, symbol, "downstream", depth=_TEST_STEPS), _TESTS_LOOKED_AT)
    for step in steps:
        node = graph.definitions(step.symbol)[0]
        if is_test_function(node):
            yield _around(step.edge, "test", node.fqn, lines)


def _docstring(node: Node, lines: Sequence[str]) -> str | None:
    """What the definition says of itself; None where it says nothing or is no Python."""
    start, end = (1, len(lines)) if node.kind == "module" else node.span
    try:
        tree = ast.parse(textwrap.dedent("\n".join(lines[start - 1 : end])))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    first = tree if node.kind == "module" else next(iter(tree.body), tree)
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return ast.get_docstring(first) if isinstance(first, kinds) else None
