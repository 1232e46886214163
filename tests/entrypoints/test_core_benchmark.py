"""The benchmark of the steps runs with the steps that there are."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.process
def test_each_step_of_a_judgement_is_told_with_its_time():
    command = [sys.executable, "-m", "benchmarks.core", "--requests", "1", "--rounds", "1"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for line, kind in zip(told.splitlines(), ("short", "long"), strict=True):
        assert line.startswith(f"{kind}: ")
        assert all(f" {step} " in line for step in ("domain", "references", "safety", "check"))
