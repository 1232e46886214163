"""Each JSON file in this folder is a test, replayed with no network."""

import functools
from pathlib import Path

import pytest

from judge.entrypoints.cli.golden.run import replay_config
from judge.golden.cases import load_case
from judge.golden.replay import RunConfig
from judge.golden.reports import failure_lines
from judge.golden.scoring import judge_all

FOLDER = Path(__file__).parent


@functools.cache
def run_config() -> RunConfig:
    return replay_config(FOLDER)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
async def test_outcome_is_as_expected(path: Path) -> None:
    [judged] = await judge_all([load_case(path)], run_config())
    assert "\n".join(failure_lines(judged)) == ""
