"""A key sees only the shared collections and its own, at every entrypoint."""

import base64
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import product

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from litestar import Litestar

from judge.adapters.metrics import Metrics
from judge.adapters.models.extractive import ExtractiveModel
from judge.entrypoints.api.access_policy import AccessPolicy
from judge.entrypoints.api.app import create_app
from judge.entrypoints.mcp.server import open_http
from judge.errors import ConfigurationError
from judge.settings import Settings, load_settings, name_and_key
from judge.types.search import OPERATOR, Viewer
from tests.entrypoints.api_bench import DISPUTE
from tests.entrypoints.mcp_bench import open_mcp_bench
from tests.fakes.passages import document

KEYS = {
    "JUDGE_API_KEYS": "alice=alice-key, Bob=bob-key, plain-key, alice=alice-new-key",
    "JUDGE_ADMIN_KEYS": "admin-key",
}
OWNERS = ["alice-key", "alice-new-key", "admin-key"]
OTHERS = ["bob-key", "plain-key"]
MARCH = datetime(2025, 3, 1, tzinfo=UTC)
SHELF = (
    document(
        "the boiler budget is public",
        id="plan.md",
        collection="shared",
        tags=("open",),
        modified=MARCH,
    ),
    document(
        "boiler budget: boiler, boiler, xylophone",
        "the marimba follows the xylophone",
        id="kazoo.md",
        collection="Alice:Ledger",
        title="Quetzal",
        tags=("zephyr",),
        folder="vault/celesta",
        modified=MARCH,
    ),
    document("the boiler budget of bob", id="own.md", collection="bob:notes", tags=("mine",)),
)
SECRETS = ("xylophone", "marimba", "kazoo", "ledger", "quetzal", "zephyr", "celesta", "alice")
"""Words of alice's collection only, which no query below contains."""

SCOPES = [
    "@*",
    "@collection:*",
    "-@collection:shared",
    "-(@collection:shared @tag:open)",
    "@collection:shard",
    "@collection:alic:ledge",
    "@tag:zephy",
    "@tag:zephy,ephyr",
    "@folder:vault/celest",
    "@folder:vault",
    "@document:kazo.md",
    "@modified:>=1990-01-01",
    "(@collection:shared OR @tag:zephy)",
    "-(@tag:open OR @tag:mine)",
    "@collection:",
    "(@tag:open",
]
QUERIES = ["boiler budget", "budget", '"boiler budget"', "boiler -public", "x"]


@dataclass
class AppClient:
    """The app with MCP mounted; every call returns the text of the whole reply."""

    app: Litestar
    log: list[str]

    async def ask(self, key: str, method: str, path: str, **more: object) -> str:
        transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
        headers = {
            "authorization": f"Bearer {key}",
            "accept": "application/json, text/event-stream",
        }
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=headers
        ) as client:
            reply = await client.request(method, path, **more)
        assert reply.status_code < 500, reply.text
        return f"{reply.status_code} {dict(reply.headers)} {reply.text}"

    async def tool(self, key: str, name: str, **arguments: object) -> str:
        return await self.rpc(key, "tools/call", name=name, arguments=arguments)

    async def rpc(self, key: str, method: str, **params: object) -> str:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return await self.ask(key, "POST", "/mcp", json=body)


@asynccontextmanager
async def open_app(tmp_path) -> AsyncIterator[AppClient]:
    model = ExtractiveModel()
    async with open_mcp_bench(tmp_path, model, documents=SHELF) as mcp_server:
        settings = Settings(_env_file=None, **KEYS)
        app = create_app(
            settings,
            open_services=lambda *_: nullcontext(replace(mcp_server.services, settings=settings)),
            journal=mcp_server.recorded,
            counts=Metrics(),
            open_mcp=open_http,
        )
        async with app.lifespan():
            yield AppClient(app, mcp_server.recorded.events)


