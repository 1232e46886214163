"""docs/security.md and docs/operations.md name existing tests, problems and settings."""

import re
from pathlib import Path

import pytest

from judge.problems import KINDS
from judge.settings import Settings

ROOT = Path(__file__).parents[2]
SECURITY = (ROOT / "docs" / "security.md").read_text()
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", SECURITY + OPERATIONS)))


def test_tests_are_named():
    assert len(NAMED) > 30


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[name for _, name in NAMED])
def test_every_test_that_is_named_exists(file, name):
    assert re.search(rf"^\s*(?:async )?def {name}\(", (ROOT / file).read_text(), re.MULTILINE)


def test_every_threat_names_a_test():
    threats = SECURITY.partition("## Threats")[2]
    rows = [line for line in threats.splitlines() if line.startswith("| ")]
    assert rows
    heads = ("| Threat", "| Promise")
    assert [r for r in rows if not r.startswith(heads) and "::test_" not in r] == []


@pytest.mark.parametrize("slug", KINDS)
def test_every_problem_type_is_explained_to_operators(slug):
    assert re.search(rf"^\| \d{{3}} \| `{slug}` \| .+ \|$", OPERATIONS, re.MULTILINE)


def test_every_variable_that_is_named_exists():
    known = {str(field.validation_alias) for field in Settings.model_fields.values()}
    named = set(re.findall(r"`(JUDGE_[A-Z_]+)", SECURITY + OPERATIONS))
    assert named
    assert named <= known
