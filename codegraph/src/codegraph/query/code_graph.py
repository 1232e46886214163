"""One repository's graph in memory, and the queries on it."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TypeVar

from codegraph import models
from codegraph.errors import BadPattern, BadRepository
from codegraph.query.context import gather_context
from codegraph.query.graph import Graph
from codegraph.query.lineage import LineageStep, parse_direction, walk
from codegraph.query.ranked_search import ranked_sections
from codegraph.query.symbol_lookup import LineReader, find_symbol
from codegraph.query.text_search import find_matches, matcher
from codegraph.query.where_used import find_uses
from codegraph.source_text import lines_of, snippet
from codegraph.store.artifact import compare, decode_artifact
from codegraph.store.repository import GRAPH_NAME, Repository

Item = TypeVar("Item")


class CodeGraph:
    """The graph of one repository, loaded at the first query and again after each build.

    Every query raises FileNotFoundError without a graph; those about a symbol UnknownSymbol or
    AmbiguousSymbol.
    """

    def __init__(self, repo_root: Path | str) -> None:
        """Raise BadRepository when *repo_root* is not a folder."""
        self._repository = Repository(repo_root)
        self._written_ns = 0
        self._loaded: tuple[tuple[int, int, int], Graph] | None = None

    def search(
        self, query: str, limit: int = 20, *, is_regex: bool = False, ignore_case: bool = False
    ) -> models.SearchResult:
        """The lines that contain *query*, by file and line; lines near each other share an item.

        Raise BadPattern for an empty query, or an expression that is invalid or takes too long.
        """
        if not query:
            raise BadPattern("The query is empty. Say what to look for.")
        graph = self._load()
        matches = matcher(query, is_regex=is_regex, ignore_case=ignore_case)
        found = find_matches(graph.artifact.files, self._repository.read, matches)
        items, truncated = _limited(found, limit)
        return models.SearchResult(query, items, truncated, *self._freshness(graph))

    def rank(self, query: str, limit: int = 20) -> models.SearchResult:
        """The definitions and sections of other files that are most relevant to *query*.

        Raise BadPattern for an empty query.
        """
        if not query.strip():
            raise BadPattern("The query is empty. Say what to look for.")
        graph = self._load()
        items, truncated = ranked_sections(graph, query, self._repository.read, limit)
        return models.SearchResult(query, tuple(items), truncated, *self._freshness(graph))

    def where_used(
        self, symbol: str, limit: int = 50, *, with_possible: bool = False, with_text: bool = False
    ) -> models.WhereUsedResult:
        """The definitions of *symbol*, then its uses grouped by kind."""
        graph = self._load()
        lines = self._line_reader()
        resolved, read = find_symbol(graph, symbol), self._repository.read
        uses, counts, text_mentions, possible_count = find_uses(
            graph, resolved, read, with_possible=with_possible, with_text=with_text
        )
        first, truncated = _limited(iter(uses), limit)
        items = tuple(replace(u, snippet=snippet(u.file, lines(u.file), u.line)) for u in first)
        figures = counts, text_mentions, possible_count
        fqn, freshness = graph.fqn(resolved), self._freshness(graph)
        return models.WhereUsedResult(symbol, fqn, items, truncated, *figures, *freshness)

    def lineage(
        self, symbol: str, direction: str, max_results: int = 50, *, depth: int | None = None
    ) -> models.LineageResult:
        """The symbols that *symbol* depends on (upstream) or that depend on it (downstream).

        Nearest first, each with the shortest path to it. *direction* may be a synonym; raise
        BadDirection for another word.
        """
        towards = parse_direction(direction)
        graph = self._load()
        lines = self._line_reader()
        start = find_symbol(graph, symbol)
        steps, truncated = _limited(walk(graph, start, towards, depth=depth), max_results)
        items = tuple(_lineage_item(graph, step, lines) for step in steps)
        resolved, freshness = graph.fqn(start), self._freshness(graph)
        return models.LineageResult(symbol, resolved, towards, items, truncated, *freshness)

    def context(self, symbol: str, tokens: int = 4000) -> models.CodeContextResult:
        """The definition of *symbol*, its callers, callees and tests, in about *tokens* tokens."""
        graph = self._load()
        lines = self._line_reader()
        resolved = find_symbol(graph, symbol)
        gathered = gather_context(graph, resolved, lines, tokens)
        return models.CodeContextResult(
            symbol, graph.fqn(resolved), *gathered, *self._freshness(graph)
        )

    def _load(self) -> Graph:
        stamp = self._repository.graph_stamp()
        if self._loaded is None or self._loaded[0] != stamp:
            content, self._written_ns = self._repository.stored(GRAPH_NAME)
            self._loaded = (stamp, Graph(decode_artifact(content)))
        return self._loaded[1]

    def _freshness(self, graph: Graph) -> tuple[models.Freshness, models.Staleness]:
        try:
            files = self._repository.files()
        except BadRepository:
            files = None
        return compare(graph.artifact, self._written_ns, files, self._repository.read)

    def _line_reader(self) -> LineReader:
        """A function from a path to its lines, which reads each file once."""
        return cache(lambda path: lines_of(self._repository.read(path)))


def _limited(items: Iterator[Item], limit: int) -> tuple[tuple[Item, ...], bool]:
    """At most *limit* items, and whether there are more."""
    limit = min(max(limit, 0), sys.maxsize - 1)
    first = tuple(islice(items, limit + 1))
    return first[:limit], len(first) > limit


def _lineage_item(graph: Graph, step: LineageStep, lines: LineReader) -> models.LineageItem:
    edge, names = step.edge, tuple(map(graph.fqn, step.path))
    code = snippet(edge.file, lines(edge.file), edge.line)
    place = (edge.file, edge.line, edge.kind, edge.confidence, code)
    return models.LineageItem(*place, symbol=names[-1], depth=len(names) - 1, path=names)
