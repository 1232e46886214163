import socket
import sys
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from qdrant_client import AsyncQdrantClient

from judge.adapters.index.qdrant import QdrantIndex
from judge.bootstrap.corpus import open_qdrant
from judge.errors import ConfigurationError, IndexUnavailable
from judge.library.search.query import parse_query
from judge.types.search import EVERYWHERE, Scope
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.passages import document

pytestmark = pytest.mark.filterwarnings(
    "ignore:Payload indexes have no effect",
)


@pytest.fixture
async def client():
    client = AsyncQdrantClient(":memory:")
    yield client
    await client.close()


def index_of(client, embedder):
    return QdrantIndex(client, "memory", embedder)


async def add(client, embedder, *documents):
    store = QdrantIndex(client, "memory", embedder)
    async with store.writing() as writer:
        await writer.replace(documents)
        await writer.commit()


async def find(index, text):
    return await index.search(parse_query(text), Scope(), limit=10)


HARBOUR = (
    document("The ferry leaves at noon.", id="ferry", collection="harbour"),
    document("A vessel must keep to the right.", id="vessel", collection="harbour"),
    document("Flour and water make bread.", id="bread", collection="kitchen"),
)


async def test_writing_with_another_embedder_says_what_to_do(client):
    await add(client, FakeEmbedder(), *HARBOUR)

    with pytest.raises(ConfigurationError, match="JUDGE_EMBEDDER asks for other-4, text"):
        await add(client, FakeEmbedder("other-4"), *HARBOUR)


async def test_partly_written_document_is_not_listed(client, monkeypatch):
    """The last upsert of passages is interrupted, as by a kill."""
    monkeypatch.setattr("judge.adapters.index.qdrant.BATCH", 1)
    broken = _BrokenUpserts(client, whole=1)

    with pytest.raises(ConnectionError):
        await add(broken, None, document("first", "second", id="d"))

    index = index_of(client, None)
    assert await index.documents("default") == ()
    await add(client, None, document("first", "second", id="d"))
    assert len(await index.documents("default")) == 1


class _BrokenUpserts:
    """A client whose connection drops after so many upserts."""

    def __init__(self, client, whole):
        self._client = client
        self._left = whole

    def __getattr__(self, name):
        return getattr(self._client, name)

    async def upsert(self, *args, **kwargs):
        if not self._left:
            raise ConnectionError
        self._left -= 1
        return await self._client.upsert(*args, **kwargs)


@pytest.mark.parametrize(
    "ask",
    [
        lambda index: index.window("a/b:0"),
        lambda index: index.collections(),
        lambda index: index.documents("a"),
        lambda index: index.names("tag"),
        lambda index: index.contains(EVERYWHERE),
        lambda index: find(index, "robot"),
    ],
)
async def test_unreachable_server_is_named(ask, unused_tcp_port):
    url = f"http://127.0.0.1:{unused_tcp_port}"
    async with opened(url) as qdrant:
        with pytest.raises(IndexUnavailable, match=f"Cannot connect to Qdrant at {url}: "):
            await ask(qdrant.index)


async def test_missing_package_is_a_configuration_error(monkeypatch):
    monkeypatch.delitem(sys.modules, "judge.adapters.index.qdrant", raising=False)
    monkeypatch.setitem(sys.modules, "qdrant_client", None)

    with pytest.raises(ConfigurationError, match=r"the extra `judge\[qdrant\]`"):
        async with opened("http://127.0.0.1:6333"):
            pass


def opened(url):
    return open_qdrant(url, None, None)


@pytest.fixture
def unused_tcp_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
async def refusing() -> AsyncIterator[tuple[str, list[str | None]]]:
    """The address of a server that refuses all, and the keys that it was sent."""
    keys: list[str | None] = []

    async def refuse(request):
        keys.append(request.headers.get("api-key"))
        return web.json_response({"status": "no"}, status=403)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", refuse)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}", keys
    await runner.cleanup()


async def test_refusal_of_the_server_is_reported_with_its_status(refusing):
    url, keys = refusing
    async with open_qdrant(url, "key", None) as qdrant:
        with pytest.raises(IndexUnavailable, match="answered with status 403"):
            await qdrant.catalogue.contains(EVERYWHERE)
    assert keys == ["key"]
