"""The benchmark of the core runs, so that it can be asked when a step got slower."""

import subprocess
import sys


def test_each_step_is_told_for_short_and_long_disputes() -> None:
    command = [sys.executable, "-m", "benchmarks.core", "--requests", "1", "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    short, long = done.stdout.splitlines()
    assert short.startswith("short: ")
    for step in ("dispute", "domain", "references", "safety", "prompt", "check", "result"):
        assert f"{step} " in long
