"""The real server: its processes, with a fake model and a fake web site on loopback."""

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from judge.adapters.journal import Journals
from judge.adapters.metrics import Metrics
from judge.entrypoints.api.app import create_app
from judge.entrypoints.api.server import serve
from judge.errors import ConfigurationError
from judge.settings import Settings
from tests.entrypoints.api_bench import DISPUTE, GOOD_REPLY
from tests.entrypoints.running_server import RunningServer, World, open_world, wait_until
from tests.fakes.gemini import slow
from tests.fakes.journal import RecordingJournal
from tests.fakes.redis_server import free_port, running_redis
from tests.fakes.waiting import until

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[tuple[World, RunningServer]]:
    """One server for the tests that leave it running; starting takes a second or more."""
    with open_world(tmp_path_factory.mktemp("shared")) as world, world.server() as server:
        yield world, server


def test_two_disputes_cost_two_page_fetches_and_two_model_calls(shared):
    world, server = shared
    world.gemini.seen.clear()
    for _ in range(2):
        reply = server.client.post("/api/judge", json=DISPUTE)
        assert reply.status_code == 200
        assert reply.json()["evidence"] == "grounded"
        assert len(reply.json()["references"]) == 2
    assert (world.site.hits["/repairs"], world.site.hits["/rent"]) == (1, 1)
    assert len(world.gemini.seen) == 2
    assert "cache inside this process" in server.stderr
    assert "boiler" not in server.stderr


def test_a_large_body_gets_its_answer(shared):
    _, server = shared
    reply = server.client.post(
        "/api/judge",
        content=b" " * 3_000_000,
        headers={"content-type": "application/json"},
    )
    assert reply.status_code == 413
    assert reply.json()["type"].endswith("too-large")


async def test_disconnecting_ends_the_model_call(shared):
    world, server = shared
    world.gemini.seen.clear()
    world.gemini.script(slow(GOOD_REPLY, 15.0))
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        asking = asyncio.create_task(client.post("/api/judge", json=DISPUTE))
        await until(lambda: bool(world.gemini.seen))
        asking.cancel()
        await asyncio.wait([asking])
    await until(world.gemini.abandoned.is_set)
    await until(lambda: '"status":499' in server.stderr)


async def test_sigterm_lets_a_request_and_a_stream_finish(world):
    world.gemini.delay_s = 1.0
    with world.server() as server:
        async with (
            httpx.AsyncClient(base_url=server.url, timeout=60) as client,
            client.stream("POST", "/api/judge/stream", json=DISPUTE) as stream,
        ):
            pieces = stream.aiter_text()
            assert "event: domain" in await anext(pieces)  # before the model answers
            asking = asyncio.create_task(client.post("/api/judge", json=DISPUTE))
            await until(lambda: len(world.gemini.seen) == 2)
            server.process.send_signal(signal.SIGTERM)
            assert "event: verdict" in "".join([piece async for piece in pieces])
            assert (await asking).status_code == 200
        assert await asyncio.to_thread(server.process.wait, 20) == 0
    assert "panicked" not in server.stderr


def test_endless_sources_file_does_not_block(world):
    path = world.directory / "sources.toml"
    good = path.read_text()
    with world.server(JUDGE_MODEL="extractive") as server:

        def is_degraded() -> bool:
            return bool(server.client.get("/health/ready").json()["degraded"])

        for make_endless in (lambda: os.mkfifo(path), lambda: path.symlink_to("/dev/zero")):
            path.unlink()
            make_endless()
            wait_until(is_degraded)
            assert server.client.post("/api/judge", json=DISPUTE).status_code == 200
            path.unlink()
            path.write_text(good)
            wait_until(lambda: not is_degraded())
        assert server.stop() == 0


def children_of(server: RunningServer) -> set[int]:
    """The process ids of the workers; uvicorn's resource tracker has no app."""
    parent = server.process.pid
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return {
        int(child)
        for child in children
        if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text()
    }


@pytest.fixture(scope="module")
def pair(tmp_path_factory) -> Iterator[tuple[World, RunningServer]]:
    """A server with two workers, for two tests; the second ends it."""
    environment = {"JUDGE_MODEL": "extractive"}
    with (
        open_world(tmp_path_factory.mktemp("pair")) as world,
        running_redis() as redis,
        world.server(workers=2, REDIS_URL=redis.url, **environment) as server,
    ):
        yield world, server


@pytest.mark.real_redis
def test_workers_share_pages_and_counts(pair):
    world, server = pair
    count = 12
    for _ in range(count):
        assert server.client.post("/api/judge", json=DISPUTE).status_code == 200
    assert (world.site.hits["/repairs"], world.site.hits["/rent"]) == (1, 1)
    counted = re.search(
        r'^judge_http_requests_total\{method="POST",route="/api/judge",status="200"\} (\S+)$',
        server.client.get("/metrics").text,
        re.MULTILINE,
    )
    assert counted
    assert float(counted[1]) == count
    assert "cache inside" not in server.stderr


@pytest.mark.real_redis
@pytest.mark.skipif(sys.platform != "linux", reason="children are found in /proc")
def test_a_worker_that_ends_is_replaced_even_if_the_sources_file_is_broken(pair):
    world, server = pair
    before = children_of(server)
    (world.directory / "sources.toml").write_text("[domains.tenancy\n")
    os.kill(min(before), signal.SIGKILL)
    wait_until(lambda: len(children_of(server) - before) == 1)
    wait_until(lambda: "sources.last_good_used" in server.stderr)
    reply = server.client.post("/api/judge", json=DISPUTE)
    assert len(reply.json()["references"]) == 2
    last = children_of(server)
    server.process.kill()
    wait_until(lambda: not any(Path(f"/proc/{child}").exists() for child in last))


