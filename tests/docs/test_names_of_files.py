"""Files and modules that documents and code name exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLDERS = "benchmarks|client|config|docs|examples|judge|scripts|tests"


def missing_files(text: str) -> list[str]:
    """The files and folders of this repository that *text* names in code and that do not exist."""
    named = re.findall(rf"`((?:{FOLDERS})/[\w./-]+)(?:::\w+)?`", text)
    bare = re.findall(r"`([\w-]+\.py)`", text)
    absent = [name for name in named if not (ROOT / name).exists()]
    return absent + [name for name in bare if not list(ROOT.glob(f"[!.]*/**/{name}"))]


@pytest.mark.parametrize("folder", ["docs", "judge"])
def test_every_file_that_is_named_exists(folder):
    for path in PAGES if folder == "docs" else ROOT.glob("judge/**/*.py"):
        assert missing_files(path.read_text(encoding="utf-8")) == [], path.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_target_exists(page):
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def is_known(dotted: str) -> bool:
    """Whether *dotted* is a module of Judge, or a name defined in one."""
    parts = dotted.split(".")
    for count in range(len(parts), 1, -1):
        folder = ROOT.joinpath(*parts[:count])
        for path in (folder.with_suffix(".py"), folder / "__init__.py"):
            if path.exists():
                text = path.read_text(encoding="utf-8")
                return all(re.search(rf"\b{name}\b", text) for name in parts[count:])
    return False


OTHER_FILES = ("judge.fish", "judge.service")
"""Names that look like a module's and are those of files."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_module_that_is_named_exists(page):
    named = re.findall(r"\bjudge(?:\.[A-Za-z_]\w*)+", page.read_text(encoding="utf-8"))
    assert [name for name in named if name not in OTHER_FILES and not is_known(name)] == []


def test_missing_name_is_found():
    assert missing_files("`judge/nowhere.py` and `judge/ports.py`, `nothing.py`") == [
        "judge/nowhere.py",
        "nothing.py",
    ]