async def everything(app_client: AppClient, key: str, query: str, scope: str) -> list[str]:
    """The replies of all entrypoints to *query* in *scope*."""
    body = {"query": query, "context": scope, "limit": 50}
    filters = {"modified_after": "1990-01-01"}
    dispute = {**DISPUTE, "scope": scope, "query": f"{query}: am I wrong?"}
    return [
        await app_client.ask(key, "POST", "/api/search", json=body),
        await app_client.ask(key, "POST", "/api/search", json={**body, "format": "answer"}),
        await app_client.ask(key, "POST", "/api/search", json={**body, "filters": filters}),
        await app_client.ask(key, "GET", "/api/search", params={"q": f"{query} {scope}"}),
        await app_client.ask(key, "POST", "/api/judge", json=dispute),
        await app_client.ask(key, "POST", "/api/judge/stream", json=dispute),
        await app_client.tool(key, "search_documents", query=query, context=scope),
        await app_client.tool(key, "search_documents", query=query, context=scope, format="answer"),
        await app_client.tool(key, "judge_dispute", **dispute),
    ]


async def whole_shelf(app_client: AppClient, key: str) -> list[str]:
    """The replies of all entrypoints that list what exists."""
    return [
        await app_client.tool(key, "list_collections"),
        await app_client.rpc(key, "resources/read", uri="judge://collections"),
        await app_client.rpc(key, "prompts/get", name="contextual_search", arguments={}),
        await app_client.rpc(key, "tools/list"),
        await app_client.ask(key, "GET", "/metrics"),
        await app_client.ask(key, "GET", "/health/ready"),
        await app_client.ask(key, "GET", "/api/domains"),
        await app_client.ask(key, "GET", "/api/search", params={"q": "boiler budget"}),
    ]


def traces(replies: list[str]) -> list[tuple[str, str]]:
    """The secrets that *replies* contain, with their places."""
    return [(word, reply) for reply in replies for word in SECRETS if word in reply.lower()]


@pytest.mark.no_cover  # the same lines again and again
@pytest.mark.parametrize("key", OTHERS)
async def test_no_reply_contains_text_of_other_keys_collections(tmp_path, key):
    async with open_app(tmp_path) as app_client:
        for scope in SCOPES:
            assert traces(await everything(app_client, key, "boiler budget", scope)) == []
        for query in QUERIES:
            assert traces(await everything(app_client, key, query, "@*")) == []
        assert traces(await whole_shelf(app_client, key)) == []


@pytest.mark.parametrize("key", OWNERS)
async def test_owner_and_administrator_see_them_in_the_same_places(tmp_path, key):
    async with open_app(tmp_path) as app_client:
        for reply in await everything(app_client, key, "boiler budget", "@*"):
            assert "xylophone" in reply
        seen = await whole_shelf(app_client, key)
        assert ["ledger" in reply.lower() for reply in seen] == [
            True, True, True, False, False, False, False, True,
        ]  # fmt: skip


THERE = ("alice", "ALICE", "zephyr", "vault/celesta", "kazoo")
NOWHERE = ("carol", "CAROL", "zzphyr", "vzult/czlzsta", "kzzoo")
NAMED = [
    "@collection:alice:ledger",
    "-@collection:ALICE:LEDGER",
    "@tag:zephyr",
    "@folder:vault/celesta",
    "@document:kazoo.md",
    "(@tag:open OR @collection:alice:ledger)",
    "(@tag:zephyr OR @tag:open)",
    "-(@tag:zephyr OR @folder:vault/celesta) @document:kazoo.md",
]


@pytest.mark.no_cover  # the same lines again and again
@pytest.mark.parametrize("key", OTHERS)
async def test_name_in_another_keys_collection_gets_the_reply_of_an_unknown_name(tmp_path, key):
    async with open_app(tmp_path) as app_client:
        for scope, query in product(NAMED, ("boiler budget", "boiler xylophone")):
            real = await everything(app_client, key, query, scope)
            invented = await everything(app_client, key, query, with_unknown_names(scope))
            assert [comparable(one) for one in real] == [comparable(one) for one in invented]


def with_unknown_names(text: str) -> str:
    """*text* with unknown names in place of alice's."""
    for there, nowhere in zip(THERE, NOWHERE, strict=True):
        text = text.replace(there, nowhere)
    return text


def comparable(reply: str) -> str:
    """*reply* without members that differ each time, and with unknown names."""
    return VOLATILE.sub("", with_unknown_names(reply))


VOLATILE = re.compile(
    r"'(x-request-id|content-length)': '[^']*'"
    r'|"(id|instance|fetched_at|search_time_ms|search_time|references|model|total)\\?": ?[^,}]*'
)


