"""What a symbol depends on, and what depends on it: a breadth-first search over sure edges."""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from codegraph.errors import BadDirection
from codegraph.models import Direction, Edge, symbol_id
from codegraph.query.graph import Graph, may_dispatch

_UP = "upstream up dependencies deps callees inputs sources feeds".split()
_DOWN = "downstream down dependents callers outputs users impact".split()
_SYNONYMS: dict[str, Direction] = {
    **dict.fromkeys(_UP, "upstream"),
    **dict.fromkeys(_DOWN, "downstream"),
}
_KINDS = frozenset({"calls", "references", "inherits", "overrides"})
_CONFIDENCES = frozenset({"exact", "inferred"})
#: The methods that run when a class is called.
_CONSTRUCTORS = ("__init__", "__new__", "__post_init__", "constructor")


class LineageStep(NamedTuple):
    """A symbol that was reached, the last edge to it, and the path from the start."""

    symbol: str
    edge: Edge
    path: tuple[str, ...]


def parse_direction(direction: str) -> Direction:
    """`upstream` or `downstream` for any of their synonyms; raise BadDirection for another word."""
    parsed = _SYNONYMS.get(direction.strip().lower())
    if parsed is None:
        raise BadDirection(
            f"There is no direction {direction!r}. Valid are: {', '.join(_SYNONYMS)}."
        )
    return parsed


def walk(
    graph: Graph, start: str, direction: Direction, *, depth: int | None = None
) -> Iterator[LineageStep]:
    """Each symbol reached from *start* once, nearest first, with the shortest path to it.

    *depth* limits the length of a path; None is no limit. A module stands for all that it defines.
    It is reached by its code outside any definition, but expanded only when it is the start.
    """
    seen = set(graph.with_nested(start))
    queue: deque[tuple[str, tuple[str, ...]]] = deque([(start, (start,))])
    while queue:
        symbol, path = queue.popleft()
        if depth is not None and len(path) > depth:
            continue
        for reached, edge in _neighbours(graph, symbol, direction, is_start=symbol == start):
            if reached in seen:
                continue
            seen.add(reached)
            path_to = (*path, reached)
            yield LineageStep(reached, edge, path_to)
            if graph.kind(reached) != "module":
                queue.append((reached, path_to))


def _neighbours(
    graph: Graph, symbol: str, direction: Direction, *, is_start: bool
) -> Iterator[tuple[str, Edge]]:
    is_module = graph.kind(symbol) == "module"
    kinds = _KINDS | {"imports"} if is_module else _KINDS
    for part in _parts(graph, symbol, is_start=is_start):
        edges = graph.edges_from(part) if direction == "upstream" else _uses(graph, part)
        for edge in sorted(edges, key=lambda edge: (edge.file, edge.line)):
            if edge.kind not in kinds or edge.confidence not in _CONFIDENCES:
                continue
            reached = symbol_id(edge.dst if direction == "upstream" else edge.src)
            if not graph.definitions(reached):
                continue
            if is_module or direction == "downstream" or graph.kind(reached) != "module":
                yield reached, edge
        yield from _dispatched(graph, part, direction)


def _uses(graph: Graph, symbol: str) -> list[Edge]:
    """The edges to *symbol*; to a constructor those of its class, to `<function>` what holds it."""
    uses, (outer, _, name) = graph.edges_to(symbol), symbol.rpartition(".")
    if name in _CONSTRUCTORS:
        return [*uses, *(e for e in graph.edges_to(outer) if e.kind in ("calls", "inherits"))]
    if not symbol.endswith(">"):
        return uses
    outer, line = symbol[: symbol.rindex("<")].rstrip(".:"), graph.definitions(symbol)[0].line
    return [Edge(outer, symbol, "references", line, "exact")]


def _dispatched(graph: Graph, part: str, direction: Direction) -> Iterator[tuple[str, Edge]]:
    """Steps by dynamic dispatch: upstream to overrides, downstream to calls through bases."""
    if direction == "downstream":
        for _, edge in graph.dispatched_to(part):
            if edge.kind == "calls":
                yield symbol_id(edge.src), edge
        return
    for edge in graph.edges_from(part):
        if edge.kind == "calls" and may_dispatch(edge):
            for reached in graph.overridden_by(edge.dst):
                yield symbol_id(reached), replace(edge, confidence="dispatch")


def _parts(graph: Graph, symbol: str, *, is_start: bool) -> list[str]:
    """The symbols whose edges count as those of *symbol*: of a class only its constructors."""
    if is_start or graph.kind(symbol) != "class":
        return graph.with_nested(symbol)
    constructors = [f"{symbol}.{name}" for name in _CONSTRUCTORS]
    return [symbol, *filter(graph.definitions, constructors)]
