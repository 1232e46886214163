"""Small repositories from one text, in which `--- path` begins a file."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from codegraph.python_api import build_graph_for_repo
from hypothesis import settings

# Without a deadline: a busy machine is no failure. In CI the examples are the same at each run.
IS_CI = "CI" in os.environ
settings.register_profile(
    "codegraph", deadline=None, derandomize=IS_CI, max_examples=100 if IS_CI else 20
)
settings.load_profile("codegraph")


def write_files(root: Path, text: str) -> None:
    path, lines = "", []
    for line in [*text.splitlines(), "--- "]:
        if line.startswith("--- "):
            if path:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text("\n".join(lines) + "\n")
            path, lines = line[4:].strip(), []
        else:
            lines.append(line)


@pytest.fixture
def repo(tmp_path) -> Callable[[str], Path]:
    def make(text: str) -> Path:
        root = tmp_path / "repo"
        root.mkdir(exist_ok=True)
        write_files(root, text)
        return root

    return make


@pytest.fixture
def built(repo) -> Callable[[str], Path]:
    """As `repo`, with its graph."""

    def make(text: str) -> Path:
        root = repo(text)
        build_graph_for_repo(root)
        return root

    return make


SEED = """\
--- module_a.py
def target_symbol():
    return 1
--- module_b.py
from module_a import target_symbol


def use():
    return target_symbol()
"""


@pytest.fixture
def seed_repo(repo) -> Path:
    return repo(SEED)


@pytest.fixture
def built_seed(built) -> Path:
    return built(SEED)
