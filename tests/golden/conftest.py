"""Makes a test of each JSON file in this folder."""

import functools
from pathlib import Path

from judge.entrypoints.cli.golden.run import replay_config
from judge.golden.case_runner import RunConfig
from judge.golden.pytest_plugin import golden_cases


@functools.cache
def run_config() -> RunConfig:
    return replay_config(Path(__file__).parent)


pytest_collect_file = golden_cases(run_config)
