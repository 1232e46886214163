"""Stress-test a server in ways for which the test suite has no time.

    python scripts/torture.py [--sockets 1000] [--seconds 60] [--workers 1] [--domains 500]

First silent connections, which reconnect at once when closed, while every request must be answered:
as many as the process may open is for the proxy to prevent. Then a dispute for each of hundreds of
domains at once, with no page cached, from a fast and a slow site: no answer may come a second after
the deadline. Prints the times taken; exits with 1 on failure. `make torture` runs it.
"""

import argparse
import asyncio
import contextlib
import resource
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import aiohttp

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.entrypoints.api_bench import DISPUTE
from tests.entrypoints.running_server import RunningServer, open_world
from tests.fakes.redis_server import running_redis

ALLOWED_S = 1.0
"""Allowed after the deadline, since all requests reach it at once."""


def main() -> int:
    """Run it; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sockets", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--domains", type=int, default=500)
    parser.add_argument("--deadline", type=float, default=30)
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    failed = _silent_sockets(options.workers, options.sockets, options.seconds)
    for delay_s in (0.0, 3.0):
        failed |= _cold_domains(options.workers, options.domains, options.deadline, delay_s)
    return int(failed)


@contextlib.contextmanager
def _server(
    workers: int, domains: int = 0, *, delay_s: float = 0.0, **settings: str
) -> Iterator[tuple[RunningServer, list[dict[str, str]]]]:
    """A server with Redis and high limits, and a dispute for each of its cold *domains*."""
    with (
        tempfile.TemporaryDirectory() as folder,
        open_world(Path(folder)) as world,
        running_redis() as redis,
    ):
        disputes = world.write_cold_domains(domains, delay_s=delay_s) if domains else []
        settings |= {"REDIS_URL": redis.url, "JUDGE_RATE_LIMIT": "1000000/minute"}
        with world.server(workers, **settings) as server:
            yield server, disputes


def _silent_sockets(workers: int, sockets: int, seconds: float) -> bool:
    """Whether a request failed while silent connections were open."""
    with _server(workers) as (server, _):
        times, failures = asyncio.run(_torture(server.url, sockets, seconds))
    asked = sum(len(taken) for taken in times.values())
    print(f"{sockets} silent: {asked} asked, {len(failures)} failed {sorted(set(failures)) or ''}")
    for name, taken in times.items():
        spread = statistics.quantiles(taken, n=100)
        print(f"{name}: median {spread[49] * 1000:.0f} ms, p99 {spread[98] * 1000:.0f} ms")
    return bool(failures)


def _cold_domains(workers: int, domains: int, deadline_s: float, delay_s: float) -> bool:
    """Whether any answer was too late, or an unexpected error."""
    settings = {"JUDGE_DEADLINE_S": str(deadline_s)}
    with _server(workers, domains, delay_s=delay_s, **settings) as (server, disputes):
        replies = asyncio.run(ask_all(server.url, disputes))
        lines = server.lines_of("/api/judge")
    print(f"{domains} cold domains, pages after {delay_s:g} s:", dict(Counter(replies)))
    late_s = max(line["ms"] / 1000 for line in lines) - deadline_s
    print(f"the last answer came {late_s:+.2f} s after the deadline")
    return late_s > ALLOWED_S or not set(replies) <= {"200", "503, try again", "504"}


async def ask_all(url: str, disputes: Sequence[Mapping[str, str]]) -> list[str]:
    """The answers to *disputes*, all sent at once."""

    async def ask(session: aiohttp.ClientSession, dispute: Mapping[str, str]) -> str:
        async with session.post("/api/judge", json=dispute) as reply:
            await reply.read()
            return f"{reply.status}{', try again' if 'Retry-After' in reply.headers else ''}"

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(url, connector=connector) as session:
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(ask(session, dispute)) for dispute in disputes]
        return [task.result() for task in asked]


async def _torture(
    url: str, sockets: int, seconds: float
) -> tuple[dict[str, list[float]], list[str]]:
    """The durations of requests by their path in seconds, and the failures."""
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
    """Connect, send nothing, and reconnect when the connection closes."""
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
