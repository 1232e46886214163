"""Starts the real server in processes, with a fake model and a fake web site on loopback."""

import contextlib
import functools
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.fakes.gemini import FakeGemini
from tests.fakes.site import FakeSite

ROOT = Path(__file__).parents[2]
SERVE = (
    "import sys; from judge.settings import load_settings; "
    "from judge.entrypoints.api.server import serve; "
    "serve(load_settings(), host=sys.argv[2], port=0, workers=int(sys.argv[1]))"
)
MCP = ("-m", "judge", "mcp", "--transport", "http", "--port", "0")
"""`judge mcp --transport http`."""

PAGE = (
    "<html><body><main><h1>Repairs</h1><p>Your landlord has to keep the boiler in working order "
    "and must start repairs within a reasonable time after you have told them that it has "
    "stopped working.</p><p>You should go on paying the rent while you wait for the repair to be "
    "done, because you could be evicted if you stop.</p></main></body></html>"
)


def wait_until(condition: Callable[[], object], timeout_s: float = 60.0) -> None:
    """Return once *condition* is true; another process cannot set an event."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "the condition was not true in time"
        time.sleep(0.02)


@dataclass
class RunningServer:
    """A server in its own process, and its stderr."""

    process: subprocess.Popen[str]
    errors: list[str] = field(default_factory=list)

    def read_errors(self) -> None:
        assert self.process.stderr
        self.errors.extend(self.process.stderr)

    @property
    def stderr(self) -> str:
        return "".join(list(self.errors))

    @functools.cached_property
    def client(self) -> httpx.Client:
        """Opens a connection per request, so that every worker gets some."""
        limits = httpx.Limits(max_keepalive_connections=0)
        return httpx.Client(base_url=self.url, timeout=60, limits=limits)

    @property
    def url(self) -> str:
        found = re.search(r'Judge is listening on http://[0-9.]+(:\d+)"', self.stderr)
        return f"http://127.0.0.1{found[1]}" if found else ""

    def lines_of(self, route: str) -> list[dict[str, Any]]:
        """The log lines of requests to *route*."""
        lines = [json.loads(line) for line in self.stderr.splitlines() if line.startswith("{")]
        return [line for line in lines if line.get("route") == route]

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


@dataclass
class World:
    """The fakes that a server uses, and the environment that points to them."""

    gemini: FakeGemini
    site: FakeSite
    directory: Path

    @property
    def environment(self) -> dict[str, str]:
        inherited = {k: v for k, v in os.environ.items() if k in {"PATH", "HOME", "LANG"}}
        return {
            **inherited,
            "PYTHONPATH": str(ROOT),
            "GEMINI_API_KEY": "k-for-tests",
            "JUDGE_GEMINI_BASE_URL": self.gemini.base_url,
            "JUDGE_SOURCES": str(self.directory / "sources.toml"),
            "JUDGE_TRUSTED_HOSTS": self.site.host,
        }

    def write_sources(self) -> None:
        pages = "".join(
            f'[[domains.tenancy.sources]]\nurl = "{self.site.url(path)}"\ntitle = "Page {path}"\n'
            for path in ("/repairs", "/rent")
        )
        terms = "[domains.tenancy.terms]\nlandlord = 3\nboiler = 2\n"
        (self.directory / "sources.toml").write_text(f"{terms}{pages}")
        for path in ("/repairs", "/rent"):
            self.site.page(path, PAGE)

    def write_cold_domains(self, count: int, *, delay_s: float = 0.0) -> list[dict[str, str]]:
        """Write domains of two pages each, none cached; returns a dispute for each domain."""
        tables = ""
        for number in range(count):
            tables += f"[domains.d{number}]\n[domains.d{number}.terms]\nword{number}x = 3\n"
            for path in (f"/a{number}", f"/b{number}"):
                tables += f"[[domains.d{number}.sources]]\nurl = '{self.site.url(path)}'\n"
                tables += f"title = 'Page {path}'\n"
                self.site.page(path, PAGE, delay_s=delay_s)
        (self.directory / "sources.toml").write_text(tables)
        told = "My neighbour word{}x has not mended the fence for three weeks."
        query = "Am I being unreasonable to complain?"
        return [{"context": told.format(number), "query": query} for number in range(count)]

    @contextlib.contextmanager
    def server(
        self, workers: int = 1, host: str = "127.0.0.1", *, prelude: str = "", **environment: str
    ) -> Iterator[RunningServer]:
        """A server that is ready."""
        with self.starting(workers, host, prelude=prelude, **environment) as server:
            wait_until(lambda: server.url or server.process.poll() is not None, timeout_s=60)
            assert server.url, server.stderr
            yield server

    @contextlib.contextmanager
    def starting(
        self, workers: int = 1, host: str = "127.0.0.1", *, prelude: str = "", **environment: str
    ) -> Iterator[RunningServer]:
        """A server that was just started; *prelude* is code that it runs first."""
        process = subprocess.Popen(
            [sys.executable, "-c", prelude + SERVE, str(workers), host],
            cwd=self.directory,
            env={**self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        server = RunningServer(process)
        reader = threading.Thread(target=server.read_errors, daemon=True)
        reader.start()
        try:
            yield server
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(20)
            reader.join(5)
            assert process.stdout
            assert process.stdout.read() == ""
            process.stdout.close()
            assert process.stderr
            process.stderr.close()

    @contextlib.contextmanager
    def program(self, *arguments: str, **environment: str) -> Iterator[RunningServer]:
        """The server that `python *arguments*` starts; it must exit with status 0."""
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=self.directory,
            env={**self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        server = RunningServer(process)
        reader = threading.Thread(target=server.read_errors, daemon=True)
        reader.start()
        try:
            wait_until(lambda: server.url or process.poll() is not None, timeout_s=60)
            assert server.url, server.stderr
            yield server
        finally:
            process.terminate()
            code = process.wait(20)
            reader.join(5)
            assert process.stdout
            process.stdout.close()
            assert process.stderr
            process.stderr.close()
        assert (code, "panicked" in server.stderr) == (0, False)


@contextlib.contextmanager
def open_world(directory: Path) -> Iterator[World]:
    with FakeGemini.in_thread() as gemini, FakeSite() as site:
        world = World(gemini, site, directory)
        world.write_sources()
        yield world
