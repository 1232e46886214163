"""`judge mcp` on stdin and stdout: the official client starts it, and nothing else is on stdout."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from judge.entrypoints.mcp.tools import TOOLS
from tests.entrypoints.api_bench import DISPUTE
from tests.entrypoints.mcp_bench import write_repository
from tests.entrypoints.running_server import World, open_world

NOISY = """
import asyncio, os, sys
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from judge.entrypoints.mcp.server import serve_streams
from tests.entrypoints.mcp_bench import open_mcp_bench
from tests.fakes.model import ScriptedModel

class NoisyModel(ScriptedModel):
    async def complete(self, prompt, **options):
        print("a line that a library prints")
        os.write(1, b"a line that an extension writes\\n")
        os.system("echo a line of a child")
        return await super().complete(prompt, **options)

async def fail():
    raise ZeroDivisionError

@asynccontextmanager
async def open_services():
    print("a line printed on the way in")
    async with open_mcp_bench(Path(sys.argv[1]), NoisyModel()) as mcp_server:
        yield replace(mcp_server.services, warm=fail)
        print(mcp_server.recorded.fields_of("mcp.error"))
    print("a line printed on the way out")
    os.write(1, b"a line written on the way out\\n")

asyncio.run(serve_streams(open_services))
"""
"""A server whose model writes to stdout in many ways."""

pytestmark = pytest.mark.process

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def index(folder: Path, *arguments: str, environment: dict[str, str] | None) -> None:
    """Index documents; exit code 1 means that some of them could not be read."""
    command = [sys.executable, "-m", "judge", "index", "add", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, check=False, capture_output=True, timeout=90
    )
    assert done.returncode in (0, 1)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with open_world(tmp_path_factory.mktemp("stdio")) as world:
        write_repository(world.directory / "shop")
        (world.directory / "notes.md").write_text("# Lidar\n\nThe lidar measures distance.\n")
        index(world.directory, "notes.md", "-c", "robots", environment=world.environment)
        yield world


def command(world: World, *arguments: str, errors: Path, **environment: str):
    """The official client's way to start `judge mcp`; stderr goes to a file."""
    return StdioServerParameters(
        command="sh",
        args=["-c", f'exec "$0" -m judge mcp "$@" 2>{errors}', sys.executable, *arguments],
        env={**world.environment, "JUDGE_CODE_ROOTS": "shop=shop", **environment},
        cwd=world.directory,
    )


async def test_official_client_starts_and_uses_it(world, tmp_path):
    errors = tmp_path / "stderr"
    server = command(world, errors=errors)
    async with Client(server, read_timeout_seconds=60) as client:
        tools = (await client.list_tools()).tools
        verdict = await client.call_tool("judge_dispute", DISPUTE)
        code = await client.call_tool("where_used", {"symbol": "total"})
        failed = await client.call_tool("fetch", {"id": "x"})
    assert len(tools) == len(TOOLS)
    assert verdict.structured_content["evidence"] == "grounded"
    assert {item["file"] for item in code.structured_content["items"]} == {"shop.py", "till.py"}
    assert failed.is_error
    events = [json.loads(line) for line in errors.read_text().splitlines()]
    assert "judgement.finished" in {event["event"] for event in events}
    assert "boiler" not in errors.read_text()


def start(world: World, *arguments: str) -> subprocess.Popen[str]:
    """A process of `judge`, whose client is the test itself."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=world.directory,
        env=world.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ask(process: subprocess.Popen[str], *messages: dict) -> dict:
    """Send *messages*; the next line of stdout."""
    process.stdin.writelines(f"{json.dumps(message)}\n" for message in messages)
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def test_stdout_has_only_protocol_messages(world, tmp_path):
    call = {"name": "judge_dispute", "arguments": DISPUTE}
    process = start(world, "-c", NOISY, str(tmp_path))
    assert ask(process, INITIALIZE)["result"]["serverInfo"]["name"] == "judge"
    judge = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
    assert ask(process, INITIALIZED, judge)["id"] == 2
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    for source in (
        "a line that a library prints",
        "a line that an extension writes",
        "a line of a child",
        "a line printed on the way in",
        "a line printed on the way out",
        "a line written on the way out",
    ):
        assert source in err
    assert "ZeroDivisionError" in err, "warming that fails is noted and does no harm"


def test_bad_lines_and_half_letters_do_no_harm_and_ctrl_c_ends_it_at_once(world):
    process = start(world, "-m", "judge", "mcp")
    process.stdin.write("what?\n\n{}\n")
    assert ask(process, INITIALIZE)["result"]["serverInfo"]["name"] == "judge"
    search = (
        '{"jsonrpc": "2.0", "id": %s, "method": "tools/call", "params": '
        '{"name": "search_documents", "arguments": {"query": "lidar %s"}}}\n'
    )
    letters = {'"a"': r"\ud83d", '"b"': r"\udc00", "3": r"\\ud83d", "4": r"\ud83d\ude00"}
    process.stdin.write("".join(search % (id_, letter) for id_, letter in letters.items()))
    process.stdin.flush()
    replies = [json.loads(process.stdout.readline()) for _ in letters]
    assert sorted(str(reply["id"]) for reply in replies) == ["3", "4", "a", "b"]
    asked = {r["id"]: json.loads(r["result"]["content"][0]["text"])["query"] for r in replies}
    assert asked == {"a": "lidar �", "b": "lidar �", 3: r"lidar \ud83d", 4: "lidar 😀"}
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (-signal.SIGINT, "")


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_closed_stream_is_reported_on_stderr(world, closed):
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -m judge mcp {closed}', sys.executable],
        cwd=world.directory,
        env=world.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("judge: stdin or stdout is closed")
