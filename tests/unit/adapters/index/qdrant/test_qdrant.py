import socket
import sys
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from aiohttp import web
from qdrant_client import AsyncQdrantClient

from judge.adapters.index.qdrant import QdrantIndex
from judge.bootstrap.corpus import open_qdrant
from judge.errors import ConfigurationError, IndexUnavailable
from judge.library.search.query import parse_query
from judge.types.search import EVERYWHERE, Clause, Scope
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
    monkeypatch.delitem(sys.modules, "judge.adapters.index.qdrant", raising=False)
    monkeypatch.setitem(sys.modules, "qdrant_client", None)

    with pytest.raises(ConfigurationError, match=r"install `judge\[qdrant\]`"):
        async with opened("http://127.0.0.1:6333"):
            pass


def opened(url):
    return open_qdrant(url, None, None)


@pytest.fixture
def unused_tcp_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


POINT = {
    "id": "3007a3bd-46ed-5258-b45f-4797a9b68fec",
    "version": 1,
    "score": 0.5,
    "payload": {
        "passage": {
            "document_id": "a.md",
            "collection": "c",
            "position": 0,
            "title": "A",
            "text": "robot",
            "path": "a.md",
            "modified": "2025-03-01T00:00:00Z",
        }
    },
}
PARAMS = {
    "vectors": {"fake-4": {"size": 4, "distance": "Cosine"}},
    "sparse_vectors": {"text": {}},
}
STORED_COLLECTION = {
    "status": "green",
    "optimizer_status": "ok",
    "segments_count": 1,
    "payload_schema": {},
    "config": {
        "params": PARAMS,
        "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000},
        "optimizer_config": {
            "deleted_threshold": 0.2,
            "vacuum_min_vector_number": 1000,
            "default_segment_number": 0,
            "flush_interval_sec": 5,
        },
    },
}


class FakeServer:
    """Answers each path with what a server holding one passage would."""

    def __init__(self, status=200):
        self.status = status
        self.seen = []
        self.keys = set()

    async def answer(self, request):
        body = await request.json() if request.can_read_body else {}
        path = request.path.removeprefix("/collections/judge") or "/"
        self.seen.append((f"{request.method} {path}", body))
        self.keys.add(request.headers.get("api-key"))
        results = {
            "GET /exists": {"exists": True},
            "GET /": STORED_COLLECTION,
            "POST /points/count": {"count": 3},
            "POST /points/query": {"points": [POINT]},
            "POST /points": [],
        }
        result = results.get(f"{request.method} {path}", {"operation_id": 1, "status": "completed"})
        return web.json_response(
            {"result": result, "status": "ok", "time": 0.0}, status=self.status
        )

    def bodies(self, call):
        return [body for made, body in self.seen if made == call]

    @asynccontextmanager
    async def opened(self, embedder=None):
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            async with open_qdrant(url, "key", embedder) as qdrant:
                yield qdrant
        finally:
            await runner.cleanup()


SCOPE = Scope(
    (
        Clause("collection", ("Reports", "other")),
        Clause("tag", ("old",), is_excluded=True),
        Clause("modified", after=datetime(2025, 1, 1, tzinfo=UTC)),
    )
)


async def test_search_is_one_fused_query_with_the_filter_inside_each_prefetch():
    server = FakeServer()

    async with server.opened(FakeEmbedder()) as qdrant:
        results = await qdrant.index.search(parse_query("robots"), SCOPE, limit=5, offset=5)

    (asked,) = server.bodies("POST /points/query")
    assert asked["query"] == {"fusion": "rrf"}
    assert (asked["limit"], asked["offset"]) == (5, 5)
    text, meaning = asked["prefetch"]
    assert (text["using"], meaning["using"]) == ("text", "fake-4")
    assert meaning["score_threshold"] == 0.5
    for way in (text, meaning):
        held = str(way["filter"])
        for one in ("['reports', 'other']", "'modified'", "'must_not': [{'key': 'tag'"):
            assert one in held
    assert results.hits[0].passage.modified == datetime(2025, 3, 1, tzinfo=UTC)
    assert server.keys == {"key"}


async def test_points_carry_both_vectors_and_wait_to_be_applied():
    server = FakeServer()

    async with server.opened(FakeEmbedder()) as qdrant, qdrant.store.writing() as writer:
        await writer.replace([document("a robot", "more", id="d")])

    ((rest, first),) = (body["points"] for body in server.bodies("PUT /points"))
    assert "record" not in rest["payload"]
    assert set(first["vector"]) == {"text", "fake-4"}
    assert first["payload"]["record"]["passages"] == 2


async def test_refusal_of_the_server_is_reported_with_its_status():
    async with FakeServer(status=403).opened() as qdrant:
        with pytest.raises(IndexUnavailable, match="answered with status 403"):
            await qdrant.catalogue.ping()
