"""`/mcp` of the HTTP server: the official client, keys, origins, limits, disconnects."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from judge.adapters.metrics import Metrics
from judge.entrypoints.api.app import OpenMcp, create_app
from judge.entrypoints.mcp.server import open_http
from judge.entrypoints.mcp.tools import TOOLS
from judge.settings import Settings
from tests.entrypoints.api_bench import DISPUTE, GOOD_REPLY
from tests.entrypoints.mcp_bench import MODES, McpBench, open_mcp_bench
from tests.entrypoints.running_server import MCP, RunningServer, World, open_world
from tests.fakes.gemini import slow
from tests.fakes.model import ScriptedModel
from tests.fakes.waiting import until

URL = "http://localhost/mcp"
BOTH = "application/json, text/event-stream"
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "list_collections", "arguments": {}},
}


@pytest.fixture
def opened(tmp_path):
    @asynccontextmanager
    async def opened(
        *, is_public: bool = False, open_mcp: OpenMcp = open_http, **environment: str
    ) -> AsyncIterator["Mounted"]:
        async with open_mcp_bench(tmp_path, ScriptedModel(GOOD_REPLY)) as served:
            settings = Settings(_env_file=None, **environment)
            services = replace(served.services, settings=settings)
            app = create_app(
                settings,
                open_services=lambda *_: nullcontext(services),
                journal=served.recorded,
                counts=Metrics(),
                is_public=is_public,
                open_mcp=open_mcp,
            )
            async with app.lifespan():
                yield Mounted(app, served)

    return opened


class Mounted:
    """The app with MCP mounted, an official client and plain requests."""

    def __init__(self, app, served: McpBench) -> None:
        self.app = app
        self.served = served

    @asynccontextmanager
    async def client(self, mode: str = "auto", **headers: str) -> AsyncIterator[Client]:
        transport = httpx2.ASGITransport(app=self.app)
        async with httpx2.AsyncClient(transport=transport, headers=headers) as http:
            speaking = streamable_http_client(URL, http_client=http)
            async with Client(speaking, mode=mode, read_timeout_seconds=60) as client:
                yield client

    async def post(self, body: object = CALL, *, url: str = URL, **headers: str) -> httpx.Response:
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport) as client:
            return await client.post(url, json=body, headers={"accept": BOTH, **headers})


@pytest.mark.parametrize("mode", MODES)
async def test_the_official_client_is_served(opened, mode):
    async with opened() as mounted, mounted.client(mode) as client:
        assert client.server_info.name == "judge"
        tools = (await client.list_tools()).tools
        verdict = await client.call_tool("judge_dispute", DISPUTE)
        found = await client.call_tool("search_documents", {"query": "lidar @collection:robots"})
        failed = await client.call_tool("fetch", {"id": "x"})
        prompt = await client.get_prompt("contextual_search")
        domains = await client.read_resource("judge://domains")
    assert len(tools) == len(TOOLS)
    assert verdict.structured_content["evidence"] == "grounded"
    assert found.structured_content["total_found"] == 2
    assert failed.is_error
    assert "@collection:" in prompt.messages[0].content.text
    assert "tenancy" in domains.contents[0].text


async def test_one_request_alone_is_answered_and_an_address_asks_for_text_only(opened):
    async with opened() as mounted:
        reply, plain = await mounted.post(), await mounted.post(url=f"{URL}?structured=false")
        requests = mounted.served.recorded.fields_of("http.request")
    assert reply.status_code == 200
    result, text = (json.loads(r.text.partition("data: ")[2])["result"] for r in (reply, plain))
    assert result["structuredContent"]["collections"][1]["name"] == "robots"
    assert json.loads(text["content"][0]["text"]) == result["structuredContent"]
    assert "structuredContent" not in text
    assert reply.headers["x-request-id"]
    assert (requests[0]["route"], requests[0]["status"]) == ("/mcp", 200)


async def test_a_key_is_needed_when_keys_are_set(opened):
    async with opened(JUDGE_API_KEYS="secret") as mounted:
        for headers in ({}, {"authorization": "Bearer wrong"}):
            reply = await mounted.post(**headers)
            assert reply.status_code == 401
            assert reply.json()["type"].endswith("unauthorized")
        assert "mcp.call" not in mounted.served.recorded.events


async def test_public_server_without_keys_refuses_everybody(opened):
    async with opened(is_public=True) as mounted:
        reply = await mounted.post()
        assert "mcp.call" not in mounted.served.recorded.events
    assert reply.status_code == 403
    assert reply.json()["type"].endswith("forbidden")


async def test_pages_of_other_origins_are_refused(opened):
    bad = "https://evil.example null http://localhost.evil.example http://[::1 localhost"
    async with opened(JUDGE_API_KEYS="secret") as mounted:
        for origin in bad.split():
            reply = await mounted.post(origin=origin, authorization="Bearer secret")
            assert reply.status_code == 403, origin
            assert "JUDGE_CORS_ORIGINS" in reply.json()["detail"]
        assert "mcp.call" not in mounted.served.recorded.events


async def test_local_and_allowed_origins_may_call(opened):
    good = "http://localhost:6274 http://127.0.0.1 http://[::1]:80 https://app.example"
    async with opened(JUDGE_CORS_ORIGINS="https://app.example") as mounted:
        for origin in good.split():
            assert (await mounted.post(origin=origin)).status_code == 200, origin


async def test_preflight_of_an_allowed_origin_permits_the_protocols_headers(opened):
    asked = {
        "origin": "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "mcp-method,mcp-name,mcp-protocol-version",
    }
    async with opened(JUDGE_CORS_ORIGINS="https://app.example") as mounted:
        transport = httpx.ASGITransport(app=mounted.app)
        async with httpx.AsyncClient(transport=transport) as client:
            reply = await client.options(URL, headers=asked)
    allowed = reply.headers["access-control-allow-headers"].split(", ")
    assert reply.status_code == 204
    assert set(allowed) >= set(asked["access-control-request-headers"].split(","))


async def test_only_messages_that_fit_are_taken(opened):
    async with opened() as mounted:
        transport = httpx.ASGITransport(app=mounted.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport) as client:
            for method in ("GET", "DELETE", "OPTIONS", "PUT"):
                reply = await client.request(method, URL, headers={"accept": BOTH})
                assert reply.status_code == 405, method
                assert "POST" in reply.headers["allow"]
        assert (await mounted.post({"padding": "x" * 270_000})).status_code == 413


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[tuple[World, RunningServer]]:
    """One server for the tests that leave it running; a start takes a second or more."""
    with open_world(tmp_path_factory.mktemp("mcp")) as world, world.program(*MCP) as server:
        yield world, server


@pytest.mark.process
@pytest.mark.parametrize("mode", MODES)
async def test_disconnecting_ends_the_model_call(shared, mode):
    world, server = shared
    world.gemini.seen.clear()
    world.gemini.abandoned.clear()
    world.gemini.script(slow(GOOD_REPLY, 15.0))
    async with Client(f"{server.url}/mcp", mode=mode, read_timeout_seconds=60) as client:
        judging = asyncio.create_task(client.call_tool("judge_dispute", DISPUTE))
        await until(lambda: bool(world.gemini.seen))
        judging.cancel()
        await asyncio.wait([judging])
    await until(world.gemini.abandoned.is_set)
    await until(lambda: '"outcome":"cancelled"' in server.stderr)


async def test_a_start_does_not_wait_for_mcp_and_its_first_request_does(opened):
    calls: list[str] = []

    @asynccontextmanager
    async def open_later(services):
        calls.append("once")
        async with open_http(services) as mcp:
            yield mcp

    async with opened(open_mcp=open_later) as mounted:
        assert not calls
        replies = [await mounted.post() for _ in range(2)]
        assert [reply.status_code for reply in replies] == [200, 200]
        assert calls == ["once"]


async def test_where_mcp_cannot_be_opened_its_requests_say_so_and_others_are_served(opened):
    async with opened(open_mcp=broken) as mounted:
        replies = [await mounted.post() for _ in range(2)]
        assert [reply.status_code for reply in replies] == [500, 500]
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=mounted.app)) as client:
            assert (await client.get("http://test/health/live")).status_code == 200


@asynccontextmanager
async def broken(_) -> AsyncIterator[None]:
    raise ImportError("the package is damaged")
    yield
