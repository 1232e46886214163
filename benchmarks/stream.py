"""What a user sees of a verdict, and when, while a model writes it at 60 tokens a second.

A server on loopback with a warm cache, a page to cite, and a model in this process that starts
after 0.6 s and writes four characters a token. Measures a valid reply and one that is retried, each
compared with the plain route; then how soon the first byte is sent while the model is silent, and
what streaming costs.

    python -m benchmarks.stream [--tokens-per-second 60] [--requests 50]
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections import deque
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import uvicorn

from judge.ports import ignore_text
from judge.types.replies import ModelReply
from tests.entrypoints.api_bench import DISPUTE, open_bench
from tests.fakes.waiting import until

BEGINS_AFTER_S = 0.6
TOKEN = 4
MAX_FIRST_BYTE_MS = 50
MAX_FIRST_FIELD = 0.4

PROSE = (
    "You told them as soon as it stopped, and you waited while they said that somebody would come. "
    "A landlord has to keep the boiler in working order [1], and to ask when that will happen is a "
    "plain question. It may be that they wait for a part, or that their engineer is ill, and you "
    "have heard nothing of it; that would explain the delay without making it yours to bear. What "
    "would not help is to hold back rent before you have asked for a date in writing. Name a day, "
    "say what the cold costs you, and keep a copy of what you send and of what comes back."
)
POINTS = [
    "Write today, and name the day by which you expect an answer.",
    "Keep copies of every message, with the dates on which they were sent.",
    "Ask whether a heater can be lent until the part arrives.",
]


PARAPHRASE = (
    "Your boiler has been broken for three weeks, your landlord has not mended it, and you wonder "
    "whether to complain."
)
PERSONAS = ("Therapist", "Analyst", "Coach")


def reply(analyst: str = PROSE, settled: str = "") -> str:
    """The text of a reply; fields in the block *settled* are left empty, as the prompt demands."""
    voices = []
    for name in PERSONAS:
        rationale, points = (analyst if name == "Analyst" else f"{name}: {PROSE}"), POINTS
        if f"{name}: " in settled:
            rationale, points = "", []
        voices.append({"name": name, "verdict": "No", "rationale": rationale, "key_points": points})
    return json.dumps(
        {
            "paraphrase": "" if "paraphrase: " in settled else PARAPHRASE,
            "references_help": True,
            "quotes": [{"number": 1, "sentences": [1]}],
            "personas": voices,
            "summary": "" if "summary: " in settled else PROSE,
        }
    )


class Writer:
    """A model that writes so many tokens a second; *analyst* has the next texts of that persona."""

    name = "writer"
    gives_verdicts = True

    def __init__(self, tokens_per_second: float) -> None:
        self.speed = tokens_per_second
        self.analyst: deque[str] = deque()
        self.silence_s = BEGINS_AFTER_S

    async def complete(self, prompt, *, timeout_s, doubles_limit, on_text=ignore_text):
        settled = prompt.text.partition("<SETTLED>")[2]
        text = reply(self.analyst.popleft() if self.analyst else PROSE, settled)
        await asyncio.sleep(self.silence_s)
        started = time.monotonic()
        for number, end in enumerate(range(TOKEN, len(text) + TOKEN, TOKEN), start=1):
            if self.speed:
                await asyncio.sleep(started + number / self.speed - time.monotonic())
            on_text(text[:end])
        return ModelReply(text, self.name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens-per-second", type=float, default=60)
    parser.add_argument("--requests", type=int, default=50)
    options = parser.parse_args()
    return asyncio.run(measure(options))


async def measure(options) -> int:
    model = Writer(options.tokens_per_second)
    with tempfile.TemporaryDirectory() as folder:
        async with serving(Path(folder), model) as (url, session):
            await warm_up(model, url, session)
            failed = False
            for title, said in {"kept every rule": [], "broke one": ["See [7]."]}.items():
                model.analyst.extend(said)
                plain_s = await plain(url, session)
                model.analyst.extend(said)
                events = await stream(url, session)
                print(f"\n{title}: {len(reply()) // TOKEN} tokens; plain route {plain_s:.1f} s")
                failed |= show(events)
            failed |= await first_bytes(model, url, session, options.requests)
            await cost(model, url, session, options.requests)
    return int(failed)


def show(events) -> bool:
    """Print the timeline; returns whether the first field came too late."""
    for at, name, words in events:
        print(f"{at:7.2f} s  {name:11}{words}")
    first = next(at for at, name, _ in events if name == "field")
    share = first / events[-1][0]
    print(f"first field after {share:.0%} of the whole time (limit {MAX_FIRST_FIELD:.0%})")
    return share > MAX_FIRST_FIELD


async def first_bytes(model, url, session, count) -> bool:
    """Print when the first byte is sent while the model is silent; returns whether that is late."""
    model.speed, model.silence_s = 0, 0.2
    times = []
    for _ in range(count):
        started = time.perf_counter()
        async with session.post(f"{url}/stream", json=DISPUTE) as response:
            await response.content.readany()
            times.append((time.perf_counter() - started) * 1000)
            await response.read()
    late = statistics.quantiles(times, n=20)[-1]
    print(f"\nfirst byte of {count}: median {statistics.median(times):.1f} ms, p95 {late:.1f} ms")
    print(f"(limit {MAX_FIRST_BYTE_MS} ms; worst {max(times):.1f} ms)")
    return late > MAX_FIRST_BYTE_MS


async def cost(model, url, session, count) -> None:
    """Print the CPU time per request of both routes, including this client and the model."""
    model.silence_s = 0
    for route in ("", "/stream"):
        before = time.process_time()
        for _ in range(count):
            async with session.post(url + route, json=DISPUTE) as response:
                await response.read()
        spent = (time.process_time() - before) / count * 1000
        print(f"CPU a request of /api/judge{route}: {spent:.1f} ms")


async def plain(url, session) -> float:
    started = time.perf_counter()
    async with session.post(url, json=DISPUTE) as response:
        await response.read()
    return time.perf_counter() - started


async def stream(url, session) -> list[tuple[float, str, str]]:
    """The time, name and first words of each event."""
    events, name, started = [], "", time.perf_counter()
    async with session.post(f"{url}/stream", json=DISPUTE) as response:
        async for line in response.content:
            kind, _, value = line.decode().strip().partition(": ")
            if kind == "event":
                name = value
            elif kind == "data":
                events.append((time.perf_counter() - started, name, _words(name, value)))
    return events


def _words(name: str, data: str) -> str:
    told = json.loads(data)
    if name == "field":
        return f"{told['name']} ({len(json.dumps(told['value']))} characters)"
    if name == "restart":
        return str(told["defects"][0]["rule"])
    return str(told["number"]) if name == "attempt" else ""


async def warm_up(model, url, session) -> None:
    model.speed, speed, model.silence_s = 0, model.speed, 0
    for route in ("", "/stream") * 3:
        async with session.post(url + route, json=DISPUTE) as response:
            if response.status != 200:
                sys.exit(f"{url + route} answered {response.status}: {await response.text()}")
            await response.read()
    model.speed, model.silence_s = speed, BEGINS_AFTER_S


@asynccontextmanager
async def serving(folder: Path, model):
    """The URL of the plain route of a server that uses *model*, and a client."""
    async with open_bench(folder / "sources.toml", model) as bench, aiohttp.ClientSession() as own:
        config = uvicorn.Config(bench.app, port=0, log_level="error", lifespan="off", ws="none")
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve())
        await until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}/api/judge", own
        finally:
            server.should_exit = True
            await task


if __name__ == "__main__":
    raise SystemExit(main())
