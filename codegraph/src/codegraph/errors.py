"""What can go wrong when a code graph is built or queried.

CodeGraphError
├── BadRepository     there is no such folder, or it cannot be read or written
├── BadPattern        a regular expression is wrong or takes too long
├── BadDirection      there is no such direction of lineage
├── AmbiguousSymbol   several definitions have the name
├── UnknownSymbol     no definition has the name
└── GraphMissing      no graph was built yet, or it cannot be read
"""

from collections.abc import Sequence

_MAX_SHOWN = 5


class CodeGraphError(Exception):
    """The base of our errors; *field* names the part of the request that is wrong."""

    field = "body"


class BadRepository(CodeGraphError):
    """The repository cannot be used; the text says why."""


class BadPattern(CodeGraphError):
    """The regular expression cannot be compiled, or cannot be run in time."""

    field = "query"


class BadDirection(CodeGraphError):
    """There is no such direction of lineage."""

    field = "direction"


class AmbiguousSymbol(CodeGraphError):
    """Several definitions have the name; *candidates* are unambiguous full names."""

    def __init__(self, symbol: str, candidates: Sequence[str]) -> None:
        names = ", ".join(candidates[:_MAX_SHOWN])
        more = f" and {len(candidates) - _MAX_SHOWN} more" if len(candidates) > _MAX_SHOWN else ""
        super().__init__(
            f"{symbol!r} names {len(candidates)} definitions: {names}{more}. "
            "Ask again with a full name."
        )
        self.candidates = tuple(candidates)


class UnknownSymbol(CodeGraphError):
    """No definition has the name; *similar* are names that look like it."""

    def __init__(self, symbol: str, similar: Sequence[str]) -> None:
        hint = f" Did you mean {', '.join(similar)}?" if similar else ""
        super().__init__(
            f"The graph has no definition called {symbol!r}.{hint} "
            "Search code for it as text instead: `judge code search --query NAME`, "
            "/api/code/search?query=NAME or the tool search_code."
        )


class GraphMissing(FileNotFoundError, CodeGraphError):
    """There is no graph yet, or it cannot be read; the text names the command to build one."""
