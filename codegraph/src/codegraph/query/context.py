"""The context that an editor needs about a symbol, ranked and cut to a token budget."""

import ast
import warnings
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, islice, zip_longest
from math import ceil
from pathlib import PurePosixPath

from codegraph.models import CodeContextItem, ContextKind, Edge, Node
from codegraph.query.graph import Graph
from codegraph.query.lineage import walk
from codegraph.query.sections import is_test
from codegraph.query.symbol_lookup import LineReader
from codegraph.source_text import snippet

#: With the usual tokenizers a token of source code has three to four characters.
_CHARACTERS_PER_TOKEN = 3
#: The tokens of `file`, `line` and the other members of an item, as JSON.
_ITEM_TOKENS = 40
#: The definition gets at most this share of the budget, to leave room for callers and tests.
_DEFINITION_SHARE = 0.5
_LINES_AROUND = 3
_HEAD_LINES = 6
#: How far callers are followed to find tests, and how many are looked at.
_TEST_DEPTH = 4
_MAX_TEST_STEPS = 2000


def gather_context(
    graph: Graph, symbol: str, lines: LineReader, tokens: int
) -> tuple[str | None, tuple[CodeContextItem, ...], bool, int]:
    """The docstring, items, `truncated` and tokens of a CodeContextResult.

    After the definition come in turn a caller, a callee and a test, nearest first.
    """
    node = graph.definitions(symbol)[0]
    first, is_cut = _definition(node, lines(node.file), int(tokens * _DEFINITION_SHARE))
    callers, callees = _callers(graph, symbol, lines), _callees(graph, symbol, lines)
    others = chain.from_iterable(zip_longest(callers, callees, _tests(graph, symbol, lines)))
    items, used = [first], _cost(first)
    for item in others:
        if item is None or any(item.snippet.location == i.snippet.location for i in items):
            continue
        if used + _cost(item) > tokens:
            is_cut = True
            break
        items.append(item)
        used += _cost(item)
    return _docstring(node, lines(node.file)), tuple(items), is_cut, used


def _cost(item: CodeContextItem) -> int:
    return _ITEM_TOKENS + ceil(len(item.snippet.text) / _CHARACTERS_PER_TOKEN)


def _definition(node: Node, lines: Sequence[str], tokens: int) -> tuple[CodeContextItem, bool]:
    """The source of *node*, as many whole lines as fit *tokens*, and whether it was cut."""
    start, end = node.span
    lengths = accumulate(len(line) + 1 for line in lines[start - 1 : end])
    fitting = sum(length <= tokens * _CHARACTERS_PER_TOKEN for length in lengths)
    last = min(end, start + max(fitting, 1) - 1)
    source = snippet(node.file, lines, start, last, context=0)
    item = CodeContextItem(node.file, start, "definition", "exact", source, node.fqn)
    return item, last < min(end, len(lines))


def _callers(graph: Graph, symbol: str, lines: LineReader) -> Iterator[CodeContextItem]:
    edges = [e for e in graph.edges_to(symbol) if e.kind in ("calls", "references", "inherits")]
    through_bases = [edge for _, edge in graph.dispatched_to(symbol) if edge.kind == "calls"]
    home = symbol.partition(":")[0]
    for edge in sorted([*edges, *through_bases], key=lambda e: _rank(e, home)):
        if edge.confidence in ("exact", "inferred", "dispatch") and not is_test(edge.file):
            yield _around(edge, "caller", graph.fqn(edge.src), lines)


def _rank(edge: Edge, home: str) -> tuple[bool, bool, bool, str, int]:
    """A sort key: calls before other uses, then exact ones, then those in the folder of *home*."""
    is_far = PurePosixPath(edge.file).parent != PurePosixPath(home).parent
    return edge.kind != "calls", edge.confidence != "exact", is_far, edge.file, edge.line


def _around(edge: Edge, kind: ContextKind, symbol: str, lines: LineReader) -> CodeContextItem:
    code = snippet(edge.file, lines(edge.file), edge.line, context=_LINES_AROUND)
    return CodeContextItem(edge.file, edge.line, kind, edge.confidence, code, symbol)


def _callees(graph: Graph, symbol: str, lines: LineReader) -> Iterator[CodeContextItem]:
    """The first lines of each definition that the symbol, or one inside it, depends on."""
    for step in walk(graph, symbol, "upstream", depth=1):
        node = graph.definitions(step.symbol)[0]
        start, end = node.span
        last = min(end, start + _HEAD_LINES - 1)
        head = snippet(node.file, lines(node.file), start, last, context=0)
        yield CodeContextItem(node.file, start, "callee", step.edge.confidence, head, node.fqn)


def _tests(graph: Graph, symbol: str, lines: LineReader) -> Iterator[CodeContextItem]:
    """The tests that reach the symbol, nearest first."""
    steps = islice(walk(graph, symbol, "downstream", depth=_TEST_DEPTH), _MAX_TEST_STEPS)
    for step in (step for step in steps if not step.edge.dst.endswith(">")):
        node = graph.definitions(step.symbol)[0]
        # `test_it`, or the anonymous function in `it("…", () => …)`, not the one around that.
        if is_test(node.file) and node.fqn.rpartition(".")[2].startswith(("test", "<function")):
            yield _around(step.edge, "test", node.fqn, lines)


def _docstring(node: Node, lines: Sequence[str]) -> str | None:
    """The docstring of a definition; None without one, or when it is not in Python."""
    try:
        with warnings.catch_warnings():
            # Python warns about invalid escapes in the strings of the code that is read.
            warnings.simplefilter("ignore")
            tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if node.kind == "module":
        return ast.get_docstring(tree)
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = (n for n in ast.walk(tree) if isinstance(n, kinds) and n.lineno == node.line)
    return next(map(ast.get_docstring, found), None)
