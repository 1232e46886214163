"""The command line as a whole: imports, errors, exit codes, stdout and stderr."""

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from judge.entrypoints.cli.main import run
from judge.entrypoints.cli.options import CommandContext
from judge.errors import BadScope, ConfigurationError, ContentBlocked, InvalidReply
from judge.types.replies import Defect
from judge.types.results import HelpLine
from tests.entrypoints.command_line import CommandLine, FakeHttpServer

ROOT = Path(__file__).parent.parent.parent
HEAVY = ("aiohttp", "google", "httpx", "litestar", "pydantic", "redis", "rich", "uvicorn")


@pytest.fixture(autouse=True)
def extractive(cli, monkeypatch):
    monkeypatch.setenv("JUDGE_MODEL", "extractive")


def python(code: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: PLW1510 - the code is looked at
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, **options
    )


def failing(cli: CommandLine, error: BaseException) -> tuple[int, str]:
    """The exit code and stderr of a command that ends with *error*."""
    cli.http_server = FakeHttpServer(error)
    told = cli("serve")
    assert told.out == ""
    return told.code, told.err


@pytest.mark.process
@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["ask", "--help"], ["golden", "run", "--help"]]
)
def test_help_loads_nothing_slow(arguments):
    done = python(
        "import sys, judge.__main__ as judge_main\n"
        f"sys.argv = ['judge', *{arguments!r}]\n"
        "code = judge_main.main()\n"
        f"print(code, sorted({set(HEAVY)!r} & set(sys.modules)), file=sys.stderr)"
    )
    assert done.stderr == "0 []\n"
    assert "judge" in done.stdout


def test_commands_are_listed_in_the_order_in_which_people_meet_them(cli):
    listed = cli("--help").out.partition("Commands:")[2].split("\n\n")[0]
    names = [line.split()[0] for line in listed.strip().splitlines()]
    assert names == [
        "demo", "serve", "ask", "check", "sources", "index", "search", "code", "golden", "mcp",
        "doctor", "completion",
    ]  # fmt: skip


@pytest.mark.process
def test_completion_prints_a_script_for_the_shell(cli):
    for shell in ("bash", "zsh", "fish"):
        told = cli("completion", shell)
        assert (told.code, f"_JUDGE_COMPLETE={shell}_complete" in told.out) == (0, True)


@pytest.mark.process
def test_completion_script_gets_our_commands():
    environment = os.environ | {
        "_JUDGE_COMPLETE": "bash_complete",
        "COMP_WORDS": "judge so",
        "COMP_CWORD": "1",
    }
    done = python("import judge.__main__ as judge_main; judge_main.main()", env=environment)
    assert done.stdout == "plain,sources\n"


def test_serve_starts_the_http_server_with_its_arguments(cli):
    told = cli("serve", "--host", "::1", "--port", "8123", "--workers", "3")
    [served] = cli.http_server.calls
    assert told.code == 0
    assert (served.host, served.port, served.workers) == ("::1", 8123, 3)
    assert served.settings.model == "extractive"


def test_errors_are_messages_on_stderr_with_what_helps_and_exit_2(cli):
    defect = Defect("citation-range", "summary", "[7]", "1 to 2", is_hard=True)
    line = HelpLine("Samaritans", "https://samaritans.example/", "116 123")
    for error, told in (
        (ConfigurationError("REDIS_URL is odd. Correct it."), "REDIS_URL is odd. Correct it.\n"),
        (ContentBlocked("SAFETY", [line]), "  Samaritans, 116 123, https://samaritans.example/\n"),
        (InvalidReply([defect], []), f"  {defect}\n"),
        (BadScope("No such collection.", ["a", "b"]), "No such collection.\nValid are: a, b.\n"),
        (BadScope("No such collection."), "No such collection.\n"),
    ):
        code, err = failing(cli, error)
        assert (code, err.startswith("judge: "), err.endswith(told)) == (2, True, True)


def test_unexpected_error_is_printed_with_its_place_without_its_message(cli):
    code, err = failing(cli, KeyError("words of a dispute"))
    assert (code, "words of a dispute" in err, "Traceback" in err) == (2, False, False)
    assert "cli.error error=KeyError place=command_line.py:" in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.process
def test_a_full_disk_is_told_as_that():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(  # noqa: PLW1510 - the code is looked at
            [sys.executable, "-m", "judge", "--version"],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "judge: [Errno 28] No space left on device.\n")


