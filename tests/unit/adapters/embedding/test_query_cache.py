"""Questions are embedded once, and a service that fails is left alone for a while."""

import asyncio

import pytest

from judge.adapters.embedding.query_cache import FAILURE_TTL_S, MAX_QUERIES, QueryVectorCache
from judge.errors import EmbedderUnavailable
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import FakeEmbedder

QUERY = ("query", 1)


async def test_question_is_embedded_once():
    embedder = FakeEmbedder()
    vectors = QueryVectorCache(embedder, FakeClock())

    assert await vectors.embed_query("boat") == await vectors.embed_query("boat")
    await vectors.embed_query("bread")

    assert embedder.calls == [QUERY, QUERY]


async def test_question_that_many_ask_at_once_is_embedded_once():
    embedder = FakeEmbedder()
    vectors = QueryVectorCache(embedder, FakeClock())

    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(vectors.embed_query("boat")) for _ in range(5)]

    assert {tuple(task.result()) for task in asked} == {(1.0, 0.0, 0.0, 0.0)}
    assert embedder.calls == [QUERY]


async def test_closing_gives_up_what_is_being_asked():
    class Silent(FakeEmbedder):
        async def embed_query(self, text):
            await asyncio.Event().wait()

    vectors = QueryVectorCache(Silent(), FakeClock())
    asking = asyncio.create_task(vectors.embed_query("boat"))
    await asyncio.sleep(0)
    await vectors.aclose()

    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_question_asked_longest_ago_is_forgotten():
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


async def test_no_word_of_a_question_is_kept():
    vectors = QueryVectorCache(FakeEmbedder(), FakeClock())
    await vectors.embed_query("boat")

    assert "boat" not in repr(vars(vectors))


async def test_service_that_failed_is_not_asked_for_a_while():
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


async def test_the_rest_is_the_embedders():
    embedder = FakeEmbedder()
    vectors = QueryVectorCache(embedder, FakeClock())

    assert (vectors.name, vectors.min_similarity) == ("fake-4", 0.5)
    assert await vectors.embed_passages(["loaf"]) == [[0.0, 1.0, 0.0, 0.0]]
