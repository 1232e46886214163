"""What feeds a symbol, and what depends on it: a breadth-first walk over edges that are sure."""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from judge.codegraph.models import Direction, Edge, symbol_id
from judge.codegraph.query.graph import Graph, may_dispatch

_SYNONYMS: dict[str, Direction] = {
    **dict.fromkeys(
        ("upstream", "up", "dependencies", "deps", "callees", "inputs", "sources", "feeds"),
        "upstream",
    ),
    **dict.fromkeys(
        ("downstream", "down", "dependents", "callers", "outputs", "users", "impact"),
        "downstream",
    ),
}
DIRECTIONS = tuple(_SYNONYMS)

_FOLLOWED = frozenset({"calls", "references", "inherits", "overrides"})
_FOLLOWED_WHEN = frozenset({"exact", "inferred"})
#: What runs when a class is called.
_CONSTRUCTORS = ("__init__", "__new__", "__post_init__")


class LineageStep(NamedTuple):
    """A symbol that was reached, the edge by which it was, and the way from the start."""

    symbol: str
    edge: Edge
    path: tuple[str, ...]


def normalised(direction: str) -> Direction | None:
    """`upstream` or `downstream` for any of their synonyms; None for another word."""
    return _SYNONYMS.get(direction.strip().lower())


def walk(
    graph: Graph, start: str, direction: Direction, *, depth: int | None = None
) -> Iterator[LineageStep]:
    """Each symbol reached from *start*, nearest first and once, with the shortest way to it.

    *depth* is the longest way; None is no limit. A module stands for all that it defines; it is
    reached (by code outside any definition) but walked through only when it is the start.
    """
    seen = set(graph.within(start))
    waiting: deque[tuple[str, tuple[str, ...]]] = deque([(start, (start,))])
    while waiting:
        symbol, path = waiting.popleft()
        if depth is not None and len(path) > depth:
            continue
        for reached, edge in _neighbours(graph, symbol, direction, is_start=symbol == start):
            if reached in seen:
                continue
            seen.add(reached)
            way = (*path, reached)
            yield LineageStep(reached, edge, way)
            if graph.kind(reached) != "module":
                waiting.append((reached, way))


def _neighbours(
    graph: Graph, symbol: str, direction: Direction, *, is_start: bool
) -> Iterator[tuple[str, Edge]]:
    is_module = graph.kind(symbol) == "module"
    kinds = _FOLLOWED | {"imports"} if is_module else _FOLLOWED
    for part in _parts(graph, symbol, is_start=is_start):
        edges = graph.edges_from(part) if direction == "upstream" else graph.edges_to(part)
        for edge in sorted(edges, key=lambda edge: (edge.file, edge.line)):
            if edge.kind not in kinds or edge.confidence not in _FOLLOWED_WHEN:
                continue
            reached = symbol_id(edge.dst if direction == "upstream" else edge.src)
            if not graph.definitions(reached):
                continue
            if is_module or direction == "downstream" or graph.kind(reached) != "module":
                yield reached, edge
        yield from _dispatched(graph, part, direction)


def _dispatched(graph: Graph, part: str, direction: Direction) -> Iterator[tuple[str, Edge]]:
    """What calls through a base class may reach: overrides upstream, such callers downstream."""
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
    """The definitions whose edges count as the symbol's own."""
    if is_start or graph.kind(symbol) != "class":
        return graph.within(symbol)
    made = [f"{symbol}.{name}" for name in _CONSTRUCTORS]
    return [symbol, *[name for name in made if graph.definitions(name)]]
