"""Holds thousands of connections that say nothing against a server, and asks it meanwhile.

    python scripts/torture.py [--sockets 5000] [--seconds 60] [--workers 1]

What is cut off comes back at once. Ends with 1 unless every request was answered, and prints how
long they took. Longer than the suite's own tests allow; `make torture` runs it.
"""

import argparse
import asyncio
import contextlib
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

import aiohttp

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.entrypoints.api_bench import DISPUTE
from tests.entrypoints.running_server import opened_world
from tests.fakes.redis_server import running_redis


def main() -> int:
    """Run it; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sockets", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with (
        tempfile.TemporaryDirectory() as folder,
        opened_world(Path(folder)) as world,
        running_redis() as redis,
        world.server(
            options.workers, REDIS_URL=redis.url, JUDGE_RATE_LIMIT="1000000/minute"
        ) as server,
    ):
        times, failures = asyncio.run(_torture(server.url, options.sockets, options.seconds))
    asked = sum(len(seconds) for seconds in times.values())
    print(f"{asked} asked, {len(failures)} failed {sorted(set(failures)) or ''}")
    for name, seconds in times.items():
        spread = statistics.quantiles(seconds, n=100)
        print(f"{name}: median {spread[49] * 1000:.0f} ms, p99 {spread[98] * 1000:.0f} ms")
    return int(bool(failures))


async def _torture(
    url: str, sockets: int, seconds: float
) -> tuple[dict[str, list[float]], list[str]]:
    """The seconds that requests took by their path, and why some failed."""
    times: dict[str, list[float]] = {"/health/live": [], "/api/judge": []}
    failures: list[str] = []
    host, _, port = url.removeprefix("http://").partition(":")
    silent = [asyncio.create_task(_stay(host, int(port))) for _ in range(sockets)]
    end = time.monotonic() + seconds
    async with aiohttp.ClientSession(url, timeout=aiohttp.ClientTimeout(10)) as session:
        while time.monotonic() < end:
            for path, body in (("/health/live", None), ("/api/judge", DISPUTE)):
                began = time.monotonic()
                method = "POST" if body else "GET"
                try:
                    async with session.request(method, path, json=body) as reply:
                        await reply.read()
                        if reply.status != 200:
                            failures.append(f"{path} {reply.status}")
                except (TimeoutError, aiohttp.ClientError) as error:
                    failures.append(f"{path} {type(error).__name__}")
                times[path].append(time.monotonic() - began)
    for task in silent:
        task.cancel()
    await asyncio.wait(silent)
    return times, failures


async def _stay(host: str, port: int) -> None:
    """Connect, say nothing, and come back when it ends."""
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                await reader.read()
            finally:
                writer.close()
        await asyncio.sleep(0.05)


if __name__ == "__main__":
    sys.exit(main())
