"""How fast documents are indexed and found, against Tantivy used bare; all in one run.

    python -m benchmarks.search [--passages 100000] [--http] [--keep FOLDER]

The passages are real: the sources and documentation of the packages installed here and of Python
itself, cut every 120 words. The peer, "bare", is a Tantivy index of the same text in one field
with its own English stemming, and of an id; its answer is the stored text of ten passages and
their number, as ours is ten passages and their number. Each is built three times, in turns, with
as much memory and as many threads; medians are told. Every figure of a search is the best of three
tries of a question, so that a busy machine shows less; then the median and the 95th percentile
over 300 questions of one to five words, taken from the passages.

`--http` asks `judge serve` over loopback too. `benchmarks.search_quality` measures the ranking.
"""

import argparse
import asyncio
import gc
import json
import os
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

import tantivy

from judge.adapters.index.tantivy.index import TantivyIndex
from judge.adapters.index.tantivy.writer import TantivyStore
from judge.adapters.memory import SystemClock
from judge.library.indexing.indexer import BATCH_FILES
from judge.library.search.highlight import highlighter
from judge.library.search.query import parse_query
from judge.ports import WritableIndex
from judge.types.search import (
    Clause,
    DocumentWithPassages,
    IndexedDocument,
    Passage,
    Scope,
)

WORDS = 120
LAP = 47
"""By how many words the cuts move when a text is split again."""
QUESTIONS = 300
TRIES = 3
ROUNDS = 3
EVERYWHERE = Scope()
SUFFIXES = {".py", ".pyi", ".md", ".rst", ".txt", ".html"}
LIMIT = 10


def roots() -> list[Path]:
    """Folders with Python code and its documentation on this machine."""
    paths = sysconfig.get_paths()
    return [Path(paths["purelib"]), Path(paths["stdlib"]), Path("/usr/share/doc")]


def files(suffixes: set[str]) -> Iterator[tuple[str, str]]:
    """Relative path and text of each readable file, not too long to be written by hand."""
    for root in roots():
        for path in sorted(root.rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in suffixes or "site-packages" in name or not path.is_file():
                continue
            try:
                text = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                continue
            if len(text) < 400_000:
                yield name, text


def passages(count: int) -> list[Passage]:
    """The first *count* passages of the machine's documents.

    If there are fewer, the same documents are split again, each time at other words.
    """
    found: list[Passage] = []
    for lap in range(WORDS):
        for number, (name, text) in enumerate(files(SUFFIXES)):
            found += _cut(name, text, number, lap)
            if len(found) >= count:
                return found[:count]
    return found


def _cut(name: str, text: str, number: int, lap: int) -> Iterator[Passage]:
    words = [match.span() for match in re.finditer(r"\S+", text)]
    folder, _, file = name.rpartition("/")
    for position, start in enumerate(range(lap * LAP % WORDS, len(words), WORDS)):
        end = words[min(start + WORDS, len(words)) - 1][1]
        yield Passage(
            document_id=f"{name}~{lap}" if lap else name,
            collection=name.partition("/")[0],
            position=position,
            title=file,
            text=text[words[start][0] : end],
            path=name,
            folder=folder,
            tags=(file.rpartition(".")[2], f"t{number % 7}"),
            modified=datetime(2020 + number % 6, 1, 1, tzinfo=UTC),
        )


def questions(corpus: Sequence[Passage]) -> list[str]:
    """Neighbouring words of passages, picked at random with a fixed seed."""
    chance = random.Random(1)
    asked: list[str] = []
    while len(asked) < QUESTIONS:
        words = re.findall(r"[A-Za-z]{4,}", chance.choice(corpus).text)
        count = chance.choice([1, 2, 3, 3, 4, 5])
        if len(words) > 20:
            start = chance.randrange(len(words) - count)
            asked.append(" ".join(words[start : start + count]))
    return asked


@dataclass
class Bare:
    """Tantivy as its manual uses it."""

    index: tantivy.Index

    @classmethod
    def build(cls, folder: Path, texts: Sequence[tuple[str, str]]) -> "Bare":
        folder.mkdir()
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("text", stored=True, tokenizer_name="en_stem")
        builder.add_text_field("id", stored=True, tokenizer_name="raw")
        index = tantivy.Index(builder.build(), str(folder))
        writer = index.writer()
        for name, text in texts:
            writer.add_document(tantivy.Document(text=text, id=name))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return cls(index)

    def find(self, words: str) -> list[str]:
        """The ids of the best passages."""
        searcher = self.index.searcher()
        query = self.index.parse_query(words, ["text"])
        found = searcher.search(query, LIMIT)
        return [searcher.doc(address).get_first("id") for _, address in found.hits]


async def write(store: WritableIndex, corpus: Sequence[Passage]) -> None:
    """Index *corpus* through Judge's port, committed as often as `judge index add` does."""
    documents = []
    for name, group in groupby(corpus, key=lambda passage: passage.document_id):
        held = tuple(group)
        record = IndexedDocument(name, held[0].collection, name, "", len(held))
        documents.append(DocumentWithPassages(record, held))
    async with store.writing() as writer:
        for start in range(0, len(documents), BATCH_FILES):
            await writer.replace(documents[start : start + BATCH_FILES])
            await writer.commit()


def compare_indexing(folder: Path, corpus: Sequence[Passage]) -> None:
    """Build both indexes in turns; print medians, by the clock and in CPU time.

    A busy machine disturbs CPU time less. The last ones stay, as "bare" and "ours" in *folder*.
    """
    texts = [(passage.id, passage.text) for passage in corpus]
    builds: dict[str, Callable[[Path], object]] = {
        "bare": lambda to: Bare.build(to, texts),
        "ours": lambda to: asyncio.run(write(TantivyStore(to, SystemClock()), corpus)),
    }
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in builds}
    print(f"Indexing {len(corpus)} passages, {ROUNDS} times each")
    for _ in range(ROUNDS):
        for name, build in builds.items():
            shutil.rmtree(folder / name, ignore_errors=True)
            started, cpu = time.perf_counter(), time.process_time()
            build(folder / name)
            spent[name].append((time.perf_counter() - started, time.process_time() - cpu))
    for name, rounds in spent.items():
        wall, cpu = (
            statistics.median(column) / len(corpus) for column in zip(*rounds, strict=True)
        )
        print(f"  {name:<34} {1 / wall:6.0f} a second   {cpu * 1e6:6.1f} µs of CPU each")
    pairs = list(zip(spent["bare"], spent["ours"], strict=True))
    by_clock, by_cpu = (statistics.median(b[i] / o[i] for b, o in pairs) for i in (0, 1))
    print(
        f"  {'ours, of bare throughput':<34} {by_clock:.2f} by the clock   {by_cpu:.2f} by CPU time"
    )


