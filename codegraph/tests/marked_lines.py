"""Small repositories in which a mark ends each line that uses the symbol of the title."""

from pathlib import Path

import pytest
from codegraph.python_api import build_graph_for_repo, tool_rag_where_used


def cases(text: str) -> list:
    """The symbol and the files of each case; `=== title | symbol` begins one."""
    found = []
    for case in text.split("\n=== ")[1:]:
        title, _, files = case.partition("\n")
        name, _, symbol = title.partition(" | ")
        found.append(pytest.param(symbol, files, id=name))
    return found


def marked(root: Path, pattern: str, mark: str) -> set[tuple[str, int]]:
    """The lines of the files that match *pattern* which end in *mark*."""
    return {
        (path.relative_to(root).as_posix(), number)
        for path in root.rglob(pattern)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if line.endswith(mark)
    }


def sure_uses(root: Path, symbol: str) -> dict[str, set[tuple[str, int]]]:
    """The exact and the inferred uses of *symbol* in the repository at *root*."""
    build_graph_for_repo(root)
    items = tool_rag_where_used(symbol, root, 100).items
    uses = [item for item in items if item.kind != "definition"]
    return {
        confidence: {(item.file, item.line) for item in uses if item.confidence == confidence}
        for confidence in ("exact", "inferred")
    }
