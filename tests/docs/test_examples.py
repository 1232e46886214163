"""Every example runs, against a real server with fakes behind it."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import playwright
import pytest

from tests.entrypoints.api_bench import BAD_REPLY
from tests.entrypoints.running_server import RunningServer, World, open_world

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

# Playwright includes a Node that runs TypeScript; Debian's may be too old.
NODE = Path(playwright.__file__).parent / "driver" / "node"

COMMANDS = {
    "ask.sh": ["sh"],
    "ask.py": [sys.executable],
    "stream.py": [sys.executable],
    "judge.ts": [str(NODE)],
    "check.py": [sys.executable],
    "check.ts": [str(NODE)],
}
SUMMARY = "You are not being unreasonable in asking for a plain answer [1]."


@pytest.fixture(scope="module")
def deployment(tmp_path_factory) -> Iterator[tuple[World, RunningServer]]:
    with (
        open_world(tmp_path_factory.mktemp("server")) as world,
        world.server(JUDGE_API_KEYS="open-sesame") as server,
    ):
        yield world, server


def run(name: str, server: RunningServer, key: str = "open-sesame"):
    inherited = {k: v for k, v in os.environ.items() if k in {"PATH", "HOME", "LANG"}}
    return subprocess.run(
        [*COMMANDS[name], str(EXAMPLES / name)],
        env={**inherited, "JUDGE_URL": server.url, "JUDGE_API_KEY": key},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_every_example_is_run_and_listed():
    names = {
        path.name for path in EXAMPLES.iterdir() if path.suffix in {".sh", ".py", ".ts", ".js"}
    }
    assert names == set(COMMANDS)
    listed = (EXAMPLES / "README.md").read_text()
    assert all(f"| `{name}` |" in listed for name in names)


@pytest.mark.process
def test_curl_prints_the_verdict(deployment):
    assert shutil.which("curl"), "curl is not installed (Debian: apt-get install curl)"
    done = run("ask.sh", deployment[1])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["summary"] == SUMMARY


@pytest.mark.process
def test_python_prints_the_answer_with_its_references(deployment):
    done = run("ask.py", deployment[1])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{SUMMARY}\n\nTherapist: Partially\n")
    assert re.search(r"^\[1\] Page /(?:repairs|rent) http://", done.stdout, re.MULTILINE)


@pytest.mark.process
def test_python_follows_the_stream_and_a_retry(deployment):
    world, server = deployment
    world.gemini.script(BAD_REPLY)
    done = run("stream.py", server)
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert told.pop(1).startswith("References: ")
    assert told == [
        "It is about: tenancy",
        "Asking the model, attempt 1",
        "Written and checked: paraphrase",
        "Asked again; what was written no longer holds",
        "Asking the model, attempt 2",
        "Written and checked: paraphrase",
        *(f"Written and checked: personas.{number}" for number in range(3)),
        "Written and checked: summary",
        SUMMARY,
    ]


@pytest.mark.process
def test_typescript_judges_with_and_without_streaming(deployment):
    done = run("judge.ts", deployment[1])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        SUMMARY,
        "Therapist: Partially",
        "Analyst: Partially",
        "Coach: Partially",
        "… domain",
        "… references",
        "… attempt",
        *["… field"] * 5,
        SUMMARY,
    ]


@pytest.mark.process
@pytest.mark.parametrize("name", ["check.py", "check.ts"])
def test_citation_check_is_the_same_in_both_languages(deployment, name):
    done = run(name, deployment[1])
    assert done.returncode == 0, done.stderr
    assert re.sub(r"support [\d.]+", "support …", done.stdout).splitlines() == [
        "[1] support …: Your landlord must keep the boiler in working order.",
        "[2] support …, CONTRADICTED: The deposit must be returned within ten days.",
        "cites nothing: The council can fine landlords who ignore repairs.",
        "partly",
    ]


def test_the_page_on_citations_shows_code_that_runs(capsys):
    page = (ROOT / "docs" / "citations.md").read_text()
    [library] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(library, {})
    [typed] = re.findall(r"```typescript\n(.*?)```", page, re.DOTALL)
    [printed] = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    assert capsys.readouterr().out == printed
    assert typed in (EXAMPLES / "check.ts").read_text()


@pytest.mark.process
@pytest.mark.parametrize("name", COMMANDS)
def test_refusal_is_printed_and_fails(deployment, name):
    done = run(name, deployment[1], key="wrong")
    assert done.returncode != 0
    assert "A key is needed" in done.stdout + done.stderr
