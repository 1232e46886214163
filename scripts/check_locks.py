"""Fail when a lock file does not hold what pyproject.toml asks for; needs no network.

`make lock` resolves anew; this only compares, so that it can run before each commit.
"""

import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent


def main() -> int:
    """Compare, and say what is missing on stderr."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    runtime = [*project["project"]["dependencies"]]
    for extra in project["project"]["optional-dependencies"].values():
        runtime += extra
    development = [*runtime, *project["dependency-groups"]["dev"]]
    problems = [
        *missing("requirements.lock", runtime),
        *missing("requirements-dev.lock", development),
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def missing(lock: str, wanted: Iterable[str]) -> Iterator[str]:
    """What of *wanted* is not in the file *lock*, as sentences."""
    pins = [
        Requirement(line.removesuffix("\\").strip())
        for line in (ROOT / lock).read_text().splitlines()
        if line[:1].isalnum()
    ]
    locked = {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in pins}
    for text in wanted:
        requirement = Requirement(text)
        version = locked.get(canonicalize_name(requirement.name))
        if version is None or version not in requirement.specifier:
            yield f"{lock} has {version or 'nothing'} for {text}: run `make lock`."


if __name__ == "__main__":
    sys.exit(main())
