"""Every embedder keeps the promises of the port: the services on fakes, and a table of words."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import sqrt

import httpx
import pytest
from aiohttp import web

from judge.adapters.embedding.cohere import cohere_embedder
from judge.adapters.embedding.static_model import StaticEmbedder
from judge.adapters.gemini.client import GeminiClient
from judge.adapters.gemini.embedder import gemini_embedder
from judge.adapters.openai.client import open_client
from judge.adapters.openai.embedder import openai_embedder
from judge.errors import ConfigurationError, EmbedderUnavailable
from judge.ports import Embedder
from tests.fakes.embedder import FakeEmbedder, subjects_of
from tests.fakes.static_model import make_model


@dataclass
class World:
    """An embedder, how to break what it needs, and what was sent to its service."""

    embedder: Embedder
    break_it: Callable[[], None]
    sent: list[dict] = field(default_factory=list)


async def no_sleep(_: float) -> None: ...


@asynccontextmanager
async def static(tmp_path) -> AsyncIterator[World]:
    folder = make_model(tmp_path / "tiny")
    yield World(StaticEmbedder(folder), (folder / "model.safetensors").unlink)


@asynccontextmanager
async def quantised(tmp_path) -> AsyncIterator[World]:
    folder = make_model(tmp_path / "small", vocabulary_only=True)
    yield World(StaticEmbedder(folder), (folder / "model.safetensors").unlink)


@asynccontextmanager
async def openai(_) -> AsyncIterator[World]:
    def embeddings(body: dict) -> dict:
        vectors = [
            {"index": at, "embedding": subjects_of(text)} for at, text in enumerate(body["input"])
        ]
        return {"object": "list", "data": vectors[::-1]}

    async with serving(embeddings) as (url, sent, break_it):
        client = open_client(f"{url}/v1")
        yield World(openai_embedder(client, "tiny", "", sleep=no_sleep), break_it, sent)
        await client.aclose()


@asynccontextmanager
async def gemini(_) -> AsyncIterator[World]:
    def embeddings(body: dict) -> dict:
        texts = [item["content"]["parts"][0]["text"] for item in body["requests"]]
        return {"embeddings": [{"values": subjects_of(text)} for text in texts]}

    async with serving(embeddings) as (url, sent, break_it):
        client = GeminiClient("key", url)
        yield World(gemini_embedder(client, sleep=no_sleep), break_it, sent)
        await client.aclose()


@asynccontextmanager
async def cohere(_) -> AsyncIterator[World]:
    broken: list[bool] = []
    sent: list[dict] = []

    def answer(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        sent.append(body)
        vectors = [subjects_of(text) for text in body["texts"]]
        return httpx.Response(500 if broken else 200, json={"embeddings": {"float": vectors}})

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        embedder = cohere_embedder(client, "key", sleep=no_sleep)
        yield World(embedder, lambda: broken.append(True), sent)


@asynccontextmanager
async def fake(_) -> AsyncIterator[World]:
    embedder = FakeEmbedder()

    def break_it() -> None:
        embedder.is_down = True

    yield World(embedder, break_it)


@asynccontextmanager
async def serving(answer: Callable[[dict], dict]):
    """A server on loopback that gives what *answer* makes of a body, and status 500 once broken."""
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
async def world(request, tmp_path) -> AsyncIterator[World]:
    async with KINDS[request.param](tmp_path) as made:
        yield made


def cosine(one: list[float], other: list[float]) -> float:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    return dot / sqrt(sum(a * a for a in one) * sum(b * b for b in other))


async def test_texts_about_one_subject_are_near_and_others_are_not(world):
    boat, bread = await world.embedder.embed_passages(["The ferry and a ship", "flour for bread"])
    asked = await world.embedder.embed_query("boat")

    assert cosine(asked, boat) >= world.embedder.min_similarity > cosine(asked, bread)


async def test_vectors_come_in_the_order_of_the_texts_and_are_of_one_length(world):
    texts = ["boat"] * 70 + ["bread"] * 70 + ["", "nothing of that"]
    vectors = await world.embedder.embed_passages(texts)

    assert len(vectors) == len(texts)
    assert len({len(vector) for vector in vectors}) == 1
    assert vectors[0] == vectors[69] != vectors[70] == vectors[139]


async def test_no_texts_are_no_vectors(world):
    assert await world.embedder.embed_passages([]) == []


async def test_name_may_be_part_of_a_file_name_and_tells_models_apart(world):
    assert 3 < len(world.embedder.name) < 100


async def test_failure_is_unavailable_and_repeats_no_word_of_the_text(world):
    world.break_it()

    for ask in (world.embedder.embed_query("secret"), world.embedder.embed_passages(["secret"])):
        with pytest.raises(EmbedderUnavailable) as caught:
            await ask
        assert "secret" not in str(caught.value)


async def test_openai_server_is_asked_as_its_protocol_says(tmp_path):
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


def test_models_of_one_name_but_other_weights_are_told_apart(tmp_path):
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
    one = make_model(tmp_path / "a" / "tiny")
    other = make_model(tmp_path / "b" / "tiny", vocabulary_only=True)

    assert StaticEmbedder(one).name != StaticEmbedder(other).name
