"""Where is a symbol used? The edges that end at it, then mentions in files without a parser."""

import re
from collections import Counter
from collections.abc import Callable, Iterator

from codegraph.models import CodeSnippet, Confidence, Edge, SnippetLocation, WhereUsedItem
from codegraph.query.graph import Graph
from codegraph.source_text import lines_of

#: Files that are searched as text: other languages, and Python that does not parse.
TEXT_STATUSES = frozenset({"text", "syntax-error"})
#: The order in which uses are shown.
_KINDS = "definition calls references inherits imports overrides exports mention"
_KIND_ORDER = {kind: index for index, kind in enumerate(_KINDS.split())}
_CONFIDENCE_ORDER = {"exact": 0, "inferred": 1}
#: Words that may occur in any sentence: no capital, digit or underscore inside.
_COMMON_WORD = re.compile(r"[A-Za-z]?[a-z]+")
#: A placeholder: snippets are read only for the uses that are shown.
_NO_SNIPPET = CodeSnippet("", SnippetLocation("", 0, 0))


def find_uses(
    graph: Graph,
    symbol: str,
    read: Callable[[str], bytes | None],
    *,
    with_possible: bool,
    with_text: bool,
) -> tuple[list[WhereUsedItem], dict[str, int], int, int]:
    """The uses of *symbol* to show, in order, and their figures as in WhereUsedResult."""
    full = graph.fqn(symbol)
    # The full name of a module, since its last part is often a common word.
    name = full if graph.kind(symbol) == "module" else full.rpartition(".")[2]
    definitions = _definitions(graph, symbol)
    # Overriding methods are listed separately, as `dispatch`.
    incoming = [edge for edge in graph.edges_to(symbol) if edge.kind != "overrides"]
    uses = _distinct(_use(graph, edge) for edge in incoming)
    certain = [use for use in uses if use.confidence != "text"]
    text = [use for use in uses if use.confidence == "text"] + list(_mentions(graph, name, read))
    possible = _possible(graph, symbol, name)
    # Counted as edges: most are not shown, so their enclosing definition is not needed.
    possible_count = len({(edge.file, edge.line) for edge in possible})
    dispatch = _dispatch(graph, symbol)
    counted = Counter(use.kind for use in (*certain, *dispatch))
    items = [*definitions, *certain, *dispatch]
    items += text if with_text else []
    items += _distinct(_use(graph, edge) for edge in possible) if with_possible else []
    return items, dict(counted), len(text), possible_count


def _definitions(
    graph: Graph, symbol: str, kind: str = "definition", confidence: Confidence = "exact"
) -> list[WhereUsedItem]:
    return [
        WhereUsedItem(node.file, node.line, kind, confidence, _NO_SNIPPET, node.fqn)
        for node in graph.definitions(symbol)
    ]


def _use(graph: Graph, edge: Edge, through: str | None = None) -> WhereUsedItem:
    place = edge.file, edge.line, edge.kind, edge.confidence
    return WhereUsedItem(*place, _NO_SNIPPET, graph.fqn(edge.src), through)


def _dispatch(graph: Graph, symbol: str) -> list[WhereUsedItem]:
    """The calls through a base class that may reach a method, then the methods that override it."""
    overriding = (
        use
        for other in graph.overridden_by(symbol)
        for use in _definitions(graph, other, "overrides", "dispatch")
    )
    through_bases = (
        _use(graph, edge, graph.fqn(base)) for base, edge in graph.dispatched_to(symbol)
    )
    return [*_distinct(through_bases), *_distinct(overriding)]


def _distinct(uses: Iterator[WhereUsedItem]) -> list[WhereUsedItem]:
    """One use per line: the surest, of the first kind. A call is not also a reference."""
    distinct: dict[tuple[str, int], WhereUsedItem] = {}
    for use in sorted(uses, key=lambda u: (*_rank(u), u.file, u.line)):
        distinct.setdefault((use.file, use.line), use)
    return list(distinct.values())


def _rank(use: WhereUsedItem) -> tuple[int, int]:
    return _CONFIDENCE_ORDER.get(use.confidence, 9), _KIND_ORDER.get(use.kind, 9)


def _possible(graph: Graph, symbol: str, name: str) -> list[Edge]:
    """The uses of an attribute of this name on receivers of unknown type."""
    file, _, qualified = symbol.partition(":")
    outer = qualified.rpartition(".")[0]
    enclosing = graph.definitions(f"{file}:{outer}" if outer else file)
    if not qualified or not enclosing or enclosing[0].kind == "function":
        return []
    return graph.edges_to(f"*.{name}")


def _mentions(
    graph: Graph, name: str, read: Callable[[str], bytes | None]
) -> Iterator[WhereUsedItem]:
    escaped = re.escape(name)
    if _COMMON_WORD.fullmatch(name):  # It counts only where it is written as code.
        word = re.compile(rf"(?:(?<=`)|(?<=\w[.:])){escaped}(?!\w)|(?<!\w){escaped}(?=\(|`)")
    else:
        word = re.compile(rf"(?<!\w){escaped}(?!\w)")
    for file in graph.artifact.files:
        content = read(file.path) if file.status in TEXT_STATUSES else None
        if content is None or name.encode() not in content:
            continue
        for number, line in enumerate(lines_of(content), 1):
            if name in line and word.search(line):
                yield WhereUsedItem(file.path, number, "mention", "text", _NO_SNIPPET, None)