def timed(name: str, ask: Callable[[str], object], asked: Sequence[str]) -> float:
    """Print and return the median, in milliseconds."""
    best = []
    for question in asked:
        tries = []
        for _ in range(TRIES):
            started = time.perf_counter()
            ask(question)
            tries.append(time.perf_counter() - started)
        best.append(min(tries) * 1000)
    best.sort()
    median, high = best[len(best) // 2], best[len(best) * 95 // 100]
    print(f"  {name:<34} p50 {median:6.3f} ms   p95 {high:6.3f} ms")
    return median


def run(awaitable):
    """The result of a coroutine that never waits, without the cost of an event loop."""
    try:
        awaitable.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError


def compare_queries(index: TantivyIndex, bare: Bare, corpus: Sequence[Passage]) -> None:
    asked = questions(corpus)
    print(f"Queries over {len(corpus)} passages")

    def ours(text: str, scope: Scope = EVERYWHERE):
        return run(index.search(parse_query(text), scope, limit=LIMIT))

    raw = timed("bare Tantivy", bare.find, asked)
    plain = timed("ours, through the port", ours, asked)
    print(f"  {'difference':<34} p50 {plain - raw:+6.3f} ms")
    timed(
        "ours, with highlights",
        lambda q: list(
            map(highlighter(parse_query(q)), [hit.passage.text for hit in ours(q).hits])
        ),
        asked,
    )
    busiest = [name for name, _ in Counter(p.collection for p in corpus).most_common(5)]
    for name, clause in {
        "@collection, the largest": Clause("collection", (busiest[0],)),
        "@collection, five": Clause("collection", tuple(busiest)),
        "-@collection, the largest": Clause("collection", (busiest[0],), is_excluded=True),
        "@document": Clause("document", (corpus[len(corpus) // 2].document_id,)),
        "@folder, and below": Clause("folder", (busiest[1],)),
        "@tag, nearly all": Clause("tag", ("py",)),
        "@tag, one in seven": Clause("tag", ("t3",)),
        "@modified, half": Clause("modified", after=datetime(2023, 1, 1, tzinfo=UTC)),
    }.items():
        scope = Scope((clause,))
        median = timed(name, lambda q, scope=scope: ours(q, scope), asked)
        print(f"  {'':<34} {median / plain:6.2f} of unfiltered")


def measure_start(folder: Path) -> None:
    started = time.perf_counter()
    index = TantivyIndex(folder)
    run(index.search(parse_query("navigation"), Scope(), limit=LIMIT))
    print(
        f"Start of a reader, first answer included: {(time.perf_counter() - started) * 1000:.1f} ms"
    )


def ask_over_http(folder: Path, corpus: Sequence[Passage]) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {
        "JUDGE_DATA_DIR": str(folder),
        "JUDGE_MODEL": "extractive",
        "JUDGE_RATE_LIMIT": "1000000/minute",
    }
    command = [sys.executable, "-m", "judge", "serve", "--port", str(port)]
    with subprocess.Popen(command, env=os.environ | settings, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_for(f"http://127.0.0.1:{port}/health/live")
            print("Over HTTP")

            def ask(question: str) -> object:
                text = urllib.parse.quote(question)
                with urllib.request.urlopen(
                    f"http://127.0.0.1:{port}/api/search?q={text}"
                ) as reply:
                    return json.load(reply)

            timed("GET /api/search, a connection each", ask, questions(corpus))
        finally:
            server.terminate()


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(url).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("the server did not start")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--keep", type=Path, help="leave the indexes here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(exist_ok=True)
        corpus = passages(options.passages)
        # Keeps the garbage collector from scanning the benchmark's passages repeatedly.
        gc.freeze()
        compare_indexing(folder, corpus)
        bare = Bare(tantivy.Index.open(str(folder / "bare")))
        measure_start(folder / "ours")
        compare_queries(TantivyIndex(folder / "ours"), bare, corpus)
        if options.http:
            ask_over_http(folder / "ours", corpus)


if __name__ == "__main__":
    main()
