"""What can go wrong when a code graph is built or queried.

InvalidRequest
├── BadRepository     there is no such folder, or it cannot be read or written
├── BadPattern        a regular expression is wrong or takes too long
├── BadDirection      there is no such direction of lineage
├── AmbiguousSymbol   several definitions have the name
└── NotFound
    ├── UnknownSymbol      no definition has the name
    ├── GraphMissing       no graph was built yet, or it cannot be read
    └── UnknownRepository  JUDGE_CODE_ROOTS has no repository of that name
"""

from collections.abc import Sequence

from judge.errors import InvalidRequest, NotFound

_MAX_SHOWN = 5


class BadRepository(InvalidRequest):
    """The repository cannot be used; the text says why."""


class BadPattern(InvalidRequest):
    """The regular expression cannot be compiled, or cannot be run in time."""

    field = "query"


class BadDirection(InvalidRequest):
    """There is no such direction of lineage."""

    field = "direction"


class AmbiguousSymbol(InvalidRequest):
    """Several definitions have the name; *candidates* are unambiguous full names."""

    def __init__(self, symbol: str, candidates: Sequence[str]) -> None:
        shown = ", ".join(candidates[:_MAX_SHOWN])
        more = f" and {len(candidates) - _MAX_SHOWN} more" if len(candidates) > _MAX_SHOWN else ""
        super().__init__(
            f"{symbol!r} names {len(candidates)} definitions: {shown}{more}. "
            "Ask again with a full name."
        )
        self.candidates = tuple(candidates)


class UnknownSymbol(NotFound):
    """No definition has the name; *similar* are names that look like it."""

    def __init__(self, symbol: str, similar: Sequence[str]) -> None:
        hint = f" Did you mean {', '.join(similar)}?" if similar else ""
        super().__init__(
            f"The graph has no definition called {symbol!r}.{hint} "
            "Search code for it as text instead: `judge code search --query NAME`, "
            "/api/code/search?query=NAME or the tool search_code."
        )


class GraphMissing(FileNotFoundError, NotFound):
    """There is no graph yet, or it cannot be read; the text names the command to build one."""


class UnknownRepository(NotFound):
    """JUDGE_CODE_ROOTS has no repository *name*, or several and none was named; *valid* are all."""

    def __init__(self, name: str | None, valid: Sequence[str]) -> None:
        names = ", ".join(valid)
        if not valid:
            text = "No repository may be asked about: set JUDGE_CODE_ROOTS=name=path."
        elif name is None:
            text = f"There are several repositories; name one of: {names}."
        else:
            text = f"There is no repository {name[:64]!r}. Valid are: {names}."
        super().__init__(text)
        self.valid = tuple(valid)