@pytest.mark.parametrize("key", OTHERS)
async def test_passage_id_of_another_keys_collection_is_not_found(tmp_path, key):
    async with open_app(tmp_path) as app_client:
        ids = ("Alice:Ledger/kazoo.md:0", "alice:ledger/KAZOO.md:1", "Carol:Ledger/kazoo.md:0")
        fetched = [await app_client.tool(key, "fetch", id=one, neighbours=5) for one in ids]
        sources = [{"answer": "Yes [1].", "sources": [{"passage": one}]} for one in ids]
        checked = [await app_client.ask(key, "POST", "/api/check", json=one) for one in sources]
        by_tool = [await app_client.tool(key, "check_citations", **one) for one in sources]
        assert all("There is no passage" in reply for reply in fetched)
        assert all("is no passage of the index" in reply for reply in [*checked, *by_tool])
        assert [w for w in ("xylophone", "Quetzal") if w in str([fetched, checked, by_tool])] == []
        owned = await app_client.tool("alice-key", "fetch", id=ids[0])
        assert "xylophone" in owned


@pytest.mark.parametrize("key", ["alice-key", "bob-key", "plain-key"])
async def test_only_an_admin_key_writes_to_any_collection(tmp_path, key):
    async with open_app(tmp_path) as app_client:
        new = {"collection": "alice:ledger", "document_id": "new.md", "text": "boiler"}
        assert (await app_client.ask(key, "POST", "/api/documents", json=new)).startswith("403")
        gone = await app_client.ask(key, "DELETE", "/api/documents/alice:ledger/kazoo.md")
        assert gone.startswith("403")
        assert (await app_client.ask("admin-key", "POST", "/api/documents", json=new)).startswith(
            "201"
        )
        assert "new.md" in await app_client.ask("alice-key", "GET", "/api/search?q=boiler")
        gone = await app_client.ask("admin-key", "DELETE", "/api/documents/alice:ledger/new.md")
        assert gone.startswith("204")


@pytest.mark.parametrize(
    ("keys", "sent", "viewer"),
    [
        ({}, None, OPERATOR),
        ({}, "any", OPERATOR),
        ({"JUDGE_ADMIN_KEYS": "a"}, None, Viewer()),
        ({"JUDGE_ADMIN_KEYS": "a"}, "wrong", Viewer()),
        ({"JUDGE_ADMIN_KEYS": "a"}, "a", OPERATOR),
        (KEYS, "admin-key", OPERATOR),
        (KEYS, "alice-new-key", Viewer("alice")),
        (KEYS, "bob-key", Viewer("bob")),
        (KEYS, "plain-key", Viewer()),
        (KEYS, "alice=alice-key", Viewer()),
        (KEYS, None, Viewer()),
        ({"JUDGE_API_KEYS": "alice=k", "JUDGE_ADMIN_KEYS": "k"}, "k", OPERATOR),
        ({"JUDGE_API_KEYS": "any=ab=cd"}, "ab=cd", Viewer("any")),
        ({"JUDGE_API_KEYS": "alice = k"}, "k", Viewer("alice")),
    ],
)
def test_key_decides_what_its_sender_sees(keys, sent, viewer):
    policy = AccessPolicy(Settings(_env_file=None, **keys), is_public=False)
    header = f"Bearer {sent}".encode() if sent else None
    assert policy.principal(header, "127.0.0.1").viewer == viewer


@given(st.binary(min_size=10, max_size=60))
def test_a_key_in_base64_has_no_name(secret):
    for key in (base64.b64encode(secret), base64.urlsafe_b64encode(secret), secret.hex().encode()):
        settings = Settings(_env_file=None, JUDGE_API_KEYS=key.decode())
        assert name_and_key(settings.api_keys[0]) == ("", key.decode())


@pytest.mark.parametrize("value", ["alice=k1,bob=k1", "k1,alice=k1", "alice=", "k1,bob="])
def test_keys_with_ambiguous_owners_stop_the_start(monkeypatch, value):
    monkeypatch.setenv("JUDGE_API_KEYS", value)
    with pytest.raises(ConfigurationError, match="JUDGE_API_KEYS") as caught:
        load_settings()
    assert "k1" not in str(caught.value)
