import json
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx
import pytest

from judge.adapters.embedders.services import (
    ATTEMPTS,
    BACKOFF_S,
    FAILURE_TTL_S,
    MAX_WAIT_S,
    BatchEmbedder,
    cohere_embedder,
    gemini_embedder,
)
from judge.adapters.models.failure import ModelFailure
from judge.adapters.models.gemini import GeminiClient
from judge.errors import EmbedderUnavailable
from tests.fakes.clock import FakeClock


class Sleeps(list):
    """A sleep that records its durations and returns at once."""

    async def __call__(self, seconds):
        self.append(seconds)


class FakeCohere:
    """Cohere's v2 embed API: fails as scripted, then returns vectors of the texts' lengths."""

    def __init__(self, *script):
        self.script = list(script)
        self.requests = []
        self.keys = []
        self.sleeps = Sleeps()

    def answer(self, request):
        body = json.loads(request.content)
        self.requests.append(body)
        self.keys.append(request.headers["Authorization"])
        if self.script:
            planned = self.script.pop(0)
            if isinstance(planned, Exception):
                raise planned
            return planned
        vectors = [[float(len(text)), 1.0] for text in body["texts"]]
        return httpx.Response(200, json={"embeddings": {"float": vectors}})

    @asynccontextmanager
    async def embedder(self):
        async with httpx.AsyncClient(transport=httpx.MockTransport(self.answer)) as client:
            yield replace(cohere_embedder(client, "secret"), sleep=self.sleeps)


async def test_cohere_is_told_the_purpose_and_sent_batches_in_order():
    fake = FakeCohere()
    texts = ["x" * n for n in range(1, 250)]

    async with fake.embedder() as embedder:
        vectors = await embedder.embed_passages(texts)
        assert await embedder.embed_query("abc") == [3.0, 1.0]

    assert [vector[0] for vector in vectors] == [float(len(text)) for text in texts]
    assert [len(request["texts"]) for request in fake.requests] == [8, 16, 32, 64, 96, 33, 1]
    purposes = [request["input_type"] for request in fake.requests]
    assert purposes == ["search_document"] * 6 + ["search_query"]
    assert fake.requests[0]["output_dimension"] == 1024
    assert fake.keys[0] == "Bearer secret"


@pytest.mark.parametrize(
    "failure",
    [
        httpx.Response(503),
        httpx.ConnectError("no"),
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json={"embeddings": []}),
        httpx.Response(200, json={"embeddings": {"float": None}}),
        httpx.Response(200, json={"embeddings": {"float": [1.0]}}),
    ],
)
async def test_transient_failure_is_retried_after_a_pause(failure):
    fake = FakeCohere(failure)

    async with fake.embedder() as embedder:
        assert await embedder.embed_passages(["abc"]) == [[3.0, 1.0]]

    assert fake.sleeps == [BACKOFF_S]


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [
        ("7", 7.0),
        ("900", MAX_WAIT_S),
        ("Fri, 31 Dec 2100 23:59:59 GMT", MAX_WAIT_S),
        ("soon", BACKOFF_S),
        ("nan", BACKOFF_S),
    ],
)
async def test_retry_after_is_respected_up_to_a_limit(header, wait_s):
    fake = FakeCohere(httpx.Response(429, headers={"Retry-After": header}))

    async with fake.embedder() as embedder:
        await embedder.embed_passages(["abc"])

    assert fake.sleeps == [wait_s]


@pytest.mark.parametrize(("status", "requests"), [(500, ATTEMPTS["passages"]), (401, 1)])
async def test_lasting_failure_is_reported_with_its_status_without_the_texts(status, requests):
    fake = FakeCohere(*[httpx.Response(status, text="secret words")] * 9)

    async with fake.embedder() as embedder:
        with pytest.raises(EmbedderUnavailable) as caught:
            await embedder.embed_passages(["secret words"])

    assert str(caught.value) == f"Cohere made no vectors (status {status})."
    assert len(fake.requests) == requests


@pytest.mark.parametrize(("wait", "sleeps"), [("1", [1.0]), ("30", [])])
async def test_query_does_not_wait_for_a_long_retry_after(wait, sleeps):
    fake = FakeCohere(*[httpx.Response(429, headers={"Retry-After": wait})] * 9)

    async with fake.embedder() as embedder:
        with pytest.raises(EmbedderUnavailable, match="status 429"):
            await embedder.embed_query("abc")

    assert fake.sleeps == sleeps


@pytest.mark.parametrize("vectors", [[[1.0]], [[1.0], []], []])
async def test_fewer_vectors_than_texts_are_an_error(vectors):
    fake = FakeCohere(httpx.Response(200, json={"embeddings": {"float": vectors}}))

    async with fake.embedder() as embedder:
        with pytest.raises(EmbedderUnavailable, match="for 2 texts"):
            await embedder.embed_passages(["a", "b"])


async def test_batch_without_an_answer_in_time_is_halved():
    fake = FakeCohere(*[TimeoutError()] * 2)

    async with fake.embedder() as embedder:
        assert len(await embedder.embed_passages(["abc"] * 9)) == 9

    assert [len(request["texts"]) for request in fake.requests] == [8, 4, 2, 4, 3]
    assert fake.sleeps == []


async def test_service_timeout_is_unavailable():
    fake = FakeCohere(*[TimeoutError()] * 9)

    async with fake.embedder() as embedder:
        with pytest.raises(EmbedderUnavailable, match="no answer in time"):
            await embedder.embed_query("abc")


async def test_gemini_that_cannot_be_started_is_unavailable(monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    embedder = replace(gemini_embedder(GeminiClient("key")), sleep=Sleeps())

    with pytest.raises(EmbedderUnavailable, match=r"Gemini made no vectors \(FileNotFoundError\)"):
        await embedder.embed_query("abc")


async def test_failed_service_is_not_called_for_a_while():
    answers, clock = [ModelFailure("it is down", may_retry=False), [[1.0]]], FakeClock()

    async def ask(texts, purpose):
        return answers.pop(0)

    embedder = BatchEmbedder("m", 0.5, "A service", 8, ask, clock=clock.monotonic)
    for _ in range(2):
        with pytest.raises(EmbedderUnavailable, match="it is down"):
            await embedder.embed_query("boat")
    clock.advance(FAILURE_TTL_S)

    assert await embedder.embed_query("boat") == [1.0]