def test_ctrl_c_ends_with_130_and_no_traceback(cli):
    assert failing(cli, KeyboardInterrupt()) == (130, "\njudge: Stopped.\n")


@pytest.mark.process
def test_broken_pipe_is_silent():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(  # noqa: PLW1510 - the code is looked at
        [sys.executable, "-m", "judge", "--help"],
        stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_unencodable_characters_are_replaced(monkeypatch):
    old_terminal = io.TextIOWrapper(io.BytesIO(), encoding="iso-8859-1", write_through=True)
    monkeypatch.setattr(sys, "stdout", old_terminal)

    def serve_http(settings, *, host, port, workers):
        click.echo("“quoted”")

    assert run(["serve"], CommandContext(serve_http, print)) == 0
    assert old_terminal.buffer.getvalue() == b"?quoted?\n"


FROM_STDIN = pytest.mark.parametrize(
    "arguments",
    [
        ["ask", "--context", "-", "--query", "Am I unreasonable?"],
        ["check", "-", "lease.md"],
        ["sources", "explain", "-"],
        ["golden", "new", "boiler"],
        ["search", "--check-answer", "-"],
    ],
)


class StdinAtWhichCtrlCIsPressed(io.StringIO):
    """A stdin during whose reading Ctrl-C arrives."""

    is_waited_on = False

    def read(self, size: int | None = -1, /) -> str:
        signal.raise_signal(signal.SIGINT)
        self.is_waited_on = True
        return super().read(size)


@FROM_STDIN
def test_ctrl_c_ends_reading_stdin(cli, monkeypatch, arguments):
    stdin = StdinAtWhichCtrlCIsPressed("What happened.")
    monkeypatch.setattr(sys, "stdin", stdin)
    told = cli(*arguments)
    assert (told.code, told.out, told.err) == (130, "", "\njudge: Stopped.\n")
    assert not stdin.is_waited_on


@pytest.mark.process
def test_ctrl_c_while_modules_are_loaded_shows_no_traceback():
    done = python("""
import os, signal, sys
class CtrlC:
    def find_spec(self, name, path=None, target=None):
        if name == "judge.entrypoints.cli.main":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, CtrlC())
import judge.__main__ as judge_main
sys.exit(judge_main.main())
""")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.process
@pytest.mark.parametrize("number", ["SIGTERM", "SIGHUP"])
def test_signal_after_the_event_loop_has_closed_ends_like_ctrl_c(tmp_path, number):
    done = python(
        f"""
import asyncio, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # these tests may run under nohup
run = asyncio.run
def run_and_be_terminated(work):
    run(work)
    signal.raise_signal(signal.{number})
asyncio.run = run_and_be_terminated
import judge.__main__ as judge_main
sys.argv = ["judge", "index", "stats"]
sys.exit(judge_main.main())
""",
        cwd=tmp_path,
    )
    told = "Nothing is indexed yet. `judge index add PATH` does that.\n\njudge: Stopped.\n"
    assert (done.returncode, done.stderr) == (130, told)


@pytest.mark.process
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_signal_that_ends_a_command_does_not_wait_for_a_dns_thread(tmp_path, number):
    source = '{ url = "https://slow.example/", title = "Slow" }'
    (tmp_path / "sources.toml").write_text(
        f"[domains.tenancy]\nterms = {{ boiler = 3 }}\nsources = [{source}]\n"
    )
    done = python(
        f"""
import os, signal, socket, sys, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)
def silent(*_, **__):
    os.kill(os.getpid(), signal.{number})
    time.sleep(600)
socket.getaddrinfo = silent
import judge.__main__ as judge_main
sys.argv = ["judge", "sources", "check"]
sys.exit(judge_main.main())
""",
        cwd=tmp_path,
        env={**os.environ, "JUDGE_SOURCES": "sources.toml"},
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\njudge: Stopped.\n")


@FROM_STDIN
def test_invalid_text_on_stdin_is_refused(cli, monkeypatch, arguments):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe"), encoding="utf-8"))
    told = cli(*arguments)
    assert (told.code, told.out) == (2, "")
    assert "Standard input is no text: 'utf-8' codec can't decode" in told.err
    assert "Give text in UTF-8.\n" in told.err


def test_a_mistyped_number_of_workers_is_refused(cli):
    for count in ("0", "129", "100000"):
        told = cli("serve", "--workers", count)
        assert (told.code, "1<=x<=128" in told.err, cli.http_server.calls) == (2, True, [])
