"""docs/architecture.md agrees with the code: packages, glossary, and locations."""

import ast
import functools
import re
import runpy
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CORE = ("judging", "library", "citations", "text", "types")
IO_LIBRARIES = {"os", "shutil", "subprocess", "socket", "tempfile", "time", "random", "logging"}


def rows_under(heading: str) -> list[list[str]]:
    """The cells of the table under *heading*, without its head."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def in_code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@functools.cache
def names_defined_in(path: str) -> set[str]:
    nodes = list(ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))))
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return {node.name for node in nodes if isinstance(node, kinds)}


@functools.cache
def classes(package: str = "judge") -> Counter[str]:
    return Counter(
        node.name
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )


def test_packages_and_their_imports_are_those_of_the_code():
    drawn = runpy.run_path(str(ROOT / "scripts" / "generate_architecture.py"))["render"](PAGE)
    assert drawn == PAGE, "run `make docs`"


def test_imports_point_one_way():
    found = runpy.run_path(str(ROOT / "scripts" / "generate_architecture.py"))
    rooms = found["read_imports"]()
    assert [room for room in rooms if room in found["reachable"](room, rooms)] == []


def test_diagram_has_the_fewest_arrows():
    needed = runpy.run_path(str(ROOT / "scripts" / "generate_architecture.py"))["needed"]
    rooms = {"a": {"b", "c", "d"}, "b": {"c"}, "c": set(), "d": set()}
    assert needed(rooms) == {"a": {"b", "d"}, "b": {"c"}, "c": set(), "d": set()}


@pytest.mark.parametrize("room", CORE)
def test_core_does_no_io(room):
    found = {
        (path.name, name)
        for path in (ROOT / "judge" / room).rglob("*.py")
        for name in re.findall(r"^(?:from|import) (\w+)", path.read_text(), re.MULTILINE)
    }
    assert {(file, name) for file, name in found if name in IO_LIBRARIES} == set()


@pytest.mark.parametrize("row", rows_under("Where is …?"), ids=lambda row: row[0])
def test_each_thing_is_where_the_page_says(row):
    named = [name for cell in row[1:] for name in in_code(cell)]
    files = [name for name in named if "/" in name]
    defined = set().union(*(names_defined_in(file) for file in files))
    assert len(named) > len(files) > 0
    assert set(named) - set(files) - defined == set()


def test_no_two_classes_share_a_name():
    assert [name for name, count in classes().items() if count > 1] == []


def test_the_glossary_gives_each_word_one_meaning():
    words = [row[0] for row in rows_under("Glossary")]
    assert len(words) > 30
    assert [word for word, count in Counter(words).items() if count > 1] == []


@pytest.mark.parametrize("row", rows_under("Glossary"), ids=lambda row: row[0])
def test_each_glossary_entry_exists_where_it_says(row):
    *names, path = in_code(row[2])
    assert (ROOT / path).exists()
    package = "codegraph/src" if path.startswith("codegraph/") else "judge"
    assert [name for name in names if classes(package)[name] != 1] == []
    assert set(names) <= (names_defined_in(path) if names else set())
