"""The MCP server through the official client, in this process: tools, errors, limits, prompt."""

import asyncio
import json
from dataclasses import replace
from functools import partial

import pytest
from mcp.shared.exceptions import MCPError

from judge.library.search.service import DocumentSearch
from tests.entrypoints.api_bench import BAD_REPLY, DISPUTE, GOOD_REPLY
from tests.entrypoints.mcp_bench import (
    MODES,
    McpBench,
    OpenMcpBench,
    open_mcp_bench,
    text_of,
)
from tests.fakes.model import ScriptedModel
from tests.fakes.search_index import FakeIndex
from tests.fakes.waiting import until

NAMES = [
    "judge_dispute",
    "search_documents",
    "fetch",
    "list_collections",
    "search_code",
    "where_used",
    "lineage",
    "code_context",
    "check_citations",
]


@pytest.fixture
def opened(tmp_path) -> OpenMcpBench:
    return partial(open_mcp_bench, tmp_path)


@pytest.fixture(params=MODES)
def mode(request) -> str:
    return request.param


class WaitingModel(ScriptedModel):
    """Never replies; records when it is called and when the call is cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.started = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def complete(self, prompt, *, timeout_s, doubles_limit, on_text=None):
        self.started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


def members_of(result):
    """The members of an error, from its second text, which is JSON."""
    return json.loads(result.content[1].text)


async def test_the_tools_are_those_of_the_contract(opened):
    async with opened() as mcp_server, mcp_server.client() as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == NAMES
    for tool in tools:
        assert tool.annotations.read_only_hint is True
        assert tool.annotations.open_world_hint is (
            tool.name in {"judge_dispute", "check_citations"}
        )
        assert tool.description
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema["type"] == "object"
        assert all(field["description"] for field in tool.input_schema["properties"].values())
        plain = json.dumps(tool.input_schema)
        assert not any(word in plain for word in ("$ref", "$defs", "anyOf", "null"))
    search = tools[1].input_schema
    fields = search["properties"]
    assert list(fields) == ["query", "context", "limit", "include_sources", "format"]
    assert search["required"] == ["query"]
    assert (fields["limit"]["default"], fields["include_sources"]["default"]) == (10, True)
    assert fields["context"]["type"] == "string"
    assert tools[-1].input_schema["properties"]["sources"]["items"]["type"] == "object"


async def test_passages_are_found_in_the_shape_of_the_contract(opened):
    arguments = {"query": "lidar distance", "context": "@collection:robots", "limit": 1}
    async with opened() as mcp_server, mcp_server.client() as client:
        result = await client.call_tool("search_documents", arguments)
        elsewhere = {"query": "acceleration", "context": "@collection:minutes"}
        nothing = (await client.call_tool("search_documents", elsewhere)).structured_content
    assert (nothing["results"], nothing["truncated"]) == ([], False)
    assert "@collection:minutes" in nothing["hint"]
    found = result.structured_content
    assert (found["total_found"], found["truncated"]) == (2, True)
    assert "raise the limit" in found["hint"]
    assert (found["query"], found["context"]) == ("lidar distance", "@collection:robots")
    [chunk] = found["results"]
    assert chunk["document_id"] == "perception/sensors"
    assert "**lidar**" in chunk["highlight"]
    assert chunk["metadata"]["path"] == "perception/sensors.md"
    assert found["search_time"] >= 0
    assert found["filters_applied"]["scope"] == "@collection:robots"


async def test_a_passage_is_fetched_with_its_neighbours(opened):
    async with opened() as mcp_server, mcp_server.client() as client:
        result = await client.call_tool("fetch", {"id": "robots/perception/sensors:1"})
    passage = result.structured_content
    assert passage["text"].startswith("An inertial sensor")
    assert [near["position"] for near in passage["passages"]] == [0, 1, 2]
    assert (passage["title"], passage["url"]) == ("Sensors", "perception/sensors.md")
    assert passage["truncated"] is False


NOT_FETCHED = [
    ({"id": "robots/nowhere:1"}, "There is no passage 'robots/nowhere:1'."),
    ({"id": "no id at all"}, "There is no passage 'no id at all'."),
    (
        {"id": "minutes/notes.md:0", "context": "@collection:robots"},
        "There is no passage 'minutes/notes.md:0' in @collection:robots.",
    ),
    (
        {"id": "minutes/notes.md:0", "context": "-@tag:draft"},
        "There is no passage 'minutes/notes.md:0' in -@tag:draft.",
    ),
    ({"id": "minutes/notes.md:0", "context": "robots"}, "'robots' is no scope"),
]


async def test_passage_outside_the_scope_is_not_fetched(opened):
    async with opened() as mcp_server, mcp_server.client() as client:
        for arguments, words in NOT_FETCHED:
            result = await client.call_tool("fetch", arguments)
            assert result.is_error
            assert text_of(result).startswith(words)
            assert "replaced" not in result.model_dump_json()


UNANSWERABLE = [
    ("judge_dispute", {**DISPUTE, "domain": "magic"}, "unknown-domain", "no domain 'magic'"),
    ("judge_dispute", {"context": "short"}, "invalid-request", "context must have at least"),
    ("judge_dispute", {**DISPUTE, "x": 1}, "invalid-request", "x is not known here"),
    ("search_documents", {"query": " "}, "invalid-request", "query must not be empty"),
    ("search_documents", {"query": "x", "limit": 51}, "invalid-request", "must be at most 50"),
    ("search_documents", {"query": "x", "limit": "ten"}, "invalid-request", "a whole number"),
    ("search_documents", {"query": "@tag:x"}, "invalid-request", "Query cannot be empty"),
    ("search_documents", {"query": "x @tga:y"}, "bad-scope", "did you mean @tag?"),
    ("search_documents", {"query": "x @collection:robot"}, "bad-scope", "mean 'robots'"),
    (
        "fetch",
        {"id": "robots/perception/sensors:1", "context": "-@collection:robot"},
        "bad-scope",
        "mean 'robots'",
    ),
    ("search_documents", {"query": "x\0"}, "invalid-request", "must not hold NUL"),
    ("search_code", {"repo": "shed", "query": "x"}, "not-found", "Valid are: shop."),
    ("search_code", {"query": "(", "regex": True}, "invalid-request", "expression is wrong"),
    ("where_used", {"symbol": "nobody"}, "not-found", "no definition called 'nobody'"),
    ("where_used", {"symbol": "add"}, "ambiguous", "names 2 definitions"),
    ("lineage", {"symbol": "pay", "direction": "up a bit"}, "invalid-request", "no direction"),
    ("list_collections", {"all": True}, "invalid-request", "all is not known here"),
]


async def test_unanswerable_calls_are_tool_errors(opened):
    async with opened() as mcp_server, mcp_server.client() as client:
        for tool, arguments, slug, words in UNANSWERABLE:
            result = await client.call_tool(tool, arguments)
            told = members_of(result)
            assert result.is_error
            assert words in told["error"] == text_of(result)
            assert result.structured_content is None  # The schema is that of answers.
            if tool == "search_documents":
                asked = (arguments["query"], arguments.get("context"))
                assert (told["query"], told["context"]) == asked
            if slug == "ambiguous":
                assert told["candidates"] == ["shop.Bill.add", "shop.Cart.add"]
            call = mcp_server.recorded.fields_of("mcp.call")[-1]
            assert (call["tool"], call["outcome"]) == (tool, slug)


NEEDED = {
    "search_documents": {"query": "lidar"},
    "where_used": {"symbol": "total"},
    "check_citations": {"answer": "It rains [1].", "sources": [{"text": "It rains."}]},
}
MEANT = [
    ("search_documents", {"context": "", "limit": "1", "include_sources": None}, {"limit": 1}),
    ("search_documents", {"limit": "", "format": ""}, {}),
    ("where_used", {"symbol": "total", "repo": "", "text": "true"}, {"text": True}),
    ("check_citations", {"sources": '[{"text": "It rains."}]', "marks": ""}, {}),
    ("check_citations", {"sources": ["It rains."]}, {}),
    ("check_citations", {"sources": "It rains."}, {}),
    ("check_citations", {"sources": [{"text": "It rains.", "url": "", "title": None}]}, {}),
]


async def test_arguments_are_taken_as_they_were_meant(opened):
    async with opened() as mcp_server, mcp_server.client() as client:
        for tool, arguments, plain in MEANT:
            sent = await client.call_tool(tool, {**NEEDED[tool], **arguments})
            meant = await client.call_tool(tool, {**NEEDED[tool], **plain})
            assert not sent.is_error
            found, wanted = sent.structured_content, meant.structured_content
            assert {**found, "search_time": 0} == {**wanted, "search_time": 0}


async def test_internal_error_shows_no_details(opened):
    model = ScriptedModel(ZeroDivisionError("my boiler"))
    async with opened(model) as mcp_server, mcp_server.client() as client:
        result = await client.call_tool("judge_dispute", DISPUTE)
    assert result.is_error
    assert "boiler" not in result.model_dump_json()
    [noted] = mcp_server.recorded.fields_of("mcp.error")
    assert "ZeroDivisionError" in noted["error"]
    assert "boiler" not in str(mcp_server.recorded.entries)


async def test_while_nothing_is_indexed_the_tools_say_so(opened):
    async with opened(has_index=False) as mcp_server, mcp_server.client() as client:
        result = await client.call_tool("search_documents", {"query": "x"})
        collections = await client.read_resource("judge://collections")
        prompt = await client.get_prompt("contextual_search")
    assert "Nothing is indexed yet" in result.structured_content["hint"]
    assert json.loads(collections.contents[0].text)["collections"] == []
    assert "Nothing is indexed yet" in prompt.messages[0].content.text


async def test_unavailable_index_is_reported(opened):
    index = FakeIndex()
    index.is_down = True
    async with opened() as mcp_server:
        search = DocumentSearch(index, index, mcp_server.services.clock)
        corpus = replace(mcp_server.services.corpus, search=search)
        down = McpBench(replace(mcp_server.services, corpus=corpus), mcp_server.recorded)
        async with down.client() as client:
            result = await client.call_tool("search_documents", {"query": "x"})
            with pytest.raises(MCPError, match="The index is down"):
                await client.get_prompt("contextual_search")
    assert result.is_error
    assert "index is down" in text_of(result)


async def test_judgement_reports_its_steps_without_text_of_the_dispute(opened, mode):
    steps = []

    async def hear(progress, total, message):
        steps.append((progress, message))

    model = ScriptedModel(BAD_REPLY, GOOD_REPLY)
    async with opened(model) as mcp_server, mcp_server.client(mode) as client:
        await client.call_tool("judge_dispute", DISPUTE, progress_callback=hear)
    assert steps == [
        (1, "The domain is tenancy; reading its pages."),
        (2, "1 reference may be cited."),
        (3, "Asking the model."),
        (4, "The reply broke 4 rules."),
        (5, "Asking the model once more."),
    ]


async def test_cancelling_a_judgement_ends_the_call_of_the_model(opened, mode):
    model = WaitingModel()
    async with opened(model) as mcp_server, mcp_server.client(mode) as client:
        judging = asyncio.create_task(client.call_tool("judge_dispute", DISPUTE))
        await model.started.wait()
        judging.cancel()
        async with asyncio.timeout(20):
            await model.cancelled.wait()
        await until(lambda: "mcp.call" in mcp_server.recorded.events)
        still = await client.call_tool("list_collections", {})
    assert mcp_server.recorded.fields_of("mcp.call")[0]["outcome"] == "cancelled"
    assert not still.is_error


async def test_prompt_explains_scopes(opened):
    async with opened() as mcp_server, mcp_server.client() as client:
        [listed] = (await client.list_prompts()).prompts
        question = "What measures distance? @collection:robots"
        prompt = await client.get_prompt("contextual_search", {"question": question})
        scoped = await client.get_prompt("contextual_search", {"context": "@tag:final"})
    told = scoped.messages[0].content.text
    assert told.endswith("## The scope\nPass this on in `context`, unchanged: @tag:final\n")
    assert listed.name == "contextual_search"
    [message] = prompt.messages
    for scope in ("@collection:", "@document:", "@folder:", "@tag:", "@modified:last-week", "-@"):
        assert scope in message.content.text
    assert "The collections are: minutes, robots." in message.content.text
    assert message.content.text.endswith(f"## The question\n{question}\n")


async def test_domains_and_collections_are_resources(opened):
    async with opened() as mcp_server, mcp_server.client() as client:
        listed = (await client.list_resources()).resources
        read = [await client.read_resource(resource.uri) for resource in listed]
    assert [resource.uri for resource in listed] == ["judge://domains", "judge://collections"]
    domains, collections = (json.loads(result.contents[0].text) for result in read)
    assert domains["domains"][0]["name"] == "tenancy"
    assert domains["domains"][0]["sources"][0]["title"] == "Repairs"
    assert [one["name"] for one in collections["collections"]] == ["minutes", "robots"]
