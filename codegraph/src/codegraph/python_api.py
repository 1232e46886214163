"""The API for Python callers: build a repository's code graph and query it.

`build_graph_for_repo` writes the graph, the others read it. For many queries use a `CodeGraph`: it
keeps the graph in memory until the file is replaced.
"""

from pathlib import Path
from typing import Any

from codegraph.build import build_graph_for_repo
from codegraph.models import LineageResult, SearchResult, WhereUsedResult
from codegraph.query.code_graph import CodeGraph

__all__ = [
    "CodeGraph",
    "build_graph_for_repo",
    "tool_rag_lineage",
    "tool_rag_search",
    "tool_rag_where_used",
]


def tool_rag_search(
    query: str, repo_root: Path | str, limit: int = 20, **options: Any
) -> SearchResult:
    """The lines that contain *query*, with their context; see `CodeGraph.search`."""
    return CodeGraph(repo_root).search(query, limit, **options)


def tool_rag_where_used(
    symbol: str, repo_root: Path | str, limit: int = 50, **options: Any
) -> WhereUsedResult:
    """The definitions and uses of *symbol*; see `CodeGraph.where_used`."""
    return CodeGraph(repo_root).where_used(symbol, limit, **options)


def tool_rag_lineage(
    symbol: str, direction: str, repo_root: Path | str, max_results: int = 50, **options: Any
) -> LineageResult:
    """What feeds *symbol* or depends on it; see `CodeGraph.lineage`."""
    return CodeGraph(repo_root).lineage(symbol, direction, max_results, **options)
