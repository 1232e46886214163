"""What a request costs: Judge, a plain service and LlamaIndex, measured in turn.

Each has one worker and calls the same fake Gemini through google-genai. Judge runs as it is
shipped: its sources file, Redis with every page in it, its limits on. Disputes are all different,
short ones and long ones. The model answers at once, which shows CPU and throughput; then the
`paced` runs keep as many in flight by a slow model, 60 requests a second, which shows the delay.

    python -m benchmarks.overhead [--rounds 5] [--in-flight 1,32,256,1000] [--quick] [--install]
        [--soak 50000] [--peers-python PYTHON] [--results FILE.jsonl]

`PYTHON` has the peers of `overhead_peers.py`; without it they are left out, and it is said why.
Each measurement is a line of FILE.jsonl, new ones at its end. CPU is that of the server's processes
by the kernel's own count, so it may be compared on a busy machine; times may not. Linux only: it
reads /proc, and needs redis-server.
"""

import argparse
import asyncio
import gc
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count, islice, product
from pathlib import Path

import aiohttp

from benchmarks.overhead_load import LENGTHS, ROOT, SOURCES, disputes, fill_cache

REQUESTS = {1: 60, 32: 640, 256: 1024, 1000: 2000}
PACE = 60
"""Requests a second while times are measured: far below the capacity of one core."""

MAX_RATIO = 4.0
"""Allowed CPU of a judgement with 32 or more in flight, beside the plain FastAPI service's."""

SEEDS = count()


def main() -> int:
    options = read_options()
    levels = [int(level) for level in options.in_flight.split(",")]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        ports = {name: free_port() for name in ("redis", "gemini", *CONTENDERS)}
        stack.enter_context(process(["redis-server", "--port", ports["redis"], "--save", ""], {}))
        wait_for(ports["redis"])
        environment = {
            "GEMINI_API_KEY": "benchmark",
            "JUDGE_GEMINI_BASE_URL": f"http://127.0.0.1:{ports['gemini']}",
            "JUDGE_SOURCES": str(SOURCES),
            "JUDGE_DATA_DIR": folder,
            "JUDGE_RATE_LIMIT": "1000000/minute",
            "REDIS_URL": f"redis://127.0.0.1:{ports['redis']}",
            "PYTHONPATH": str(ROOT),
        }
        asyncio.run(fill_cache(environment["REDIS_URL"]))
        rows = list(measure_all(options, levels, ports, environment, stack))
    if options.install:
        rows.append({"who": "judge", "install_mb": round(installed_mb())})
    with Path(options.results).open("a", encoding="utf-8") as file:
        run = {"run": time.strftime("%FT%TZ", time.gmtime()), "commit": commit()}
        file.writelines(json.dumps(run | row) + "\n" for row in rows)
    return report(rows)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--in-flight", default="1,32,256,1000")
    parser.add_argument("--only", default="", help="contenders, such as judge,fastapi")
    parser.add_argument("--quick", action="store_true", help="a quarter of the requests, no pacing")
    parser.add_argument("--soak", type=int, default=0, help="requests while memory is watched")
    parser.add_argument("--install", action="store_true", help="install the lock file and weigh it")
    parser.add_argument("--peers-python", default=os.environ.get("JUDGE_BENCH_PEERS", ""))
    parser.add_argument("--results", default=".judge/overhead.jsonl")
    options = parser.parse_args()
    Path(options.results).parent.mkdir(parents=True, exist_ok=True)
    return options


UVICORN = "-m uvicorn --loop asyncio --ws none --no-access-log --log-level error"
CONTENDERS = {
    "judge": ("-m judge serve", {}),
    "fastapi": (f"{UVICORN} --factory overhead_peers:app", {"PEER": "fastapi"}),
    "llamaindex": (f"{UVICORN} --factory overhead_peers:app", {"PEER": "llamaindex"}),
}


