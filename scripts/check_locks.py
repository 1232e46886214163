"""Fail when a lock file does not satisfy pyproject.toml; needs no network.

`make lock` resolves again; this only compares, so that it can run before each commit.
"""

import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent

OWN = "judge-codegraph"
"""A package of this repository, which no lock file holds."""


def main() -> int:
    """Compare, and print what is missing on stderr."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    base = project["project"]["dependencies"]
    extras = project["project"]["optional-dependencies"].values()
    everything = [*base, *(wanted for extra in extras for wanted in extra)]
    development = [*everything, *project["dependency-groups"]["dev"]]
    problems = [
        *missing("requirements.lock", base),
        *missing("requirements-extras.lock", everything),
        *missing("requirements-dev.lock", development),
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def missing(lock: str, wanted: Iterable[str]) -> Iterator[str]:
    """The requirements of *wanted* that the file *lock* does not satisfy, as sentences."""
    pins = [
        Requirement(line.removesuffix("\\").strip())
        for line in (ROOT / lock).read_text().splitlines()
        if line[:1].isalnum()
    ]
    for text in wanted:
        requirement = Requirement(text)
        name = canonicalize_name(requirement.name)
        if name == OWN:
            continue
        # There may be another pin for older Pythons.
        versions = [_version(pin) for pin in pins if canonicalize_name(pin.name) == name]
        if not versions or not all(version in requirement.specifier for version in versions):
            found = " and ".join(versions) or "nothing"
            yield f"{lock} has {found} for {text}: run `make lock`."


def _version(pin: Requirement) -> str:
    return str(pin.specifier).removeprefix("==")


if __name__ == "__main__":
    sys.exit(main())
