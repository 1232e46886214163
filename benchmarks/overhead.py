"""Our share of a request: the whole of Judge beside a bare handler that makes the same model call.

Both are Litestar on uvicorn with one worker, both call a fake Gemini that answers after 300 ms
through google-genai over aiohttp, and both run in the same rounds, in turn. Judge has a warm
cache. CPU time is that of the server's processes, from the kernel's own count. Callers start spread
over the model's delay; started in one instant they would queue behind one another in either server.

    python -m benchmarks.overhead [--rounds 5] [--in-flight 1,32,256] [--quick]

Linux only: it reads /proc.
"""

import argparse
import asyncio
import gc
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp

MODEL_DELAY_MS = 300
MAX_CPU_MS = 1.2
MAX_P99_MS = 15.0
BODY = {
    "context": "My landlord will not mend the boiler in my rented flat. I asked him three times.",
    "query": "Am I being unreasonable to insist on a repair this week?",
}
REQUESTS = {1: 30, 32: 640, 256: 1536}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--in-flight", default="1,32,256")
    parser.add_argument("--quick", action="store_true", help="a tenth of the requests")
    options = parser.parse_args()
    levels = [int(level) for level in options.in_flight.split(",")]
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as servers:
        asyncio.run(warm_up(servers))
        rows = {level: [] for level in levels}
        for number in range(options.rounds):
            for level in levels:
                count = REQUESTS.get(level, 20 * level) // (10 if options.quick else 1)
                pair = {name: measure(*servers[name], level, count) for name in servers}
                rows[level].append(pair)
                print(f"round {number + 1}, {level} in flight: done", file=sys.stderr)
    return report(rows)


def report(rows) -> int:
    """Print the medians; 1 when a limit is broken."""
    print("in flight  bare CPU ms  judge CPU ms  above (median)  p99 bare  p99 judge  above")
    failed = False
    for level, pairs in rows.items():
        cpu = [p["judge"][0] - p["bare"][0] for p in pairs]
        p99 = [p["judge"][1] - p["bare"][1] for p in pairs]
        above, late = statistics.median(cpu), statistics.median(p99)
        middle = [
            statistics.median(p[name][figure] for p in pairs)
            for name, figure in (("bare", 0), ("judge", 0), ("bare", 1), ("judge", 1))
        ]
        print(
            f"{level:9}  {middle[0]:11.2f}  {middle[1]:12.2f}  {above:+14.2f}  "
            f"{middle[2]:8.1f}  {middle[3]:9.1f}  {late:+5.1f}"
        )
        failed |= above > MAX_CPU_MS or (level == 32 and late > MAX_P99_MS)
    print(f"limits: {MAX_CPU_MS} ms CPU above the bare handler; p99 {MAX_P99_MS} ms above at 32")
    return int(failed)


async def warm_up(servers) -> None:
    for url, _ in servers.values():
        await load(url, 8, 64)


def measure(url: str, pid: int, level: int, count: int) -> tuple[float, float]:
    """CPU milliseconds a request, and the 99th percentile of the time to answer in ms."""
    gc.collect()
    gc.disable()  # a pause of this process would be taken for one of the server
    before = cpu_ns(pid)
    times = asyncio.run(load(url, level, count))
    gc.enable()
    return (cpu_ns(pid) - before) / count / 1e6, statistics.quantiles(times, n=100)[98] * 1000


async def load(url: str, level: int, count: int) -> list[float]:
    times: list[float] = []
    numbers = iter(range(count))

    async def worker(session: aiohttp.ClientSession, place: int) -> None:
        # Spread over the model's delay: 32 callers do not all press the button in one instant.
        await asyncio.sleep(MODEL_DELAY_MS / 1000 * place / level)
        for _ in numbers:
            started = time.perf_counter()
            async with session.post(url, json=BODY) as response:
                await response.read()
                if response.status != 200:
                    message = f"{url} answered {response.status}"
                    raise RuntimeError(message)
            times.append(time.perf_counter() - started)

    connector = aiohttp.TCPConnector(limit=level)
    async with aiohttp.ClientSession(connector=connector) as session, asyncio.TaskGroup() as group:
        for place in range(level):
            group.create_task(worker(session, place))
    return times


def cpu_ns(pid: int) -> int:
    """Nanoseconds on a processor of *pid*, its threads and its children."""
    total = 0
    for process in [pid, *children(pid)]:
        for task in Path(f"/proc/{process}/task").glob("*/schedstat"):
            total += int(task.read_text().split()[0])
    return total


def children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield int(child)
            yield from children(int(child))


@contextmanager
def running(folder: Path):
    """The fake Gemini, a site with the page, the bare server and Judge."""
    gemini, site, bare, judge = (free_port() for _ in range(4))
    (folder / "index.html").write_text(
        "<title>Repairs</title><main><h1>Repairs</h1><p>Your landlord is always responsible for "
        "repairs to the boiler, the heating, the pipes and the wiring of your home.</p></main>"
    )
    sources = folder / "sources.toml"
    sources.write_text(
        "[domains.tenancy]\ntitle = 'Renting'\n[domains.tenancy.terms]\nlandlord = 3\n"
        + "".join(
            f"[[domains.tenancy.sources]]\nurl = 'http://127.0.0.1:{site}/?{n}'\ntitle = 'P{n}'\n"
            for n in (1, 2)
        )
    )
    environment = os.environ | {
        "GEMINI_API_KEY": "benchmark",
        "JUDGE_GEMINI_BASE_URL": f"http://127.0.0.1:{gemini}",
        "JUDGE_SOURCES": str(sources),
        "JUDGE_TRUSTED_HOSTS": f"127.0.0.1:{site}",
        "JUDGE_RATE_LIMIT": "1000000/minute",
    }
    uvicorn = ["-m", "uvicorn", "--http", "httptools", "--loop", "asyncio", "--ws", "none"]
    uvicorn += ["--no-access-log", "--log-level", "error", "--port"]
    commands = {
        "gemini": ["-m", "tests.fakes.gemini", "--port", gemini, "--delay-ms", MODEL_DELAY_MS],
        "site": ["-m", "http.server", site, "--bind", "127.0.0.1", "--directory", folder],
        "bare": [*uvicorn, bare, "--factory", "benchmarks.bare:app"],
        "judge": ["-m", "judge", "serve", "--port", judge],
    }
    processes = {
        name: subprocess.Popen(
            [sys.executable, *map(str, command)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for name, command in commands.items()
    }
    try:
        for port in (gemini, site, bare, judge):
            wait_for(port)
        yield {
            "bare": (f"http://127.0.0.1:{bare}/api/judge", processes["bare"].pid),
            "judge": (f"http://127.0.0.1:{judge}/api/judge", processes["judge"].pid),
        }
    finally:
        for process in processes.values():
            process.send_signal(signal.SIGTERM)
        for process in processes.values():
            process.wait(timeout=40)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port: int, patience_s: float = 30) -> None:
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    message = f"nothing listens on port {port}"
    raise TimeoutError(message)


if __name__ == "__main__":
    raise SystemExit(main())
