"""What the code graph holds, and what its questions answer.

`SearchResult`, `WhereUsedResult` and `LineageResult` are the stable shapes that every door (the
command line, HTTP, MCP) and every Python caller gets from `judge.codegraph.tools`.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Freshness = Literal["FRESH", "STALE", "UNKNOWN"]
Confidence = Literal["exact", "possible", "text"]
Direction = Literal["upstream", "downstream"]
Source = Literal["RAG_GRAPH"]


class Node(NamedTuple):
    """A module, class, function or method; *span* is its first and last line."""

    id: str
    fqn: str
    kind: str
    file: str
    span: tuple[int, int]


class Edge(NamedTuple):
    """One relation at one place; *src* is the enclosing definition.

    A `possible` edge's *dst* is `*.name`: some definition of that name, nobody can tell which.
    """

    src: str
    dst: str
    kind: str
    file: str
    line: int
    confidence: str
