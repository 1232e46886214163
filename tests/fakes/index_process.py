"""A second index process: `python -m tests.fakes.index_process write|embed|hold|fill FOLDER`.

`write` adds documents without end, a commit each, and prints the number of each once it is
committed; `embed` does so with vectors; `hold` takes the lock, prints `held`, and keeps it until
its input ends; `fill` exceeds the size limit of files, and prints the error.
"""

import asyncio
import itertools
import resource
import signal
import sys
from pathlib import Path

from judge.adapters.index.tantivy.index import TantivyIndex
from judge.adapters.index.tantivy.writer import TantivyStore
from judge.adapters.system_clock import SystemClock
from judge.bootstrap.corpus import open_vectors
from judge.errors import IndexUnavailable
from judge.ports import VectorStorage, WritableIndex
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.journal import RecordingJournal
from tests.fakes.passages import document


async def write(store: WritableIndex, vectors: VectorStorage | None = None) -> None:
    for number in itertools.count():
        async with store.writing() as writer:
            await writer.replace([document(f"robot number{number}", "more", id=f"d{number}")])
            await writer.commit()
        if vectors:
            await vectors.complete(lambda _count: None)
        print(number, flush=True)  # noqa: T201 - this is what the test reads


async def embed(store: TantivyStore) -> None:
    folder = Path(sys.argv[2])
    index = TantivyIndex(folder)
    engine = open_vectors(folder, index, store, FakeEmbedder(), RecordingJournal())
    await write(store, engine.vectors)


async def hold(store: WritableIndex) -> None:
    async with store.writing():
        print("held", flush=True)  # noqa: T201 - see above
        await asyncio.to_thread(sys.stdin.read)


async def fill(store: WritableIndex) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
    words = " ".join(f"robot{number * number}" for number in range(20_000))
    try:
        async with store.writing() as writer:
            await writer.replace([document(words, id="large")])
            await writer.commit()
    except IndexUnavailable as error:
        print(error, flush=True)  # noqa: T201 - see above


if __name__ == "__main__":
    task = {"write": write, "embed": embed, "hold": hold, "fill": fill}[sys.argv[1]]
    asyncio.run(task(TantivyStore(Path(sys.argv[2]), SystemClock())))
