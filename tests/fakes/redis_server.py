"""A real redis-server on loopback, that a test can pause, kill and start again."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence

import pytest

START_TIMEOUT_S = 20.0


class RedisServer:
    """One redis-server process that keeps no data on disk; it always has the same address."""

    def __init__(self, binary: str, *options: str) -> None:
        self._binary = binary
        self._options = options
        self._directory = tempfile.TemporaryDirectory(prefix="judge-redis-")
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it and wait until it answers; its data is empty."""
        self._process = subprocess.Popen(
            [
                *(self._binary, "--port", str(self.port), "--bind", "127.0.0.1"),
                *("--save", "", "--appendonly", "no", "--dir", self._directory.name),
                *self._options,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + START_TIMEOUT_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                message = f"redis-server did not start on port {self.port}"
                raise RuntimeError(message)
            time.sleep(0.01)

    def kill(self) -> None:
        """End it at once, as a crash would; connections are reset."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(timeout=60)
            self._process = None

    def pause(self) -> None:
        """Make it hang: it accepts connections and never replies."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def close(self) -> None:
        self.kill()
        self._directory.cleanup()

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None, "the server is not running"
        self._process.send_signal(number)

    def _answers(self) -> bool:
        with contextlib.suppress(OSError):
            address = ("127.0.0.1", self.port)
            with socket.create_connection(address, timeout=0.5) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        return False


@contextlib.contextmanager
def running_redis(*options: str) -> Iterator[RedisServer]:
    """A fresh server; skips the test without the binary, but fails it in CI."""
    server = _started(redis_binary(), options)
    try:
        yield server
    finally:
        server.close()


def redis_binary() -> str:
    """The redis-server to start."""
    binary = shutil.which("redis-server")
    if binary is None:
        reason = "redis-server is not installed (Debian: apt-get install redis-server)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return binary


def _started(binary: str, options: Sequence[str], attempts: int = 3) -> RedisServer:
    """A running server; if another process took the free port first, another port is tried."""
    while True:
        server = RedisServer(binary, *options)
        try:
            server.start()
        except RuntimeError:
            server.close()
            attempts -= 1
            if not attempts:
                raise
        else:
            return server


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
