"""Runs `judge` inside the test process, so that its output, exit code and coverage are seen."""

from dataclasses import dataclass

import pytest

from judge.entrypoints.cli.main import run
from judge.entrypoints.cli.options import CommandContext
from judge.settings import Settings


@dataclass(frozen=True)
class CommandResult:
    """The exit code and output of a command."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class ServeCall:
    """The arguments of one start of the HTTP server."""

    settings: Settings
    host: str
    port: int
    workers: int


class FakeHttpServer:
    """Stands in for the HTTP server: it records its arguments and returns at once."""

    def __init__(self, failure: BaseException | None = None) -> None:
        self.calls: list[ServeCall] = []
        self._failure = failure

    def __call__(self, settings: Settings, *, host: str, port: int, workers: int) -> None:
        self.calls.append(ServeCall(settings, host, port, workers))
        if self._failure:
            raise self._failure


class CommandLine:
    """`judge` as a test types it: `cli("sources", "list")`."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.http_server = FakeHttpServer()
        self.stdio_calls: list[tuple[Settings, bool]] = []

    def _serve_stdio(self, settings: Settings, *, is_structured: bool) -> None:
        self.stdio_calls.append((settings, is_structured))

    def __call__(self, *arguments: str) -> CommandResult:
        code = run(
            arguments, CommandContext(serve_http=self.http_server, serve_stdio=self._serve_stdio)
        )
        captured = self._capsys.readouterr()
        return CommandResult(code, captured.out, captured.err)
