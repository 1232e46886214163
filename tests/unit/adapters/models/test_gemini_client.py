"""The shared client of Google's SDK: opened once, reopened after a failure, with proxies."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from aiohttp import web

from judge.adapters.embedders.services import gemini_embedder
from judge.adapters.models.gemini import GeminiClient, GeminiService
from judge.adapters.models.remote import RemoteModel
from judge.types.replies import Prompt
from judge.types.requests import JudgeRequest
from tests.fakes.gemini import text
from tests.fakes.journal import RecordingJournal

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def client() -> AsyncIterator[GeminiClient]:
    client = GeminiClient("key")
    yield client
    await client.aclose()


async def test_cancelled_caller_does_not_stop_the_opening(client):
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.0):
            await client.open()
    opening = client._opening

    assert await client.open() is (await opening)[0]


async def test_callers_that_fail_together_share_one_new_client(client, monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))

    async def open_at_second_try():
        with pytest.raises(FileNotFoundError):
            await client.open()
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        return await client.open()

    async with asyncio.TaskGroup() as group:
        first, second = (group.create_task(open_at_second_try()) for _ in range(2))

    assert first.result() is second.result()


class Proxy:
    """A proxy that answers for every host, and records the hosts."""

    def __init__(self) -> None:
        self.hosts: list[str] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.hosts.append(request.host)
        if request.path.endswith(":batchEmbedContents"):
            return web.json_response({"embeddings": [{"values": [1.0]}]})
        return web.Response(body=text("{}").body, content_type="application/json")


@pytest_asyncio.fixture(loop_scope="module")
async def proxy(monkeypatch) -> AsyncIterator[Proxy]:
    proxy = Proxy()
    app = web.Application()
    app.router.add_post("/{path:.*}", proxy.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{runner.addresses[0][1]}")
    monkeypatch.setenv("no_proxy", "localhost")
    yield proxy
    await runner.cleanup()


async def test_judging_and_embedding_go_through_the_proxy_of_the_environment(proxy):
    client = GeminiClient("key", "http://gemini.example")
    journal = RecordingJournal()
    service = GeminiService(client, journal, name="m", reply_schema=lambda _: {}, thinking="low")
    model = RemoteModel(service, journal)
    prompt = Prompt(
        "Judge.", "Who is right?", JudgeRequest(context="The sink is full.", query="Is it me?")
    )

    await model.complete(prompt, timeout_s=10, doubles_limit=False)
    assert await gemini_embedder(client).embed_query("sink") == [1.0]

    assert proxy.hosts == ["gemini.example", "gemini.example"]
    await client.aclose()
