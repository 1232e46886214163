"""Makes a test of each JSON file in this folder."""

import functools
from pathlib import Path

from judge.bootstrap import learn
from judge.entrypoints.cli.golden.run import problem_body
from judge.golden.case_runner import RunConfig
from judge.golden.pytest_plugin import golden_cases

SOURCES = Path(__file__).parents[2] / "config" / "sources.toml"


@functools.cache
def run_config() -> RunConfig:
    return RunConfig(learn(SOURCES.read_text(encoding="utf-8")), problem_body)


pytest_collect_file = golden_cases(run_config)
