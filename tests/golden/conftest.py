"""Makes a test of each JSON file in this folder."""

import functools
from pathlib import Path

from judge.bootstrap import learn
from judge.entrypoints.cli.golden.runs import problem_body
from judge.golden.pytest_plugin import golden_cases
from judge.golden.run import Stage

SOURCES = Path(__file__).parents[2] / "config" / "sources.toml"


@functools.cache
def stage() -> Stage:
    return Stage(learn(SOURCES.read_text(encoding="utf-8")), problem_body)


pytest_collect_file = golden_cases(stage)
