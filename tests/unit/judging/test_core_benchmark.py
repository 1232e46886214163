"""The benchmark of the core runs, so that it can show which step got slower."""

import subprocess
import sys


def test_benchmark_times_short_and_long_disputes_by_step() -> None:
    command = [sys.executable, "-m", "benchmarks.core", "--requests", "1", "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    short, long = done.stdout.splitlines()
    assert short.startswith("short: ")
    for step in ("dispute", "domain", "references", "safety", "prompt", "check", "result"):
        assert f"{step} " in long
