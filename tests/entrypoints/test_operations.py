"""The steps of docs/operations.md that need no root and no Docker, done on a real server."""

import re
import shutil
import socket
import subprocess
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.entrypoints.running_server import ROOT, open_world, wait_until

pytestmark = [pytest.mark.process, pytest.mark.slow]

OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
DISPUTE = {
    "context": "My landlord has not repaired the boiler for three weeks.",
    "query": "Am I being unreasonable to complain?",
}
NGINX = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{ listen {port}; {location} }}
}}
"""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return port


@contextmanager
def nginx(folder: Path, upstream: str):
    """The address of an nginx with the location that the page shows, in front of *upstream*."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        pytest.skip("nginx is not installed")
    [location] = re.findall(r"```nginx\n(.*?)```", OPERATIONS, re.DOTALL)
    port = free_port()
    location = location.replace("http://10.0.0.5:8000", upstream)
    written = folder / "nginx.conf"
    written.write_text(NGINX.format(folder=folder, port=port, location=location))
    with subprocess.Popen([program, "-c", str(written)], stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: (folder / "nginx.pid").exists() or process.poll() is not None)
            assert process.poll() is None, (folder / "error.log").read_text()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def ask(address: str, visitor: str = "127.0.0.1", path: str = "/api/judge") -> httpx.Response:
    transport = httpx.HTTPTransport(local_address=visitor)
    with httpx.Client(transport=transport, timeout=30) as client:
        return client.post(address + path, json=DISPUTE)


MODEL = {"JUDGE_MODEL": "extractive"}


class TestBehindNginx:
    def test_each_visitor_has_a_limit_of_its_own_and_events_before_the_end(self, tmp_path):
        limits = {"JUDGE_TRUSTED_PROXIES": "127.0.0.1", "JUDGE_RATE_LIMIT": "1/minute"}
        with (
            open_world(tmp_path) as world,
            world.server(**MODEL, **limits) as server,
            nginx(tmp_path, server.url) as address,
        ):
            statuses = [ask(address, visitor).status_code for visitor in ("127.0.0.2",) * 2]
            other = ask(address, "127.0.0.3").status_code
            with (
                httpx.Client(timeout=30) as client,
                client.stream("POST", address + "/api/judge/stream", json=DISPUTE) as reply,
            ):
                events = [line for line in reply.iter_lines() if line.startswith("event:")]

        assert (statuses, other) == ([200, 429], 200)
        assert events[-1] == "event: verdict"
        assert len(events) > 2

    def test_without_trust_all_visitors_share_one(self, tmp_path):
        with (
            open_world(tmp_path) as world,
            world.server(**MODEL, JUDGE_RATE_LIMIT="1/minute") as server,
            nginx(tmp_path, server.url) as address,
        ):
            statuses = [ask(address, f"127.0.0.{last}").status_code for last in (2, 3)]

        assert statuses == [200, 429]


def judge(world, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [shutil.which("judge") or ROOT / ".venv" / "bin" / "judge", *arguments],
        env=world.environment | {"JUDGE_DATA_DIR": str(world.directory / "data")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_index_is_backed_up_and_restored(tmp_path):
    (tmp_path / "lease.md").write_text("# Lease\n\nThe landlord repairs the boiler.\n")
    with open_world(tmp_path) as world:
        assert judge(world, "index", "add", str(tmp_path / "lease.md")).returncode == 0
        data, kept = tmp_path / "data", tmp_path / "kept.tar.gz"
        # As the page says: waits for a command that is writing.
        command = ["flock", data / "index.lock", "tar", "czf", kept, "-C", tmp_path, "data"]
        subprocess.run(command, check=True)
        shutil.rmtree(data)
        assert "lease.md" not in judge(world, "search", "boiler").stdout
        subprocess.run(["tar", "xzf", kept, "-C", tmp_path], check=True)

        assert "lease.md" in judge(world, "search", "boiler").stdout


def test_domain_is_switched_off_without_a_restart(tmp_path):
    with open_world(tmp_path) as world, world.server(**MODEL) as server:
        before = ask(server.url).json()["domain"]
        (tmp_path / "sources.toml").write_text("[domains.work.terms]\nboss = 3\n")
        wait_until(lambda: "sources.reloaded" in server.stderr)
        after = ask(server.url).json()["domain"]

    assert (before, after) == ("tenancy", "default")


def test_systemd_unit_is_valid(tmp_path):
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd is not installed")
    text = (ROOT / "deploy" / "systemd" / "judge.service").read_text()
    unit = tmp_path / "judge.service"
    # Only what the page installs is missing here.
    unit.write_text(re.sub(r"(?m)^(ExecStart=)\S+", rf"\1{shutil.which('true')}", text))
    done = subprocess.run([program, "verify", unit], capture_output=True, text=True, check=False)
    assert "Unknown" not in done.stderr
    assert "judge.service:" not in done.stderr
