"""Write the rooms of docs/architecture.md: a picture of their imports, and what each room is.

A room is a folder or a module directly in `judge/`. The table has the first sentence of each
docstring.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "judge"
TARGET = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- rooms: written by `make docs` -->\n", "<!-- /rooms -->"

Imports = dict[str, set[str]]
"""The rooms that each room imports."""


def main() -> None:
    """Write the page."""
    TARGET.write_text(render(TARGET.read_text(encoding="utf-8")), encoding="utf-8")


def render(page: str) -> str:
    """*page* with the rooms as they are now."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    rooms = "\n".join([*_picture(needed(read_imports())), "", *_table()])
    return f"{before}{BEGIN}{rooms}\n{END}{after}"


def read_imports() -> Imports:
    """The imports between rooms at run time, without those under TYPE_CHECKING."""
    rooms: Imports = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).with_suffix("").parts[0]
        if not room.startswith("__"):
            imported = set(_imported(ast.parse(path.read_text(encoding="utf-8"))))
            rooms.setdefault(room, set()).update(imported - {room})
    return rooms


def needed(rooms: Imports) -> Imports:
    """*rooms* without the imports that follow from others (the transitive reduction)."""
    return {
        room: {
            other
            for other in imports
            if not any(other in reachable(between, rooms) for between in imports - {other})
        }
        for room, imports in rooms.items()
    }


def reachable(room: str, rooms: Imports) -> set[str]:
    """All that *room* imports, directly and indirectly."""
    reached: set[str] = set()
    waiting = [room]
    while waiting:
        new = rooms[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


def _imported(node: ast.AST) -> Iterator[str]:
    """The rooms named in import statements below *node*."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("judge."):
        yield (node.module or "").split(".")[1]
    for child in ast.iter_child_nodes(node):
        yield from _imported(child)


def _picture(rooms: Imports) -> Iterator[str]:
    yield "```mermaid\nflowchart TD"
    for room in sorted(rooms, key=lambda room: (-len(reachable(room, rooms)), room)):
        if rooms[room]:
            yield f"    {room} --> {' & '.join(sorted(rooms[room]))}"
    yield "```"


def _table() -> Iterator[str]:
    yield "| Room | What it is |"
    yield "|---|---|"
    for path in sorted(PACKAGE.rglob("*.py")):
        inside = path.relative_to(PACKAGE)
        is_package = path.name == "__init__.py" and 1 < len(inside.parts) <= 3
        if is_package or (len(inside.parts) == 1 and not path.name.startswith("__")):
            name = f"{inside.parent}/" if is_package else path.name
            yield f"| `{name}` | {_first_sentence(path)} |"


def _first_sentence(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.split(r"(?<=\.)\s", " ".join(text.split()))[0]


if __name__ == "__main__":
    main()
