"""Mutation-test the core and list the surviving mutants; fails below the floor.

[tool.mutmut] in pyproject.toml says what is mutated and which tests run. There are some 12,000
mutants, about one a second, so a sample is drawn, the same one for the same seed. A mutant that
timed out counts as killed and is listed too: check that it loops and is not merely slow. On a busy
machine run one at a time (`--processes 1`), so that none is merely slow.
"""

import argparse
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

from mutmut.stats import status_by_exit_code

FLOOR = 0.92
NOTICED = {"killed", "timeout", "segfault"}
MUTMUT = Path(sys.executable).with_name("mutmut")


def main() -> int:
    """Run it; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--only", default="", help="a part of the module's name, such as citations")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    # Writes all mutants, and maps tests to the functions that they cover.
    run(chosen.processes, "judge.types.setting_values*")
    names = sorted(name for name in statuses() if chosen.only in name)
    sample = random.Random(chosen.seed).sample(names, min(chosen.count, len(names)))
    run(chosen.processes, *sample)
    found = {name: status for name, status in statuses().items() if name in set(sample)}
    unnoticed = [name for name in sorted(found) if found[name] not in NOTICED]
    for name in sorted(found):
        if found[name] != "killed":
            subprocess.run([MUTMUT, "show", name], check=False)
    noticed = 1 - len(unnoticed) / len(found)
    print(f"{dict(Counter(found.values()))} of {len(names)} mutants, seed {chosen.seed}")
    print(f"Noticed: {noticed:.1%}; the floor is {FLOOR:.0%}.")
    return 0 if noticed >= FLOOR else 1


def run(processes: int, *names: str) -> None:
    """Run the tests on the mutants called *names*; mutmut's output goes to a file."""
    command = [MUTMUT, "run", "--max-children", str(processes), *names]
    with Path("mutants.log").open("w") as log:
        subprocess.run(command, check=True, stdout=log)


def statuses() -> dict[str, str]:
    """The status of each mutant so far, by its name."""
    return {
        name: status_by_exit_code[code]
        for path in Path("mutants").rglob("*.meta")
        if path.relative_to("mutants").with_suffix("").exists()  # not of a deleted module
        for name, code in json.loads(path.read_text())["exit_code_by_key"].items()
    }


if __name__ == "__main__":
    sys.exit(main())
