"""Setup, packaging and documents agree with the code."""

import re
import runpy
import subprocess
import tomllib
from pathlib import Path

import pytest
from pydantic import AliasChoices

from judge.bootstrap.sources import compile_knowledge
from judge.library.sources.catalog import parse_sources
from judge.settings import Settings

ROOT = Path(__file__).parent.parent.parent
LOCKS = ("requirements.lock", "requirements-extras.lock", "requirements-dev.lock")
TARGETS = (
    "setup demo serve test lint check test-all golden bench torture live mutate image quality docs"
    " lock"
).split()
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]


def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def pins_of(lock: str) -> set[tuple[str, str]]:
    """Each pinned package with its version; some have one for older Pythons too."""
    return set(re.findall(r"^([a-z0-9][a-z0-9.-]*)==(\S+)", text_of(lock), re.MULTILINE))


def variables() -> set[str]:
    """Every environment variable that a setting is read from."""
    names: set[str] = set()
    for field in Settings.model_fields.values():
        alias = field.validation_alias
        choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
        names.update(str(choice) for choice in choices)
    return names


def test_what_is_mutated_and_its_tests_are_there():
    mutmut = PYPROJECT["tool"]["mutmut"]
    named = [*mutmut["only_mutate"], *mutmut["pytest_add_cli_args_test_selection"]]
    assert [path for path in named if not any(ROOT.glob(path))] == []


@pytest.mark.parametrize("name", sorted(variables()))
def test_every_setting_is_documented(name):
    assert f"`{name}`" in text_of("README.md") + text_of("docs/configuration.md")


def test_every_retrieval_setting_is_documented_with_its_default():
    defaults = parse_sources("[domains.any]\n").retrieval
    rows = dict(
        re.findall(
            r"^\| `(\w+)` \| ([\d.]+|empty) \|", text_of("docs/configuration.md"), re.MULTILINE
        )
    )
    documented = {name: "" if value == "empty" else float(value) for name, value in rows.items()}
    assert documented == {name: getattr(defaults, name) for name in defaults.__slots__}


def test_every_documented_sources_file_is_valid():
    examples = re.findall(r"```toml\n(.*?)```", text_of("docs/configuration.md"), re.DOTALL)
    names = [domain.name for text in examples for domain in compile_knowledge(text).catalog.domains]
    assert names == ["tenancy", "neighbours", "tenancy", "tenancy"]


def test_the_help_page_is_what_the_commands_print():
    page = runpy.run_path(str(ROOT / "scripts" / "generate_help.py"))["render"]()
    assert text_of("docs/help.md") == page, "run `make docs`"


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_files_name_no_registry(lock):
    text = text_of(lock)
    assert not re.search(r"https?://|--(extra-)?index-url|--find-links", text)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_hashes(lock):
    blocks = re.split(r"^(?=[a-z0-9])", text_of(lock), flags=re.MULTILINE)[1:]
    assert len(blocks) == len(pins_of(lock))
    assert all("--hash=sha256:" in block for block in blocks)


def test_development_lock_has_the_deployed_versions():
    assert pins_of("requirements.lock") <= pins_of("requirements-extras.lock")
    assert pins_of("requirements-extras.lock") <= pins_of("requirements-dev.lock")


def test_lock_files_satisfy_the_project_requirements():
    check = runpy.run_path(str(ROOT / "scripts" / "check_locks.py"))
    assert check["main"]() == 0
    [stale, absent] = check["missing"]("requirements.lock", ["click>=999", "no-such-thing"])
    assert re.fullmatch(r"requirements\.lock has [\d.]+ for click>=999: run `make lock`\.", stale)
    assert absent == "requirements.lock has nothing for no-such-thing: run `make lock`."


def test_make_lists_its_documented_targets():
    done = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["help", *TARGETS]


@pytest.mark.parametrize("script", [".ci/run", "scripts/setup.sh"])
def test_shell_scripts_are_valid(script):
    shell = "bash" if "bash" in text_of(script).splitlines()[0] else "sh"
    subprocess.run([shell, "-n", script], cwd=ROOT, timeout=60, check=True)
    assert re.search(r"^set -eu", text_of(script), re.MULTILINE)


def test_ci_runs_the_tests_of_the_readme():
    assert re.search(r"^make test\b", text_of(".ci/run"), re.MULTILINE)
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_image_uses_the_lock_file_an_own_user_and_a_health_check():
    dockerfile = text_of("Dockerfile")
    assert "uv pip sync --require-hashes requirements-extras.lock" in dockerfile
    assert dockerfile.count("\nFROM ") + dockerfile.startswith("FROM ") == 2
    assert re.search(r"^USER judge$", dockerfile, re.MULTILINE)
    assert "/health/live" in dockerfile


def test_the_pre_commit_hooks_run_tools_that_are_locked():
    entries = re.findall(r"entry: \.venv/bin/([\w-]+)", text_of(".pre-commit-config.yaml"))
    locked = {name for name, _ in pins_of("requirements-dev.lock")}
    names = {"lint-imports": "import-linter", "python": "packaging"}
    assert {names.get(entry, entry) for entry in entries} <= locked


def test_required_python_is_the_one_that_setup_checks():
    assert PROJECT["requires-python"] == ">=3.11"
    assert "sys.version_info < (3, 11)" in text_of("scripts/setup.sh")


def test_the_demo_ships_with_the_package():
    build = tomllib.loads(text_of("pyproject.toml"))["tool"]["hatch"]["build"]
    assert build["targets"]["wheel"]["packages"] == ["judge"]
    assert (ROOT / "judge" / "demo" / "pages" / "repairs.html").exists()
