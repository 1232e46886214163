"""The contract of search engines with an embedder (hybrid search)."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from qdrant_client import AsyncQdrantClient

from judge.adapters.index.qdrant import QdrantIndex
from judge.adapters.index.tantivy.index import TantivyIndex
from judge.adapters.index.tantivy.writer import TantivyStore
from judge.bootstrap.corpus import open_vectors
from judge.library.search.query import parse_query
from judge.ports import Embedder, SearchIndex, VectorStorage, WritableIndex
from judge.types.search import Clause, Scope
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.journal import RecordingJournal
from tests.fakes.passages import document

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect")

HARBOUR = (
    document("The ferry leaves at noon.", id="ferry", collection="harbour"),
    document("A vessel must keep to the right.", id="vessel", collection="harbour"),
    document("Flour and water make bread.", id="bread", collection="kitchen"),
)


@dataclass
class Engine:
    """An index with an embedder; `plain` writes to the same index without one."""

    index: SearchIndex
    store: WritableIndex
    plain: WritableIndex
    embedder: FakeEmbedder
    vectors: VectorStorage | None = None

    async def add(self, *documents, store=None):
        async with (store or self.store).writing() as writer:
            await writer.replace(documents)
            await writer.commit()
        if self.vectors and not store:
            await self.vectors.complete(lambda _count: None)

    async def find(self, text, *clauses, limit=10, offset=0):
        return await self.index.search(
            parse_query(text), Scope(clauses), limit=limit, offset=offset
        )

    async def ids(self, text, *clauses, limit=10, offset=0):
        results = await self.find(text, *clauses, limit=limit, offset=offset)
        return [hit.passage.document_id for hit in results.hits]


@asynccontextmanager
async def tantivy_engine(folder) -> AsyncIterator[Engine]:
    embedder = FakeEmbedder()
    index = TantivyIndex(folder)
    store = TantivyStore(folder, FakeClock())
    vectors = open_vectors(folder, index, store, embedder, RecordingJournal())
    yield Engine(vectors.index, store, store, embedder, vectors.vectors)


@asynccontextmanager
async def qdrant_engine(_) -> AsyncIterator[Engine]:
    client = AsyncQdrantClient(":memory:")
    embedder = FakeEmbedder()
    index = QdrantIndex(client, "memory", embedder)

    def store(embedder: Embedder | None) -> QdrantIndex:
        return QdrantIndex(client, "memory", embedder)

    yield Engine(index, store(embedder), store(None), embedder)
    await client.close()


ENGINES: dict[str, Callable] = {"tantivy": tantivy_engine, "qdrant": qdrant_engine}


@pytest.fixture(params=ENGINES)
async def empty(request, tmp_path) -> AsyncIterator[Engine]:
    async with ENGINES[request.param](tmp_path) as engine:
        yield engine


@pytest.fixture
async def engine(empty) -> Engine:
    await empty.add(*HARBOUR)
    return empty


async def test_vector_search_finds_what_keywords_miss(engine):
    results = await engine.find("boat")

    assert sorted(hit.passage.document_id for hit in results.hits) == ["ferry", "vessel"]
    assert results.total == 2
    assert results.warnings == ()


async def test_passage_found_by_keywords_and_vectors_comes_first(engine):
    assert await engine.ids("vessel") == ["vessel", "ferry"]


async def test_vector_search_respects_scope_phrases_and_exclusions(engine):
    assert await engine.ids("boat", Clause("collection", ("kitchen",))) == []
    assert await engine.ids("boat", Clause("collection", ("harbour",), is_excluded=True)) == []
    assert await engine.ids("boat", Clause("document", ("ferry",))) == ["ferry"]
    assert await engine.ids("boat -noon") == ["vessel"]
    assert await engine.ids('boat +"keep to the right"') == ["vessel"]


async def test_dissimilar_passages_are_not_found(engine):
    results = await engine.find("robot")

    assert (results.hits, results.total) == ((), 0)


async def test_fused_hits_are_paginated(engine):
    pages = [await engine.ids("vessel", limit=1, offset=offset) for offset in (0, 1, 2)]

    assert pages == [["vessel"], ["ferry"], []]


async def test_fused_scores_are_by_reciprocal_rank(engine):
    scores = [hit.score for hit in (await engine.find("vessel")).hits]

    # First by keywords; by vectors both are equally near, so their order may vary.
    assert scores[0] in (pytest.approx(1 / 2 + 1 / 2), pytest.approx(1 / 2 + 1 / 3))
    assert scores[1] in (pytest.approx(1 / 3), pytest.approx(1 / 2))


async def test_passage_in_scope_is_found_despite_many_nearer_ones_outside(empty):
    crowd = [document("boat ship vessel", id=f"d{n}") for n in range(300)]
    lone = document("a ferry and a loaf", id="lone", tags=("rare",))
    await empty.add(*crowd, lone)

    assert await empty.ids("boat", Clause("tag", ("rare",)), limit=1) == ["lone"]


async def test_vectors_of_replaced_and_removed_passages_are_gone(engine):
    await engine.add(document("Nothing of note.", id="ferry", collection="harbour"))
    async with engine.store.writing() as writer:
        await writer.remove("harbour", ["vessel"])
        await writer.commit()

    assert await engine.ids("boat") == []


async def test_keyword_search_with_a_warning_when_the_embedder_fails(engine):
    engine.embedder.is_down = True

    results = await engine.find("vessel")

    assert [hit.passage.document_id for hit in results.hits] == ["vessel"]
    assert results.warnings == (
        "Only the words were searched, not their meaning: Fake made no vectors (it is down).",
    )


async def test_keyword_search_with_a_warning_when_the_index_has_no_vectors(empty):
    await empty.add(*HARBOUR, store=empty.plain)

    results = await empty.find("vessel")

    assert [hit.passage.document_id for hit in results.hits] == ["vessel"]
    assert "vectors of fake-4" in results.warnings[0]
    assert empty.embedder.calls == []


async def test_empty_index_does_not_call_the_embedder(empty):
    assert (await empty.find("boat")).warnings == ()
    assert (await empty.find("")).warnings == ()
    assert empty.embedder.calls == []
