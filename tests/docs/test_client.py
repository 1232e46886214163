"""The TypeScript client is up to date, type-checked and ready to be published."""

import json
import re
import runpy
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "client"
PLAYGROUND = ROOT / "judge" / "entrypoints" / "playground"
GENERATOR = runpy.run_path(str(ROOT / "scripts" / "generate_client.py"))
PACKAGE = json.loads((CLIENT / "package.json").read_text())


def test_generated_client_is_up_to_date():
    rendered = GENERATOR["rendered"]()
    found = {path: path.read_text(encoding="utf-8") for path in rendered}
    stale = [path.name for path, text in rendered.items() if found[path] != text]
    assert stale == [], "run `make docs`"
    assert {"api.ts", "client.js", "widget.js", "wording.js"} == {path.name for path in rendered}


def compiled(*options: Path | str) -> subprocess.CompletedProcess[str]:
    """The compiler's output; skips the test where there is no compiler."""
    compiler = CLIENT / "node_modules" / ".bin" / "tsc"
    if not (shutil.which("node") and compiler.exists()):
        pytest.skip("the TypeScript compiler is not there (`cd client && npm ci`)")
    return subprocess.run(
        [compiler, *options], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.process
def test_client_type_checks_and_builds_its_package_files(tmp_path):
    done = compiled("--project", CLIENT, "--outDir", tmp_path / "dist")
    assert done.returncode == 0, done.stdout
    promised = [path for entry in PACKAGE["exports"].values() for path in entry.values()]
    assert [path for path in promised if not (tmp_path / path).exists()] == []


@pytest.mark.process
def test_scripts_of_the_page_type_check_against_the_api():
    done = compiled("--project", CLIENT / "tsconfig.page.json")
    assert done.returncode == 0, done.stdout


MISSPELT = {
    "markdown.js": ("paraphrase, summary,", "paraphrase, abridged: summary,"),
    "progress.js": ("domain_scores", "scores_of_domains"),
    "app.js": ("hear_other_side", "hear_both"),
    "citations.js": ("quote_status", "status"),
}


@pytest.mark.process
def test_unknown_field_in_a_script_is_found(tmp_path):
    scripts = tmp_path / PLAYGROUND.relative_to(ROOT)
    shutil.copytree(PLAYGROUND, scripts)
    shutil.copytree(CLIENT, tmp_path / "client", ignore=shutil.ignore_patterns("node_modules"))
    for script, wrong in MISSPELT.items():
        text = (scripts / script).read_text(encoding="utf-8")
        assert wrong[0] in text
        (scripts / script).write_text(text.replace(*wrong), encoding="utf-8")
    done = compiled("--project", tmp_path / "client" / "tsconfig.page.json")
    assert [script for script in MISSPELT if f"{script}(" not in done.stdout] == []


def test_the_package_has_the_version_of_the_service_and_names_no_registry():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lock = (CLIENT / "package-lock.json").read_text()
    assert PACKAGE["version"] == json.loads(lock)["version"] == project["version"]
    assert not re.search(r"https?://(?!opencollective)", lock)
