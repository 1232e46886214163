"""The official MCP conformance suite, over HTTP, against Judge's server.

npm installs the suite and its Node into `.tools/conformance`, once.
"""

import re
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from tests.entrypoints.running_server import MCP, ROOT, RunningServer, open_world

PACKAGES = ("@modelcontextprotocol/conformance@0.1.16", "node@22.23.3")
FOLDER = ROOT / ".tools" / "conformance"
INSTALL_S = 90

OFFERED_BY_JUDGE = {
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
}
"""Scenarios that need none of the suite's own tools."""

pytestmark = [pytest.mark.process, pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def suite() -> tuple[str, str]:
    """The command that runs the suite."""
    node = FOLDER / "node_modules" / ".bin" / "node"
    if not node.exists():
        install()
    program = (
        FOLDER / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    )
    return str(node), str(program)


def install() -> None:
    """Install the suite into its folder, or skip the test."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not here, which brings the suite")
    FOLDER.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER.parent, ignore_cleanup_errors=True) as scratch:
        command = [npm, "install", "--prefix", scratch, "--no-audit", "--no-fund", *PACKAGES]
        try:
            done = subprocess.run(
                command, cwd=scratch, capture_output=True, text=True, timeout=INSTALL_S, check=False
            )
        except subprocess.TimeoutExpired:
            pytest.skip("npm did not bring the suite in time")
        if done.returncode or not (Path(scratch) / "node_modules" / ".bin" / "node").exists():
            pytest.skip(f"npm cannot bring the suite: {done.stderr[-200:]}")
        with suppress(OSError):  # Another process was first.
            Path(scratch).rename(FOLDER)


def results_of(suite: tuple[str, str], server: RunningServer, folder: Path) -> dict[str, bool]:
    """Whether each scenario passed; `server-sse-polling` only warns, since it says that it is of an
    age whose streams the protocol library does not interrupt."""
    done = subprocess.run(
        [*suite, "server", "--url", f"{server.url}/mcp", "--suite", "all"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    summary = done.stdout.rpartition("=== SUMMARY ===")[2]
    found = re.findall(r"^([✓✗]) ([\w-]+): \d+ passed, \d+ failed$", summary, re.MULTILINE)
    return {name: mark == "✓" for mark, name in found}


def test_judge_passes_scenarios_without_the_suites_tools(suite, tmp_path):
    with (
        open_world(tmp_path) as world,
        world.program(*MCP, JUDGE_RATE_LIMIT="10000/minute") as server,
    ):
        results = results_of(suite, server, tmp_path)
    assert {name for name, passed in results.items() if passed} >= OFFERED_BY_JUDGE
