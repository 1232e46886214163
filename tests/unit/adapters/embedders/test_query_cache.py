"""Query vectors are cached, and a service that failed is not called for a while."""

import pytest

from judge.adapters.embedders.services import FAILURE_TTL_S, MAX_QUERIES, QueryVectorCache
from judge.errors import EmbedderUnavailable
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import FakeEmbedder

QUERY = ("query", 1)


async def test_query_is_embedded_once():
    embedder = FakeEmbedder()
    vectors = QueryVectorCache(embedder, FakeClock())

    assert await vectors.embed_query("boat") == await vectors.embed_query("boat")
    await vectors.embed_query("bread")

    assert embedder.calls == [QUERY, QUERY]


async def test_least_recently_used_query_is_evicted():
    embedder = FakeEmbedder()
    vectors = QueryVectorCache(embedder, FakeClock())
    for number in range(MAX_QUERIES):
        await vectors.embed_query(f"boat {number}")
    await vectors.embed_query("boat 0")
    await vectors.embed_query("one more")
    embedder.calls.clear()

    await vectors.embed_query("boat 0")
    assert embedder.calls == []
    await vectors.embed_query("boat 1")
    assert embedder.calls == [QUERY]


async def test_cache_does_not_store_query_text():
    vectors = QueryVectorCache(FakeEmbedder(), FakeClock())
    await vectors.embed_query("boat")

    assert "boat" not in repr(vars(vectors))


async def test_failed_service_is_not_called_for_a_while():
    embedder, clock = FakeEmbedder(), FakeClock()
    vectors = QueryVectorCache(embedder, clock)
    embedder.is_down = True
    with pytest.raises(EmbedderUnavailable, match="it is down"):
        await vectors.embed_query("boat")
    embedder.is_down = False

    with pytest.raises(EmbedderUnavailable, match="it is down"):
        await vectors.embed_query("boat")
    clock.advance(FAILURE_TTL_S)

    assert await vectors.embed_query("boat") == [1.0, 0.0, 0.0, 0.0]


async def test_other_members_are_those_of_the_embedder():
    embedder = FakeEmbedder()
    vectors = QueryVectorCache(embedder, FakeClock())

    assert (vectors.name, vectors.min_similarity) == ("fake-4", 0.5)
    assert await vectors.embed_passages(["loaf"]) == [[0.0, 1.0, 0.0, 0.0]]
