"""Another process at the index: `python -m tests.fakes.index_process write|hold FOLDER`.

`write` adds documents without end, a commit each, and prints the number of each once it is
committed; `hold` takes the lock, says so, and keeps it until its input ends.
"""

import asyncio
import itertools
import sys
from pathlib import Path

from judge.adapters.system_clock import SystemClock
from judge.adapters.tantivy_writer import TantivyStore
from judge.search.code_words import code_words
from tests.fakes.passages import document


async def write(store: TantivyStore) -> None:
    async with store.writing() as writer:
        for number in itertools.count():
            await writer.replace([document(f"robot number{number}", "more", id=f"d{number}")])
            await writer.commit()
            print(number, flush=True)  # noqa: T201 - this is what the test reads


async def hold(store: TantivyStore) -> None:
    async with store.writing():
        print("held", flush=True)  # noqa: T201 - see above
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    task = {"write": write, "hold": hold}[sys.argv[1]]
    asyncio.run(task(TantivyStore(Path(sys.argv[2]), code_words, SystemClock())))
