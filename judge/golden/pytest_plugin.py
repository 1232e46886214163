"""Golden cases as tests: each JSON file in a folder becomes one test, replayed with no network.

In the folder's `conftest.py`: `pytest_collect_file = golden_cases(lambda: run_config)`.
"""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from judge.golden.case_reader import load_case
from judge.golden.case_runner import RunConfig, run_case
from judge.golden.difference_text import difference_lines
from judge.golden.differences import differences

CollectFile = Callable[[Path, pytest.Collector], pytest.Collector | None]
"""Pytest's hook `pytest_collect_file`: the collector for a file, or None if it is not ours."""


def golden_cases(run_config: Callable[[], RunConfig]) -> CollectFile:
    """A hook that makes a test of each case beside its conftest, run as *run_config* says."""

    def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        if file_path.suffix != ".json" or file_path.name.startswith("."):
            return None
        return GoldenFile.from_parent(parent, path=file_path, run_config=run_config)

    return pytest_collect_file


class GoldenFile(pytest.File):
    """The file of one case."""

    def __init__(self, *, run_config: Callable[[], RunConfig], **options: Any) -> None:
        super().__init__(**options)
        self.run_config = run_config

    def collect(self) -> Iterator[pytest.Item]:
        """Its one test."""
        yield GoldenItem.from_parent(self, name=self.path.stem)


class GoldenItem(pytest.Item):
    """One case: it fails with what is not as expected, field by field."""

    parent: GoldenFile

    def runtest(self) -> None:
        """Replay the case."""
        stored = load_case(self.path)
        outcome = asyncio.run(run_case(stored, self.parent.run_config()))
        found = differences(stored.case, outcome)
        lines = [line for difference in found for line in difference_lines(difference)]
        if lines:
            lines += [f"The case does not have {part}." for part in outcome.missing]
            pytest.fail("\n".join(lines), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where it is, for the terminal."""
        return self.path, 0, f"golden case {self.name}"
