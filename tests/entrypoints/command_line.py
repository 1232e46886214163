"""Runs `judge` inside the test process, so that its output, exit code and coverage are seen."""

from dataclasses import dataclass

import pytest

from judge.entrypoints.cli.context import CommandContext
from judge.entrypoints.cli.main import run
from judge.settings import Settings


@dataclass(frozen=True)
class Told:
    """What a command left behind."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Served:
    """One call of the HTTP entrypoint."""

    settings: Settings
    host: str
    port: int
    workers: int


class FakeHttpServer:
    """Stands in for the HTTP server: it notes how it was opened, and closes at once."""

    def __init__(self, failure: BaseException | None = None) -> None:
        self.served: list[Served] = []
        self._failure = failure

    def __call__(self, settings: Settings, *, host: str, port: int, workers: int) -> None:
        self.served.append(Served(settings, host, port, workers))
        if self._failure:
            raise self._failure


class CommandLine:
    """`judge` as a test types it: `cli("sources", "list")`."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.http_server = FakeHttpServer()
        self.spoken: list[tuple[Settings, bool]] = []

    def _speak(self, settings: Settings, *, is_structured: bool) -> None:
        self.spoken.append((settings, is_structured))

    def __call__(self, *arguments: str) -> Told:
        code = run(arguments, CommandContext(serve_http=self.http_server, serve_stdio=self._speak))
        captured = self._capsys.readouterr()
        return Told(code, captured.out, captured.err)
