"""The repositories that HTTP and MCP may query: JUDGE_CODE_ROOTS, by name and never by path."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from codegraph.query.code_graph import CodeGraph

from codegraph import errors as code_errors
from judge.errors import Ambiguous, ConfigurationError, InvalidRequest, NotFound, UnknownRepository

T = TypeVar("T")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class CodeRoots:
    """The repositories by name; each graph stays in memory until it is built again."""

    def __init__(self, folders: Mapping[str, Path] | None = None) -> None:
        """Raise BadRepository when one of *folders* is not a folder."""
        self._graphs = {name: CodeGraph(folder) for name, folder in (folders or {}).items()}
        self._slots = asyncio.Semaphore(2)  # more threads would compete for the interpreter

    @property
    def names(self) -> tuple[str, ...]:
        """The valid values of `repo`, in the order of the setting."""
        return tuple(self._graphs)

    async def ask(self, repo: str | None, question: Callable[[CodeGraph], T]) -> T:
        """Run *question* on the graph of *repo*, None for the only one; raises InvalidRequest."""
        if repo is None and len(self._graphs) == 1:
            [repo] = self._graphs
        if repo is None or repo not in self._graphs:
            raise UnknownRepository(repo, self.names)
        async with self._slots:
            try:
                return await asyncio.to_thread(question, self._graphs[repo])
            except code_errors.CodeGraphError as error:
                raise _as_ours(error, repo) from None


def _as_ours(error: code_errors.CodeGraphError, repo: str) -> InvalidRequest:
    match error:
        case code_errors.GraphMissing():
            # The error's own text names a folder of this machine.
            return NotFound(
                f"The repository {repo!r} has no code graph that can be read. Whoever runs "
                "this can make one with: judge code build-graph --repo FOLDER"
            )
        case code_errors.AmbiguousSymbol():
            return Ambiguous(str(error), error.candidates)
        case code_errors.UnknownSymbol():
            return NotFound(str(error))
        case _:
            invalid = InvalidRequest(str(error))
            invalid.field = error.field
            return invalid


def open_roots(settings: Sequence[str]) -> CodeRoots:
    """The repositories in *settings*, `name=path` each; raises ConfigurationError."""
    folders: dict[str, Path] = {}
    for setting in settings:
        name, _, path = (part.strip() for part in setting.partition("="))
        if not path or not _NAME.fullmatch(name):
            raise ConfigurationError(
                f"JUDGE_CODE_ROOTS: {setting!r} cannot be used. Write name=path, where the name "
                "has letters, digits, dots, dashes and underscores."
            )
        if name in folders:
            raise ConfigurationError(f"JUDGE_CODE_ROOTS names {name!r} twice. Keep one of them.")
        folders[name] = Path(path)
    try:
        return CodeRoots(folders)
    except code_errors.BadRepository as error:
        raise ConfigurationError(f"JUDGE_CODE_ROOTS: {error}") from None
