"""`GET /api/code/…`: answers, errors, and access only to the configured repositories."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

import httpx
import pytest

from judge.adapters.metrics import Metrics
from judge.bootstrap.code_roots import open_roots
from judge.entrypoints.api.app import create_app
from judge.settings import Settings
from tests.entrypoints.conformance import check_reply
from tests.entrypoints.mcp_bench import open_mcp_bench


@pytest.fixture
def opened(tmp_path):
    @asynccontextmanager
    async def opened(
        *, is_public: bool = False, roots=None, **environment: str
    ) -> AsyncIterator[httpx.AsyncClient]:
        async with open_mcp_bench(tmp_path, roots=roots, has_index=False) as mcp_server:
            app = create_app(
                Settings(_env_file=None, **environment),
                open_services=lambda *_: nullcontext(mcp_server.services),
                journal=mcp_server.recorded,
                counts=Metrics(),
                is_public=is_public,
            )
            transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
            async with (
                app.lifespan(),
                httpx.AsyncClient(
                    transport=transport,
                    base_url="http://localhost/api/code",
                    event_hooks={"response": [check_reply]},
                ) as client,
            ):
                yield client

    return opened


async def test_a_text_is_found(opened):
    async with opened() as client:
        reply = await client.get("/search", params={"repo": "shop", "query": "def pay"})
    answer = reply.json()
    assert reply.status_code == 200
    assert reply.headers["cache-control"] == "no-store"
    [item] = answer["items"]
    assert (item["file"], item["line"], item["kind"]) == ("till.py", 4, "match")
    assert item["snippet"]["location"] == {"path": "till.py", "start_line": 2, "end_line": 5}
    assert (answer["query"], answer["truncated"]) == ("def pay", False)
    assert (answer["source"], answer["freshness_state"]) == ("RAG_GRAPH", "FRESH")


async def test_a_ranked_expression_is_refused(opened):
    params = {"repo": "shop", "query": "pay", "regex": "true", "ranked": "true"}
    async with opened() as client:
        reply = await client.get("/search", params=params)
    assert (reply.status_code, reply.json()["type"]) == (400, "/problems/invalid-request")
    assert "leave out one" in reply.json()["detail"]


async def test_dependencies_are_followed_as_far_as_asked(opened):
    params = {"repo": "shop", "symbol": "pay", "direction": "upstream"}
    async with opened() as client:
        whole = (await client.get("/lineage", params=params)).json()
        near = (await client.get("/lineage", params={**params, "depth": 1})).json()
        less = (await client.get("/lineage", params={**params, "max_results": 1})).json()
    assert [item["path"] for item in whole["items"]] == [
        ["till.pay", "shop.total"],
        ["till.pay", "shop.total", "shop.price"],
    ]
    assert [item["symbol"] for item in near["items"]] == ["shop.total"]
    assert (len(less["items"]), less["truncated"]) == (1, True)


UNANSWERABLE = [
    ("/where-used", {"symbol": "add"}, 409, "names 2 definitions"),
    ("/lineage", {"symbol": "add"}, 409, "names 2 definitions"),
    ("/where-used", {"symbol": "nobody"}, 404, "no definition called 'nobody'"),
    ("/where-used", {"symbol": "pay", "repo": "shed"}, 404, "Valid are: shop."),
    ("/search", {"query": "x", "repo": "../shop"}, 404, "no repository '../shop'"),
    ("/search", {"query": "x", "repo": "/etc"}, 404, "no repository '/etc'"),
    ("/search", {}, 400, "query is missing"),
    ("/search", {"query": ""}, 400, "query must not be empty"),
    ("/search", {"query": "x", "limit": "0"}, 400, "limit must be at least 1"),
    ("/search", {"query": "x", "limit": "201"}, 400, "limit must be at most 200"),
    ("/search", {"query": "x", "limit": "many"}, 400, "limit must be a whole number"),
    ("/search", {"query": "x", "limit": "9" * 5000}, 400, "limit must be a"),
    ("/search", {"query": "x", "regex": "perhaps"}, 400, "regex must be true or false"),
    ("/search", {"query": "x", "path": "/etc"}, 400, "path is not known here"),
    ("/search", {"query": ["x", "y"]}, 400, "query must be a text"),
    ("/search", {"query": "(", "regex": "true"}, 400, "regular expression is wrong"),
    ("/search", {"query": "a\0b"}, 400, "must not hold NUL"),
    ("/lineage", {"symbol": "pay", "direction": "sideways"}, 400, "no direction 'sideways'"),
    ("/lineage", {"symbol": "pay", "depth": "0"}, 400, "depth must be at least 1"),
]


async def test_unanswerable_question_is_a_problem(opened):
    async with opened() as client:
        for path, params, status, told in UNANSWERABLE:
            reply = await client.get(path, params=params)
            assert reply.status_code == reply.json()["status"] == status, params
            assert told in reply.json()["detail"]


async def test_ambiguous_name_lists_its_candidates(opened):
    async with opened() as client:
        reply = await client.get("/where-used", params={"symbol": "add"})
    assert reply.json()["type"].endswith("/ambiguous")
    assert reply.json()["candidates"] == ["shop.Bill.add", "shop.Cart.add"]


async def test_missing_graph_is_reported_without_its_path(opened, tmp_path):
    async with opened(roots=open_roots([f"bare={tmp_path}"])) as client:
        reply = await client.get("/search", params={"query": "x"})
    assert reply.status_code == 404
    assert "judge code build-graph" in reply.json()["detail"]
    assert str(tmp_path) not in reply.text
