"""Two workers serve while the command line indexes: no errors, and new documents appear quickly."""

import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.entrypoints.running_server import ROOT, World
from tests.fakes.redis_server import RedisServer

LIMIT_S = 2.0
"""The time in which every worker must find a new document after indexing ended."""


def index(world: World, path: Path, data_dir: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "judge", "index", "add", str(path), "--collection", "leases"],
        cwd=ROOT,
        env={**world.environment, "JUDGE_DATA_DIR": data_dir},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def found(client: httpx.Client, word: str) -> int:
    reply = client.get("/api/search", params={"q": word})
    assert reply.status_code == 200, reply.text
    return int(reply.json()["total_found"])


def seconds_until_all_find(word: str, url: str) -> float:
    """Seconds until the first of a streak of replies that find *word*."""
    started, streak, seconds = time.monotonic(), 0, 0.0
    while streak < 12:
        # A new connection each time, so that each worker gets some.
        with httpx.Client(base_url=url, timeout=60) as client:
            streak = streak + 1 if found(client, word) == 1 else 0
        seconds = seconds if streak > 1 else time.monotonic() - started
        assert seconds < 60, f"{word} was not found by every worker"
    return seconds


@pytest.mark.real_redis
@pytest.mark.process
@pytest.mark.slow
def test_new_documents_are_found_by_all_workers_while_they_serve(
    world: World, redis_server: RedisServer
) -> None:
    data_dir = str(world.directory / "data")
    leases = world.directory / "leases"
    leases.mkdir()
    settings = {
        "REDIS_URL": redis_server.url,
        "JUDGE_DATA_DIR": data_dir,
        "JUDGE_RATE_LIMIT": "1000000/minute",
    }
    waits = []
    with world.server(workers=2, **settings) as server:
        for word in ("quince", "medlar", "sloe"):
            (leases / f"{word}.md").write_text(f"# Garden\n\nThe tenant looks after the {word}.\n")
            index(world, leases, data_dir)
            waits.append(seconds_until_all_find(word, server.url))
        assert "http.error" not in server.stderr
    assert min(waits) < LIMIT_S, waits  # a busy machine slows some, not all