@pytest.mark.real_redis
def test_workers_that_cannot_start_stop_the_server(world):
    (world.directory / "sources.toml").write_text("[domains.tenancy\n")
    environment = {"JUDGE_MODEL": "extractive"}
    with (
        running_redis() as redis,
        world.starting(workers=2, REDIS_URL=redis.url, **environment) as server,
    ):
        assert server.process.wait(60) == 1
    assert "server.start_failed" in server.stderr
    assert "ConfigurationError: A worker could not start" in server.stderr


def test_sigterm_while_starting_ends_the_server(world):
    with world.starting(JUDGE_MODEL="extractive") as server:
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(20) in {0, -signal.SIGTERM}


def test_several_workers_without_redis_are_refused(world):
    settings = Settings(_env_file=None, JUDGE_MODEL="extractive")
    with pytest.raises(ConfigurationError, match="REDIS_URL"):
        serve(settings, host="127.0.0.1", port=0, workers=2)


@pytest.mark.parametrize("stderr", ["<&- >&- 2>&-", "2>/dev/full"])
def test_server_works_if_its_log_cannot_be_written(world, stderr):
    port = free_port()
    judge = f"exec {sys.executable} -m judge serve --port {port} {stderr}"
    environment = {**world.environment, "JUDGE_MODEL": "extractive"}
    process = subprocess.Popen(["sh", "-c", judge], cwd=world.directory, env=environment)
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)

    def status() -> int:
        with contextlib.suppress(httpx.HTTPError):
            return client.post("/api/judge", json=DISPUTE).status_code
        return 0

    try:
        wait_until(lambda: status() or process.poll() is not None, timeout_s=60)
        assert status() == 200
    finally:
        client.close()
        process.terminate()
    assert process.wait(20) >= 0, "it had to be killed"


def test_port_in_use_is_named(world):
    settings = Settings(
        _env_file=None,
        JUDGE_MODEL="extractive",
        JUDGE_SOURCES=str(world.directory / "sources.toml"),
    )
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"port {port}.*in use"):
            serve(settings, host="127.0.0.1", port=port, workers=1)


@pytest.mark.real_redis
async def test_lost_redis_is_reported_without_any_requests(world):
    with running_redis() as redis:
        settings = Settings(
            _env_file=None,
            JUDGE_MODEL="extractive",
            JUDGE_SOURCES=str(world.directory / "sources.toml"),
            REDIS_URL=redis.url,
        )
        recorded, counts = RecordingJournal(), Metrics()
        app = create_app(settings, journal=Journals(recorded, counts), counts=counts)
        transport = httpx.ASGITransport(app=app)
        async with (
            app.lifespan(),
            httpx.AsyncClient(transport=transport, base_url="http://judge.example") as client,
        ):
            before = await client.get("/health/ready")
            # Reading ahead fails for both pages; after that nothing is written for a while.
            await until(lambda: recorded.events.count("snippet.fetch_failed") == 2)
            redis.kill()
            after = await client.get("/health/ready")
            shown = await client.get("/metrics")
    assert (before.status_code, before.json()["degraded"]) == (200, [])
    assert (after.status_code, after.json()["degraded"]) == (200, ["redis"])
    assert "judge_cache_degraded 1.0" in shown.text


def test_every_line_of_the_log_is_json_the_listening_address_too(world, shared):
    assert address_of(shared[1]) == shared[1].url
    with world.server(host="0.0.0.0", JUDGE_MODEL="extractive") as server:
        assert address_of(server) == server.url.replace("127.0.0.1", "0.0.0.0")
        assert server.client.get("/health/live").status_code == 200
        assert server.stop() == 0
    assert "Traceback" not in server.stderr
    assert "answer 403 until JUDGE_API_KEYS" in server.stderr
    assert "answer 403 until JUDGE_API_KEYS" not in shared[1].stderr


def address_of(server: RunningServer) -> str:
    """The address that the log names, whose every line is JSON."""
    lines = [json.loads(line) for line in server.stderr.splitlines()]
    [listening] = [line for line in lines if line["event"] == "server.listening"]
    return listening["address"]


@pytest.mark.parametrize("path", ["/health/live", "/"])
def test_head_request_has_the_length_and_no_body(shared, path):
    _, server = shared
    with httpx.Client(base_url=server.url) as client:
        whole, head = client.get(path), client.head(path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == whole.headers["content-length"]
        assert client.get(path).status_code == 200


BROKEN = "[domain.x]\n"


def events_of(server) -> list[str]:
    return [json.loads(line)["event"] for line in server.stderr.splitlines()]


def test_a_bad_edit_is_reported_without_a_request_and_a_restart_serves_the_last_good_sources(world):
    with world.server(JUDGE_MODEL="extractive") as server:
        (world.directory / "sources.toml").write_text(BROKEN)
        wait_until(lambda: "sources.rejected" in events_of(server), 5)
        assert server.stop() == 0
    with world.server(JUDGE_MODEL="extractive") as server:
        assert server.client.get("/health/ready").status_code == 200
        assert {"sources.rejected", "sources.last_good_used"} <= {*events_of(server)}


def test_broken_sources_end_a_strict_server(world):
    (world.directory / "sources.toml").write_text(BROKEN)
    done = subprocess.run(  # noqa: PLW1510 - the code is looked at
        [sys.executable, "-m", "judge", "serve", "--strict", "--port", "0"],
        cwd=world.directory,
        env=world.environment | {"JUDGE_MODEL": "extractive"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, "unknown key" in done.stderr) == (2, True)
