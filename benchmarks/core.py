"""What the pure core of a judgement costs, step by step: microseconds of CPU a request.

    python -m benchmarks.core [--requests 100] [--rounds 8]

Uses the shipped sources file, pages and distinct disputes of `overhead_load.py`, and a model that
replies at once. Since the machine is shared, each step of a dispute counts as in its fastest round,
with warm caches of texts. To compare two versions, run them in turns.
"""

import argparse
import asyncio
import gc
import time
from collections import defaultdict
from itertools import islice, pairwise

from benchmarks.overhead_load import LENGTHS, SOURCES, disputes, fill_store, reply_to
from judge.adapters.journal import Journals
from judge.adapters.memory import MemoryCache, MemoryLock, SystemClock
from judge.bootstrap.sources import compile_knowledge, read_sources
from judge.judging.care import find_safety
from judge.judging.domains import detect_domain
from judge.judging.model_caller import Deadline
from judge.judging.references import ReferenceCollector
from judge.judging.results import Attempt, Knowledge, PreparedRequest, build_result
from judge.judging.verdicts.check import check_reply
from judge.library.dispute import read_dispute
from judge.library.pages.retriever import SnippetRetriever
from judge.types.references import CitablePassages
from judge.types.replies import ModelReply
from judge.types.requests import JudgeRequest

STEPS = ("dispute", "domain", "references", "safety", "prompt", "check", "result")


async def judge(
    request: JudgeRequest, known: Knowledge, references: ReferenceCollector
) -> list[int]:
    """The nanoseconds of CPU that each step took."""
    clock = SystemClock()
    deadline = Deadline.after(30, clock)
    times = [time.process_time_ns()]
    dispute = read_dispute(request.context, request.query)
    times.append(time.process_time_ns())
    detection = detect_domain(known.detector, dispute)
    times.append(time.process_time_ns())
    collected = await references.collect(
        dispute, detection.domain, CitablePassages(), known.catalog
    )
    times.append(time.process_time_ns())
    safety = find_safety(known.safety, dispute)
    times.append(time.process_time_ns())
    prepared = PreparedRequest(
        request, known, detection, safety, deadline, False, collected, clock.monotonic()
    )
    prompt = prepared.prompt()
    times.append(time.process_time_ns())
    reply = ModelReply(reply_to(prompt.text), "fake")
    replied = time.process_time_ns() - times[-1]
    checked = check_reply(reply, prompt)
    times.append(time.process_time_ns() - replied)
    build_result("1", prepared, [Attempt(reply, checked, False)])
    times.append(time.process_time_ns() - replied)
    return [after - before for before, after in pairwise(times)]


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=8)
    options = parser.parse_args()
    known, clock = compile_knowledge(*read_sources(SOURCES)), SystemClock()
    retriever = SnippetRetriever(None, MemoryCache(clock), MemoryLock(clock), clock, Journals())
    await fill_store(retriever.store)
    await retriever.indexed(known.catalog)
    gc.collect()
    gc.freeze()
    for kind in LENGTHS:
        best: dict[tuple[int, str], int] = defaultdict(lambda: 10**12)
        for _ in range(options.rounds):
            for number, told in enumerate(islice(disputes(kind, 1), options.requests)):
                request = JudgeRequest(**told)
                took = await judge(request, known, ReferenceCollector(retriever))
                for step, one in zip(STEPS, took, strict=True):
                    best[number, step] = min(best[number, step], one)
        sums = {step: sum(v for (_, s), v in best.items() if s == step) for step in STEPS}
        each = {step: round(taken / options.requests / 1000) for step, taken in sums.items()}
        print(f"{kind}: {sum(each.values())} us;", *(f"{s} {us}" for s, us in each.items()))


if __name__ == "__main__":
    asyncio.run(main())
