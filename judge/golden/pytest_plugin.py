"""Golden cases as tests: each JSON file in a folder becomes one test, replayed with no network.

In the folder's `conftest.py`: `pytest_collect_file = golden_cases(lambda: stage)`.
"""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from judge.golden.compare import differences
from judge.golden.diff import lines_of
from judge.golden.run import Stage, run_case
from judge.golden.store import load_case


class CollectFile(Protocol):
    """Pytest's hook of this name."""

    def __call__(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """The collector for a file, or None if it is not ours."""
        ...


def golden_cases(stage: Callable[[], Stage]) -> CollectFile:
    """A hook that makes a test of each case beside its conftest; *stage* is made when needed."""

    def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        if file_path.suffix != ".json" or file_path.name.startswith("."):
            return None
        return GoldenFile.from_parent(parent, path=file_path, stage=stage)

    return pytest_collect_file


class GoldenFile(pytest.File):
    """The file of one case."""

    def __init__(self, *, stage: Callable[[], Stage], **options: Any) -> None:
        super().__init__(**options)
        self.stage = stage

    def collect(self) -> Iterator[pytest.Item]:
        """Its one test."""
        yield GoldenItem.from_parent(self, name=self.path.stem)


class GoldenItem(pytest.Item):
    """One case: it fails with what is not as expected, field by field."""

    parent: GoldenFile

    def runtest(self) -> None:
        """Replay the case."""
        stored = load_case(self.path)
        outcome = asyncio.run(run_case(stored, self.parent.stage()))
        lines = [line for found in differences(stored.case, outcome) for line in lines_of(found)]
        if lines:
            lines += [f"The case does not have {lack}." for lack in outcome.lacks]
            pytest.fail("\n".join(lines), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where it is, for the terminal."""
        return self.path, 0, f"golden case {self.name}"