def present(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """The contenders and their interpreters; prints which are left out, and why."""
    for name, (_, peer) in CONTENDERS.items():
        if options.only and name not in options.only.split(","):
            continue
        python = options.peers_python if peer else sys.executable
        module = {"fastapi": "fastapi", "llamaindex": "llama_index.llms.google_genai"}.get(name)
        if peer and not python:
            print(f"{name} is left out: --peers-python names no interpreter", file=sys.stderr)
        elif module and subprocess.run([python, "-c", f"import {module}"], check=False).returncode:
            print(f"{name} is left out: {python} cannot import {module}", file=sys.stderr)
        else:
            yield name, python


def measure_all(options, levels, ports, environment, stack) -> Iterator[dict]:
    """One row per measurement, contenders in turn; then the memory of each at rest."""
    pids: dict[str, int] = {}
    with gemini(ports["gemini"], 0):
        for name, python in present(options):
            started = time.monotonic()
            command, peer = CONTENDERS[name]
            paths = {"PYTHONPATH": str(ROOT / "benchmarks")} if peer else {}
            server = stack.enter_context(
                process(
                    [python, *command.split(), "--port", ports[name]], environment | peer | paths
                )
            )
            pids[name] = server.pid
            first_answer(ports[name])
            yield {"who": name, "start_s": round(time.monotonic() - started, 2)}
            asyncio.run(load(url_of(ports[name]), 8, 64))
            yield {"who": name, "rest_mb": memory_mb(server.pid)}
        yield from rounds(options, levels, ports, pids, is_paced=False)
        yield from soak(options.soak // 10, ports, pids)
    if not options.quick:
        for level in levels:
            with gemini(ports["gemini"], 1000 * level / PACE):
                yield from rounds(options, [level], ports, pids, is_paced=True)
    for name, pid in pids.items():
        yield {"who": name, "after_mb": memory_mb(pid)}


def rounds(options, levels, ports, pids, *, is_paced: bool) -> Iterator[dict]:
    """The contenders in turn, in every round, at every concurrency, with short and long ones."""
    for number, level, kind in product(range(options.rounds), levels, LENGTHS):
        requests = REQUESTS.get(level, 4 * level) // (4 if options.quick else 1)
        seed = next(SEEDS)
        for name, pid in pids.items():
            figures = measure(
                url_of(ports[name]), pid,
                level=level, requests=requests, kind=kind, seed=seed, is_paced=is_paced,
            )  # fmt: skip
            shared = {"who": name, "in_flight": level, "kind": kind, "paced": is_paced}
            yield shared | figures
        print(f"round {number + 1}, {level} in flight, {kind}: done", file=sys.stderr)


def soak(requests: int, ports, pids) -> Iterator[dict]:
    """The memory of each after every tenth of the requests; nothing without requests."""
    for part, (name, pid) in product(range(1, 11), pids.items() if requests else ()):
        asyncio.run(load(url_of(ports[name]), 256, requests, seed=next(SEEDS)))
        yield {"who": name, "requests": part * requests, "held_mb": memory_mb(pid)}


def measure(url, pid, *, level, requests, kind, seed, is_paced) -> dict[str, float]:
    """CPU milliseconds a request, times to answer in ms, and answers a second."""
    spread_s = level / PACE if is_paced else 0.0
    gc.collect()
    gc.disable()  # a pause of this process would be attributed to the server
    before, started = cpu_ns(pid), time.perf_counter()
    times = asyncio.run(load(url, level, requests, kind=kind, seed=seed, spread_s=spread_s))
    taken_s, used = time.perf_counter() - started, cpu_ns(pid) - before
    gc.enable()
    cuts = statistics.quantiles(times, n=100)
    return {
        "cpu_ms": round(used / requests / 1e6, 3),
        "p50_ms": round((cuts[49] - spread_s) * 1000, 2),
        "p99_ms": round((cuts[98] - spread_s) * 1000, 2),
        "per_s": round(requests / taken_s, 1),
    }


async def load(url, level, requests, *, kind="short", seed=0, spread_s=0.0) -> list[float]:
    times: list[float] = []
    failures: list[int] = []
    bodies = iter([json.dumps(one).encode() for one in islice(disputes(kind, seed), requests)])

    async def worker(session: aiohttp.ClientSession, place: int) -> None:
        await asyncio.sleep(
            spread_s * place / level
        )  # callers do not all start at the same instant
        for body in bodies:
            started = time.perf_counter()
            async with session.post(url, data=body, headers=HEADERS) as response:
                await response.read()
                if response.status != 200:
                    failures.append(response.status)
            times.append(time.perf_counter() - started)

    connector = aiohttp.TCPConnector(limit=level)
    async with aiohttp.ClientSession(connector=connector) as session, asyncio.TaskGroup() as group:
        for place in range(level):
            group.create_task(worker(session, place))
    if failures:
        print(f"{url}: {len(failures)} of {requests} failed, {set(failures)}", file=sys.stderr)
    if len(failures) == requests:
        message = f"{url} fails"
        raise RuntimeError(message)
    return times


HEADERS = {"content-type": "application/json"}


def report(rows: list[dict]) -> int:
    """Print the medians; 1 when a limit of CPU is broken."""
    failed = False
    found: dict[tuple[int, str], dict[str, list[float]]] = {}
    for row in rows:
        if "cpu_ms" in row and not row["paced"]:
            by_name = found.setdefault((row["in_flight"], row["kind"]), {})
            by_name.setdefault(row["who"], []).append(row["cpu_ms"])
    for (level, kind), by_name in found.items():
        cells = [f"{name} {statistics.median(v):6.2f}" for name, v in by_name.items()]
        print(f"{level:5} in flight, {kind:5}: CPU ms a request: {', '.join(cells)}", end="")
        floor = statistics.median(by_name.get("fastapi", [0]))
        ratio = statistics.median(by_name.get("judge", [0])) / floor if floor else 0
        if level >= 32 and ratio > MAX_RATIO:
            failed = True
            print(f"; Judge takes {ratio:.1f} times FastAPI's, allowed are {MAX_RATIO}", end="")
        print()
    for row in rows:
        if "cpu_ms" not in row:
            print(*(f"{key}: {value}" for key, value in row.items()), sep="  ")
    return int(failed)


def cpu_ns(pid: int) -> int:
    """Nanoseconds on a processor of *pid*, its threads and its children."""
    total = 0
    for one in [pid, *children(pid)]:
        for task in Path(f"/proc/{one}/task").glob("*/schedstat"):
            total += int(task.read_text().split()[0])
    return total


def memory_mb(pid: int) -> float:
    """Megabytes of *pid* and its children; what they share is counted once."""
    kept = 0
    for one in [pid, *children(pid)]:
        for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
            kept += int(line.split()[1]) if line.startswith("Pss:") else 0
    return round(kept / 1024, 1)


def children(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            yield int(child)
            yield from children(int(child))


def installed_mb() -> float:
    """Megabytes of an environment with nothing but the lock file in it."""
    with tempfile.TemporaryDirectory() as folder:
        uv = shutil.which("uv") or str(ROOT / ".tools/uv/bin/uv")
        python = f"{folder}/bin/python"
        subprocess.run([uv, "venv", "--quiet", folder], check=True)
        lock = ROOT / "requirements.lock"
        subprocess.run([uv, "pip", "sync", "--quiet", "--python", python, lock], check=True)
        files = [one.stat() for one in Path(folder).rglob("*") if not one.is_symlink()]
        return sum(one.st_blocks * 512 for one in files) / 1e6


def gemini(port: int, delay_ms: float):
    """A fake model that replies after so many milliseconds."""
    command = [sys.executable, "-m", "benchmarks.overhead_load", "gemini", port, delay_ms]
    return process(command, {"PYTHONPATH": str(ROOT)}, port)


@contextmanager
def process(command, environment, port: int | None = None) -> Iterator[subprocess.Popen]:
    """A process that runs during the block; waits until it listens on *port*, if given."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    ours = os.environ | environment
    ours.pop("PYTHONDONTWRITEBYTECODE", None)  # repeated compilation is not to be measured
    started = subprocess.Popen([*map(str, command)], env=ours, **quiet)
    try:
        if port:
            wait_for(port)
        yield started
    finally:
        started.send_signal(signal.SIGTERM)
        started.wait(timeout=40)


def first_answer(port: int) -> None:
    """Repeat a request until it is answered."""
    wait_for(port, 60)
    asyncio.run(load(url_of(port), 1, 1))


def url_of(port: int) -> str:
    return f"http://127.0.0.1:{port}/api/judge"


def commit() -> str:
    told = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, check=False
    )
    return told.stdout.decode().strip()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port: int, timeout_s: float = 30) -> None:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    message = f"nothing listens on port {port}"
    raise TimeoutError(message)


if __name__ == "__main__":
    raise SystemExit(main())
