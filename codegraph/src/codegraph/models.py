"""The nodes and edges of the code graph, and the results of queries.

`SearchResult`, `WhereUsedResult` and `LineageResult` are the stable shapes that every entry point
(command line, HTTP, MCP) and every Python caller gets.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from msgspec import Struct

Freshness = Literal["FRESH", "STALE", "UNKNOWN"]
Confidence = Literal["exact", "inferred", "dispatch", "possible", "text"]
Direction = Literal["upstream", "downstream"]
Source = Literal["RAG_GRAPH"]

#: The kinds of nodes that are variables rather than definitions with a body.
VARIABLE_KINDS = frozenset({"constant", "variable", "field"})


NodeKind = Literal["module", "class", "function", "method", "constant", "variable", "field"]
EdgeKind = Literal["calls", "references", "imports", "inherits", "overrides", "exports"]


class Node(Struct, frozen=True, array_like=True, gc=False):
    """A definition: its *kind*, and *span*, its first and last line.

    *line* has its name; *span* begins above it when there are decorators. A `constant` and a
    `variable` are of a module, a `field` is an attribute of a class or of its instances.
    """

    id: str
    fqn: str
    kind: NodeKind
    span: tuple[int, int]
    line: int

    @property
    def file(self) -> str:
        """The path of the file that it is in."""
        return self.id.partition(":")[0]


def symbol_id(node_id: str) -> str:
    """The id of the symbol that a definition belongs to: *node_id* without its `~n`."""
    symbol, mark, number = node_id.rpartition("~")
    return symbol if mark and number.isdigit() else node_id


class Edge(Struct, frozen=True, array_like=True, gc=False):
    """A relation between two symbols at one line; *src* is the enclosing definition.

    An `inferred` edge depends on the result of a function without a declared return type.
    A `possible` edge's *dst* is `*.name`: an unknown definition of that name.
    A *direct* edge cannot reach an override: `super().f()`, `Base.f(self)`, `Base().f()`.
    """

    src: str
    dst: str
    kind: EdgeKind
    line: int
    confidence: Confidence
    is_direct: bool = False

    @property
    def file(self) -> str:
        """The path of the file that it is in."""
        return self.src.partition(":")[0]


class Part(Struct):
    """A file's part of the graph; *aliases* has the ids of symbols by their new names in it."""

    nodes: list[Node]
    edges: list[Edge]
    aliases: dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class SnippetLocation:
    """Which lines of which file a snippet shows; both ends count."""

    path: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class CodeSnippet:
    """A few lines of source around a place."""

    text: str
    location: SnippetLocation


@dataclass(frozen=True, slots=True)
class Staleness:
    """How the files differ from those of the graph, by path."""

    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    reason: str | None = None

    def __bool__(self) -> bool:
        return bool(self.changed or self.added or self.deleted or self.reason)


@dataclass(frozen=True, slots=True)
class CodeItem:
    """A place in the code: how it relates to the query, how sure that is, and its lines."""

    file: str
    line: int
    kind: str
    confidence: Confidence
    snippet: CodeSnippet


@dataclass(frozen=True, slots=True)
class SearchItem(CodeItem):
    """Lines that match, so near one another that one snippet shows them."""

    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer to a search; `truncated` is true only when there is more."""

    query: str
    items: tuple[SearchItem, ...]
    truncated: bool
    freshness_state: Freshness
    staleness: Staleness = Staleness()
    source: Source = "RAG_GRAPH"


@dataclass(frozen=True, slots=True)
class WhereUsedItem(CodeItem):
    """One use of a symbol, or (`kind` is `definition`) one of its definitions.

    *enclosing* is the full name of the definition in which the use stands, null in a text file.
    *through* is, for a `dispatch` use, the method of a base class that is called there.
    """

    enclosing: str | None
    through: str | None = None


@dataclass(frozen=True, slots=True)
class WhereUsedResult:
    """All uses of a symbol: definitions, exact and inferred uses by kind, dispatch, text, possible.

    *symbol* is the name asked for, *resolved* its full name. *counts* are uses by kind, before the
    limit; *text_mentions* counts lines that only mention the name, and *possible_count* uses on
    receivers of unknown type, whether they are shown or not.
    """

    symbol: str
    resolved: str
    items: tuple[WhereUsedItem, ...]
    truncated: bool
    counts: dict[str, int]
    text_mentions: int
    possible_count: int
    freshness_state: Freshness
    staleness: Staleness = Staleness()
    source: Source = "RAG_GRAPH"


@dataclass(frozen=True, slots=True)
class LineageItem(CodeItem):
    """A symbol that was reached, with the last edge of the shortest path to it.

    *path* holds the full names from the symbol that was asked for to this one; *depth* is its
    number of edges. *file* and *line* are those of the last edge.
    """

    symbol: str
    depth: int
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LineageResult:
    """What feeds a symbol (upstream) or what depends on it (downstream), nearest first."""

    symbol: str
    resolved: str
    direction: Direction
    items: tuple[LineageItem, ...]
    truncated: bool
    freshness_state: Freshness
    staleness: Staleness = Staleness()
    source: Source = "RAG_GRAPH"


ContextKind = Literal["definition", "caller", "callee", "test"]


@dataclass(frozen=True, slots=True)
class CodeContextItem(CodeItem):
    """A piece of a symbol's context; *symbol* is the definition that the piece belongs to."""

    kind: ContextKind
    symbol: str


@dataclass(frozen=True, slots=True)
class CodeContextResult:
    """A symbol's definition, callers, callees and tests, best first, in about *tokens* tokens."""

    symbol: str
    resolved: str
    docstring: str | None
    items: tuple[CodeContextItem, ...]
    truncated: bool
    tokens: int
    freshness_state: Freshness
    staleness: Staleness = Staleness()
    source: Source = "RAG_GRAPH"


class FileStat(NamedTuple):
    """Size and modification time: a cheap sign that a file may have changed."""

    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build did: the size of the graph, and how many files were read and linked again.

    *submodules* are folders of other repositories, whose files are not part of the graph.
    """

    files: int
    nodes: int
    edges: int
    read: int
    linked: int
    unparsed: tuple[str, ...]
    submodules: tuple[str, ...] = ()
