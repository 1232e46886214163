"""What vector search costs in the embedded index, compared with numpy's bare product.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.vectors [--passages 100000] [--keep FOLDER]

The passages are those of `benchmarks.search`. Their vectors are random points around 200
subjects, with 768 dimensions like Gemini's, and so are the queries: one passage in two hundred is
similar enough. The call of an embedding service, 100 ms or more, is left out. The baseline is the
product of a contiguous matrix in memory with the query. Every figure is the best of three tries of
a query; then the median and the 95th percentile. One thread: with more, the load of the machine
shows.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.search import EVERYWHERE, LIMIT, passages, questions, timed, write
from judge.adapters.index.stored import embedded_text, text_key
from judge.adapters.index.tantivy.index import TantivyIndex
from judge.adapters.index.tantivy.writer import TantivyStore
from judge.adapters.index.vectors import VectorFile
from judge.adapters.journal import LogJournal
from judge.adapters.memory import SystemClock
from judge.bootstrap.corpus import open_vectors
from judge.library.search.query import parse_query
from judge.types.search import Clause, Passage, Scope

DIMENSIONS = 768
SUBJECTS = 200
QUESTIONS = 60
CHUNK = 96
"""Vectors per batch, as from the services."""


class Subjects:
    """An Embedder: a text's vector is that of a subject, chosen by its key, plus noise."""

    name = f"subjects-{DIMENSIONS}"

    def __init__(self) -> None:
        self.min_similarity = 0.6
        self._chance = np.random.default_rng(1)
        self._subjects = self._chance.standard_normal((SUBJECTS, DIMENSIONS), dtype=np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        return [self.vector(text) for text in texts]

    async def embed_query(self, text: str) -> list[float]:
        return self.vector(text)

    def vector(self, text: str):
        noise = self._chance.standard_normal(DIMENSIONS, dtype=np.float32)
        return self._subjects[text_key(text) % SUBJECTS] + 0.7 * noise


def fill(file: VectorFile, embedder: Subjects, corpus: Sequence[Passage]) -> None:
    texts = list({text_key(t): t for t in map(embedded_text, corpus)}.values())
    spent = 0.0
    for start in range(0, len(texts), CHUNK):
        vectors = {text_key(t): embedder.vector(t) for t in texts[start : start + CHUNK]}
        started = time.perf_counter()
        file.add(vectors)
        spent += time.perf_counter() - started
    size = file.path.stat().st_size
    print(f"Vectors kept, {CHUNK} and one commit at a time: {len(texts) / spent:.0f} a second, "
          f"{size / 1e6:.0f} MB")  # fmt: skip


def measure_opening(path: Path) -> None:
    started = time.perf_counter()
    VectorFile(path).table()
    print(f"Reading them: {(time.perf_counter() - started) * 1000:.0f} ms")


def compare(folder: Path, file: VectorFile, embedder: Subjects, corpus: Sequence[Passage]) -> None:
    text = TantivyIndex(folder)
    store = TantivyStore(folder, SystemClock())
    index = open_vectors(folder, text, store, embedder, LogJournal(sys.stderr)).index
    asked = questions(corpus)[:QUESTIONS]
    vectors = {question: embedder.vector(question) for question in asked}
    matrix = file.table().rows
    print(f"Questions over {len(matrix)} vectors")
    floor = timed("floor: the bare product", lambda q: np.dot(matrix, vectors[q]), asked)
    keys = file.table().keys
    timed("ours, the scan alone", lambda q: file.table().similarities(vectors[q], keys), asked)
    with asyncio.Runner() as runner:

        def find(question: str, scope: Scope = EVERYWHERE, engine=index):
            return runner.run(engine.search(parse_query(question), scope, limit=LIMIT))

        find(asked[0])
        timed("words alone", lambda q: find(q, engine=text), asked)
        whole = timed("ours, words and meaning", find, asked)
        print(f"  {'of the floor':<34} {whole / floor:6.2f}")
        busiest = Counter(p.collection for p in corpus).most_common(1)[0][0]
        for name, clause in {
            "@collection, the largest": Clause("collection", (busiest,)),
            "-@collection, the largest": Clause("collection", (busiest,), is_excluded=True),
            "@document": Clause("document", (corpus[len(corpus) // 2].document_id,)),
            "@tag, nearly all": Clause("tag", ("py",)),
            "@tag, one in seven": Clause("tag", ("t3",)),
            "@modified, half": Clause("modified", after=datetime(2023, 1, 1, tzinfo=UTC)),
        }.items():
            scope = Scope((clause,))
            median = timed(name, lambda q, scope=scope: find(q, scope), asked)
            print(f"  {'':<34} {median / whole:6.2f} of unfiltered")
        embedder.min_similarity = 0.0
        timed("unfiltered, half of all alike", find, asked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="leave the index here, and use it the next time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        corpus = passages(options.passages)
        embedder = Subjects()
        file = VectorFile(folder / "vectors" / f"{embedder.name}.v2")
        if not file.path.exists():
            asyncio.run(write(TantivyStore(folder, SystemClock()), corpus))
            fill(file, embedder, corpus)
        measure_opening(file.path)
        compare(folder, file, embedder, corpus)


if __name__ == "__main__":
    main()
