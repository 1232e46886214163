"""The requests to a Qdrant server, as a fake of its REST API receives them."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from aiohttp import web

from judge.adapters.index.qdrant.factory import open_qdrant
from judge.errors import IndexUnavailable
from judge.library.search.query import parse_query
from judge.types.search import Clause, Scope
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.passages import document

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
    "sparse_vectors": {"text": {}, "terms": {}},
}
COLLECTION = {
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
            "GET /": COLLECTION,
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
            async with open_qdrant(
                url,
                "key",
                embedder,
            ) as qdrant:
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


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
async def test_search_is_one_fused_query_with_the_filter_inside_each_prefetch():
    server = FakeServer()

    async with server.opened(FakeEmbedder()) as qdrant:
        results = await qdrant.index.search(parse_query("robots"), SCOPE, limit=5, offset=5)

    relevance, asked = server.bodies("POST /points/query")
    assert (relevance["using"], relevance["limit"]) == ("terms", 1)
    assert asked["query"] == {"fusion": "rrf"}
    assert (asked["limit"], asked["offset"]) == (5, 5)
    text, meaning = asked["prefetch"]
    assert (text["using"], meaning["using"]) == ("text", "fake-4")
    assert meaning["score_threshold"] == 0.5
    for way in (text, meaning):
        held = way["filter"]
        assert {"key": "collection", "match": {"any": ["reports", "other"]}}.items() <= {
            k: v for k, v in held["must"][0].items() if v is not None
        }.items()
        assert held["must"][1]["key"] == "modified"
        assert held["must_not"][0]["match"] == {"any": ["old"]}
    assert results.hits[0].passage.modified == datetime(2025, 3, 1, tzinfo=UTC)
    assert server.keys == {"key"}


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
async def test_points_carry_both_vectors_and_wait_to_be_applied():
    server = FakeServer()

    async with server.opened(FakeEmbedder()) as qdrant, qdrant.store.writing() as writer:
        await writer.replace([document("a robot", "more", id="d")])

    ((rest, first),) = (body["points"] for body in server.bodies("PUT /points"))
    assert "record" not in rest["payload"]
    assert set(first["vector"]) == {"text", "terms", "fake-4"}
    assert first["payload"]["record"]["passages"] == 2


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
async def test_refusal_of_the_server_is_reported_with_its_status():
    async with FakeServer(status=403).opened() as qdrant:
        with pytest.raises(IndexUnavailable, match="answered with status 403"):
            await qdrant.catalogue.ping()


async def test_password_in_the_address_is_not_shown():
    async with open_qdrant(
        "http://user:secret@127.0.0.1:1",
        None,
        None,
    ) as qdrant:
        with pytest.raises(IndexUnavailable) as caught:
            await qdrant.catalogue.ping()

    assert "at http://127.0.0.1:1" in str(caught.value)
    assert "secret" not in str(caught.value)
