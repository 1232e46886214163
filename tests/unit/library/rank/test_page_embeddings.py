"""With an embedder pages are also ranked by meaning; if it fails, by words alone."""

import asyncio
import base64
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.adapters.memory import MemoryCache, MemoryLock
from judge.bootstrap.services import open_services
from judge.judging.references import ReferenceCollector
from judge.library.dispute import read_dispute
from judge.library.pages.retriever import ReadAhead
from judge.library.rank import page_embeddings as module
from judge.library.rank.page_embeddings import PageEmbeddings
from judge.library.sources.catalog import parse_sources
from judge.settings import Settings
from judge.types.references import CitablePassages
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.fetcher import ScriptedFetcher
from tests.fakes.journal import RecordingJournal
from tests.fakes.pipeline import text_retriever

BERTH, LOAF = "https://a.example/berth", "https://a.example/loaf"
TEXTS = {
    BERTH: "A xebec at its gantline and capstan is kept from snow and storms by the wharfinger.",
    LOAF: "A bakery pays for its gantline and capstan; it sells there.",
}
CATALOG = parse_sources(
    "[domains.tenancy]\nterms = { landlord = 3 }\n"
    + "".join(
        f'[[domains.tenancy.sources]]\nurl = "{url}"\ntitle = "Keeping and paying"\n'
        for url in (LOAF, BERTH)
    )
)


class World:
    """A process with a shared cache, with or without an embedder."""

    def __init__(self, other: "World | None" = None, *, embeds: bool = True) -> None:
        self.clock, self.journal = FakeClock(), RecordingJournal()
        self.fetcher, self.embedder = ScriptedFetcher(), FakeEmbedder()
        for url, text in TEXTS.items():
            self.fetcher.page(url, text)
        self.retriever = text_retriever(self.fetcher, self.clock, self.journal)
        self.cache = other.cache if other else MemoryCache(self.clock)
        self.lock = other.lock if other else MemoryLock(self.clock)
        self.embeddings = PageEmbeddings(self.embedder, self.cache, self.lock, self.journal)
        self.used = self.embeddings if embeds else None
        self.ahead = ReadAhead(self.retriever, lambda: CATALOG, self.journal, 0.0, self.used)
        self.collector = ReferenceCollector(self.retriever, embeddings=self.used)

    async def offered(self, dispute: str) -> list[str]:
        collected = await self.collector.collect(
            read_dispute(dispute, "Who keeps it?"),
            "tenancy",
            CitablePassages(),
            CATALOG,
        )
        return [one.url for one in collected.references]


DISPUTE = "I pay for the gantline and the capstan of my dhow."
"""LOAF has more of its words, but BERTH its meaning: only the embedder knows that a dhow and a
xebec are alike."""


async def test_page_nearest_in_meaning_comes_first():
    world, alone = World(), World(embeds=False)
    await world.ahead.run_once()
    await alone.ahead.run_once()
    assert await alone.offered(DISPUTE) == [LOAF, BERTH]
    assert await world.offered(DISPUTE) == [BERTH, LOAF]
    assert world.embedder.calls == [("passages", 2), ("query", 1)]


async def test_page_is_embedded_once_across_processes():
    first = World()
    await first.ahead.run_once()
    await first.ahead.run_once()
    second = World(first)
    await second.ahead.run_once()
    assert first.embedder.calls == [("passages", 2)]
    assert second.embedder.calls == []
    assert await second.embeddings.similarities("a ferry") == {BERTH: 1.0, LOAF: 2 / 3}


@pytest.mark.parametrize("moment", ["while pages are read", "while somebody waits"])
async def test_pages_are_ranked_by_words_if_the_embedder_fails(moment):
    world, alone = World(), World(embeds=False)
    world.embedder.is_down = moment == "while pages are read"
    await world.ahead.run_once()
    await alone.ahead.run_once()
    world.embedder.is_down = True
    assert await world.offered(DISPUTE) == await alone.offered(DISPUTE)
    assert world.journal.fields_of("pages.words_only")[0] == {"error": "EmbedderUnavailable"}


async def test_slow_embedder_is_abandoned():
    class Slow(FakeEmbedder):
        async def embed_query(self, text):
            await asyncio.Event().wait()
            return await super().embed_query(text)

    world = World()
    await world.ahead.run_once()
    world.embeddings.embedder, world.embeddings.budget_s = Slow(), 0.0
    assert await world.embeddings.similarities("a ferry") == {}
    assert world.journal.fields_of("pages.words_only") == [{"error": "TimeoutError"}]


@pytest.mark.parametrize(("embedder", "joins"), [("gemini", True), ("none", False), (None, False)])
async def test_disputes_are_embedded_only_if_an_embedder_is_configured(tmp_path, embedder, joins):
    settings = Settings(
        _env_file=None, GEMINI_API_KEY="key", JUDGE_EMBEDDER=embedder, JUDGE_DATA_DIR=str(tmp_path)
    )
    async with open_services(settings, RecordingJournal()) as services:
        collector, ahead = services.pipeline.references, services.read_ahead.__self__
    assert (collector.embeddings is not None) == joins
    assert ahead.embeddings is collector.embeddings


@given(st.text() | st.binary().map(lambda some: base64.b64encode(some).decode()))
def test_invalid_vector_is_ignored(text):
    found = module._decoded(text)
    encoded = base64.b64encode(array("f", found or ()).tobytes()).decode()
    assert found is None or encoded.rstrip("=") == text.rstrip("=")
