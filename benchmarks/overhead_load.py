"""The load of `overhead.py`: distinct disputes, pages for the shipped sources, a fast model.

All of it is drawn by a seed from the disputes of our tests and the words of the package.

    python -m benchmarks.overhead_load gemini PORT DELAY_MS
"""

import asyncio
import itertools
import json
import random
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from judge.adapters.journal import Journals
from judge.adapters.memory import MemoryCache, SystemClock
from judge.adapters.redis.shared import SharedRedis, connect
from judge.adapters.redis.stores import RedisCache
from judge.bootstrap.sources import compile_knowledge, read_sources
from judge.library.extract.page_passages import PagePassage
from judge.library.pages.approved_pages import requests_of
from judge.library.pages.page_records import PageRecord, SnippetStore
from judge.text.english import source_sentences
from judge.types.references import SourceSpec
from judge.vocabulary.thesaurus import load_thesaurus
from tests.fakes.gemini import FakeGemini, candidate, prompt_of, verdict_for

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "config" / "sources.toml"
LENGTHS = {"short": 450, "long": 7900}
"""Characters of a dispute's context."""

PASSAGES, WORDS = 25, 38
"""Of a page; an average page of guidance has 670 content words."""

SMALL_WORDS = "you must the a to of if your and can for is not in this they should by from".split()


def disputes(kind: str, seed: int) -> Iterator[dict[str, str]]:
    """An endless iterator of distinct requests."""
    told = tomllib.loads((ROOT / "tests/fixtures/disputes.toml").read_text(encoding="utf-8"))
    by_domain = [
        (
            [query for query, _ in pairs],
            [one for _, context in pairs for one in source_sentences(context)],
        )
        for pairs in told.values()
    ]
    rng = random.Random(f"{kind} {seed}")
    while True:
        queries, sentences = rng.choice(by_domain)
        context = ""
        while len(context) < LENGTHS[kind]:
            context += rng.choice(sentences) + " "
        yield {"context": context[: LENGTHS[kind]], "query": rng.choice(queries).ljust(5, "?")}


async def fill_cache(url: str) -> None:
    """Put a page for every shipped source into the Redis at *url*, as if it had been read today."""
    clock = SystemClock()
    redis = SharedRedis(connect(url), clock, Journals())
    await fill_store(SnippetStore(RedisCache(redis, MemoryCache(clock)), clock))
    await redis.aclose()


async def fill_store(store: SnippetStore) -> None:
    """Put a page for every shipped source into *store*, as if it had been read today."""
    catalog = compile_knowledge(*read_sources(SOURCES)).catalog
    words = {domain.name: [t for t, _ in domain.vocabulary.terms] for domain in catalog.domains}
    official = [stem for entry in load_thesaurus().entries for stem in entry.official]
    for request in requests_of(catalog):
        rng = random.Random(request.source.url)
        pool = [*words[request.domain], *rng.choices(official, k=200)]
        passages = tuple(_passages(rng, request.source, pool))
        record = PageRecord(
            passages[0].text, store.clock.now(), request.source.title, passages,
            digest=request.source.url,
        )  # fmt: skip
        await store.put(request, record)


def _passages(rng: random.Random, source: SourceSpec, pool: list[str]) -> Iterator[PagePassage]:
    ours = [*source.title.split(), *source.topics]
    for _ in range(PASSAGES):
        picked = itertools.chain(
            rng.choices(pool, k=WORDS // 3),
            rng.choices(ours, k=2),
            rng.choices(SMALL_WORDS, k=WORDS // 2),
        )
        drawn = list(picked)
        rng.shuffle(drawn)
        half = len(drawn) // 2
        text = f"{' '.join(drawn[:half]).capitalize()}. {' '.join(drawn[half:]).capitalize()}."
        yield PagePassage(rng.choice(ours), text)


class QuickGemini(FakeGemini):
    """Answers each prompt in different words, so that no cached claim is reused."""

    def _next(self, request, body):
        parts = [{"text": reply_to(prompt_of(body))}]
        return candidate({"content": {"role": "model", "parts": parts}, "finishReason": "STOP"})


def reply_to(prompt: str) -> str:
    """A valid reply with words of the dispute in *prompt*."""
    verdict = verdict_for(prompt)
    said = prompt[prompt.rfind("What happened") :].split()
    for place, persona in enumerate(verdict["personas"]):
        words = " ".join(w for w in said[12 + 9 * place : 21 + 9 * place] if w.isalpha())
        persona["rationale"] = f"As to {words}: {persona['rationale']}"
    return json.dumps(verdict)


async def _serve(port: int, delay_ms: float) -> None:
    async with QuickGemini(port=port, delay_s=delay_ms / 1000):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[2]), float(sys.argv[3])))
