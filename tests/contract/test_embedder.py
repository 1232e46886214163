"""The contract of Embedder: the services, on fake servers, and the static models."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from math import sqrt

import httpx
import pytest
from aiohttp import web

from judge.adapters.embedders.services import cohere_embedder, gemini_embedder, openai_embedder
from judge.adapters.embedders.static_model import StaticEmbedder
from judge.adapters.models.gemini import GeminiClient
from judge.adapters.models.openai import open_client
from judge.errors import ConfigurationError, EmbedderUnavailable
from judge.ports import Embedder
from tests.fakes.embedder import FakeEmbedder, subjects_of
from tests.fakes.static_model import make_model


@dataclass
class EmbedderUnderTest:
    """An embedder, a function that breaks what it depends on, and the requests to its service."""

    embedder: Embedder
    break_service: Callable[[], None]
    sent: list[dict] = field(default_factory=list)


async def no_sleep(_: float) -> None: ...


@asynccontextmanager
async def static(tmp_path) -> AsyncIterator[EmbedderUnderTest]:
    folder = make_model(tmp_path / "tiny")
    yield EmbedderUnderTest(StaticEmbedder(folder), (folder / "model.safetensors").unlink)


@asynccontextmanager
async def quantised(tmp_path) -> AsyncIterator[EmbedderUnderTest]:
    folder = make_model(tmp_path / "small", vocabulary_only=True)
    yield EmbedderUnderTest(StaticEmbedder(folder), (folder / "model.safetensors").unlink)


@asynccontextmanager
async def openai(_) -> AsyncIterator[EmbedderUnderTest]:
    def embeddings(body: dict) -> dict:
        vectors = [
            {"index": at, "embedding": subjects_of(text)} for at, text in enumerate(body["input"])
        ]
        return {"object": "list", "data": vectors[::-1]}

    async with serving(embeddings) as (url, sent, break_service):
        client = open_client(f"{url}/v1")
        yield EmbedderUnderTest(
            replace(openai_embedder(client, f"{url}/v1", "tiny", ""), sleep=no_sleep),
            break_service,
            sent,
        )
        await client.aclose()


@asynccontextmanager
async def gemini(_) -> AsyncIterator[EmbedderUnderTest]:
    def embeddings(body: dict) -> dict:
        texts = [item["content"]["parts"][0]["text"] for item in body["requests"]]
        return {"embeddings": [{"values": subjects_of(text)} for text in texts]}

    async with serving(embeddings) as (url, sent, break_service):
        client = GeminiClient("key", url)
        yield EmbedderUnderTest(
            replace(gemini_embedder(client), sleep=no_sleep), break_service, sent
        )
        await client.aclose()


@asynccontextmanager
async def cohere(_) -> AsyncIterator[EmbedderUnderTest]:
    broken: list[bool] = []
    sent: list[dict] = []

    def answer(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        sent.append(body)
        vectors = [subjects_of(text) for text in body["texts"]]
        return httpx.Response(500 if broken else 200, json={"embeddings": {"float": vectors}})

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        embedder = replace(cohere_embedder(client, "key"), sleep=no_sleep)
        yield EmbedderUnderTest(embedder, lambda: broken.append(True), sent)


@asynccontextmanager
async def fake(_) -> AsyncIterator[EmbedderUnderTest]:
    embedder = FakeEmbedder()

    def break_service() -> None:
        embedder.is_down = True

    yield EmbedderUnderTest(embedder, break_service)


@asynccontextmanager
async def serving(answer: Callable[[dict], dict]):
    """A server on loopback that replies *answer* of the body, and status 500 once broken."""
    sent: list[dict] = []
    broken: list[bool] = []

    async def handle(request: web.Request) -> web.Response:
        body = await request.json()
        sent.append({"path": request.path, **body})
        return web.json_response(answer(body), status=500 if broken else 200)

    app = web.Application()
    app.router.add_post("/{path:.*}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", sent, lambda: broken.append(True)
    finally:
        await runner.cleanup()


KINDS = {f.__name__: f for f in (static, quantised, openai, gemini, cohere, fake)}


@pytest.fixture(params=KINDS)
async def world(request, tmp_path) -> AsyncIterator[EmbedderUnderTest]:
    async with KINDS[request.param](tmp_path) as made:
        yield made


def cosine(one: list[float], other: list[float]) -> float:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    return dot / sqrt(sum(a * a for a in one) * sum(b * b for b in other))


async def test_texts_about_the_same_subject_are_similar(world):
    boat, bread = await world.embedder.embed_passages(["The ferry and a ship", "flour for bread"])
    asked = await world.embedder.embed_query("boat")

    assert cosine(asked, boat) >= world.embedder.min_similarity > cosine(asked, bread)


async def test_vectors_have_the_order_of_the_texts_and_one_dimension(world):
    texts = ["boat"] * 70 + ["bread"] * 70 + ["", "nothing of that"]
    vectors = await world.embedder.embed_passages(texts)

    assert len(vectors) == len(texts)
    assert len({len(vector) for vector in vectors}) == 1
    assert vectors[0] == vectors[69] != vectors[70] == vectors[139]


async def test_no_texts_give_no_vectors(world):
    assert await world.embedder.embed_passages([]) == []


async def test_failure_raises_embedder_unavailable_without_the_text(world):
    world.break_service()

    for ask in (world.embedder.embed_query("secret"), world.embedder.embed_passages(["secret"])):
        with pytest.raises(EmbedderUnavailable) as caught:
            await ask
        assert "secret" not in str(caught.value)


async def test_unusable_proxy_raises_embedder_unavailable(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:99999")
    url = "http://models.example/v1"
    async with open_client(url) as client:
        with pytest.raises(EmbedderUnavailable):
            await replace(openai_embedder(client, url, "tiny", ""), sleep=no_sleep).embed_query(
                "boiler"
            )


@pytest.mark.parametrize("text", ["boiler", "\udcff"])
@pytest.mark.parametrize("service", ["openai", "gemini", "cohere"])
async def test_key_that_no_header_can_hold_raises_embedder_unavailable(service, text):
    url = "http://127.0.0.1:9/v1"
    async with httpx.AsyncClient() as plain, open_client(url) as client:
        google = GeminiClient("sk‑1", "http://127.0.0.1:9")
        embedder = {
            "openai": lambda: replace(openai_embedder(client, url, "tiny", "sk‑1"), sleep=no_sleep),
            "gemini": lambda: replace(gemini_embedder(google), sleep=no_sleep),
            "cohere": lambda: replace(cohere_embedder(plain, "sk‑1"), sleep=no_sleep),
        }[service]()
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed_query(text)
        await google.aclose()


async def test_gemini_is_told_the_purpose(tmp_path):
    async with gemini(tmp_path) as world:
        await world.embedder.embed_passages(["a"])
        await world.embedder.embed_query("b")

    [passages], [query] = (sent["requests"] for sent in world.sent)
    assert world.sent[0]["path"] == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert (passages["taskType"], query["taskType"]) == ("RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY")
    assert passages["outputDimensionality"] == 768


async def test_openai_request_follows_the_protocol(tmp_path):
    async with openai(tmp_path) as world:
        await world.embedder.embed_passages(["a", "b"])

    assert world.sent == [
        {
            "path": "/v1/embeddings",
            "model": "tiny",
            "input": ["a", "b"],
            "encoding_format": "float",
        }
    ]


@pytest.mark.parametrize("missing", ["model.safetensors", "tokenizer.json"])
def test_folder_without_a_model_says_what_it_needs(tmp_path, missing):
    folder = make_model(tmp_path / "tiny")
    (folder / missing).unlink()

    with pytest.raises(ConfigurationError, match=r"needs model.safetensors and tokenizer.json"):
        StaticEmbedder(folder)


def test_models_with_the_same_name_but_other_weights_have_different_names(tmp_path):
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
    one = make_model(tmp_path / "a" / "tiny")
    other = make_model(tmp_path / "b" / "tiny", vocabulary_only=True)

    assert StaticEmbedder(one).name != StaticEmbedder(other).name
