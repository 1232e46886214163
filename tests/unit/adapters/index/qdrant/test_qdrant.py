import socket
import sys

import pytest
from qdrant_client import AsyncQdrantClient, models

from judge.adapters.index.qdrant.factory import open_qdrant
from judge.adapters.index.qdrant.index import COLLECTION, QdrantIndex
from judge.adapters.index.qdrant.writer import QdrantWriter
from judge.errors import ConfigurationError, EmbedderUnavailable, IndexUnavailable
from judge.library.search.query import parse_query
from judge.types.search import EVERYWHERE, Scope
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.passages import document

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect")


@pytest.fixture
async def client():
    client = AsyncQdrantClient(":memory:")
    yield client
    await client.close()


def index_of(client, embedder):
    return QdrantIndex(client, "memory", embedder)


async def add(client, embedder, *documents):
    store = QdrantWriter(client, "memory", embedder)
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

    with pytest.raises(ConfigurationError, match="JUDGE_EMBEDDER asks for other-4, terms, text"):
        await add(client, FakeEmbedder("other-4"), *HARBOUR)


async def test_failing_embedder_stops_writing_before_anything_is_changed(client):
    embedder = FakeEmbedder()
    await add(client, embedder, document("old", id="d"))
    embedder.is_down = True

    with pytest.raises(EmbedderUnavailable):
        await add(client, embedder, document("new", id="d"))

    assert (await index_of(client, None).around("default/d:0"))[0].text == "old"


async def test_partly_written_document_is_not_listed(client, monkeypatch):
    """The last upsert of passages is interrupted, as by a kill."""
    monkeypatch.setattr("judge.adapters.index.qdrant.writer.BATCH", 1)
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


async def test_collection_has_its_vectors_and_payload_indexes():
    seen = _SeenIndexes(AsyncQdrantClient(":memory:"))

    await add(seen, FakeEmbedder(), *HARBOUR)

    params = (await seen.get_collection(COLLECTION)).config.params
    assert set(params.sparse_vectors) == {"text", "terms"}
    assert params.vectors["fake-4"].distance == models.Distance.COSINE
    assert seen.indexes["collection"] == models.PayloadSchemaType.KEYWORD
    assert seen.indexes["modified"] == models.PayloadSchemaType.DATETIME
    assert seen.indexes["stems"].phrase_matching
    await seen.close()


class _SeenIndexes:
    """A client that notes which payload is to be indexed: the local mode forgets it."""

    def __init__(self, client):
        self._client = client
        self.indexes = {}

    def __getattr__(self, name):
        return getattr(self._client, name)

    async def create_payload_index(self, collection, name, schema, **kwargs):
        self.indexes[name] = schema


@pytest.mark.parametrize(
    "ask",
    [
        lambda index: index.ping(),
        lambda index: index.around("a/b:0"),
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
    monkeypatch.delitem(sys.modules, "judge.adapters.index.qdrant.index", raising=False)
    monkeypatch.setitem(sys.modules, "qdrant_client", None)

    with pytest.raises(ConfigurationError, match=r"install `judge\[qdrant\]`"):
        async with opened("http://127.0.0.1:6333"):
            pass


async def test_invalid_url_is_a_configuration_error():
    with pytest.raises(ConfigurationError, match="is no address") as caught:
        async with opened("http://user:secret@127.0.0.1:port"):
            pass
    assert "secret" not in str(caught.value)


def opened(url):
    return open_qdrant(
        url,
        None,
        None,
    )


@pytest.fixture
def unused_tcp_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
