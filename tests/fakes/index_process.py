"""A second index process: `python -m tests.fakes.index_process write|hold FOLDER`.

`write` adds documents without end, a commit each, and prints the number of each once it is
committed; `hold` takes the lock, prints `held`, and keeps it until its input ends.
"""

import asyncio
import itertools
import sys
from pathlib import Path

from judge.adapters.index.tantivy.writer import TantivyStore
from judge.adapters.memory import SystemClock
from judge.ports import WritableIndex
from tests.fakes.passages import document


async def write(store: WritableIndex) -> None:
    for number in itertools.count():
        async with store.writing() as writer:
            await writer.replace([document(f"robot number{number}", "more", id=f"d{number}")])
            await writer.commit()
        print(number, flush=True)  # noqa: T201 - this is what the test reads


async def hold(store: WritableIndex) -> None:
    async with store.writing():
        print("held", flush=True)  # noqa: T201 - see above
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    task = {"write": write, "hold": hold}[sys.argv[1]]
    asyncio.run(task(TantivyStore(Path(sys.argv[2]), SystemClock())))
