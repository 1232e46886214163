"""MCP completions: scopes in the prompt, names in resource URIs."""

import json
from functools import partial

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import PromptReference, ResourceTemplateReference

from judge.library.scopes.grammar import parse_scope
from tests.entrypoints.mcp_bench import OpenMcpBench, open_mcp_bench
from tests.fakes.passages import book, document

PROMPT = PromptReference(name="contextual_search")
PASSAGE = ResourceTemplateReference(uri="judge://passages/{+id}")
COLLECTION = ResourceTemplateReference(uri="judge://collections/{name}")
KINDS = ["@collection:", "@document:", "@folder:", "@tag:", "@modified:"]
PLAN = document("The plan.", id="plan.md", collection="board minutes", tags=("final", "finance"))


@pytest.fixture
def opened(tmp_path) -> OpenMcpBench:
    return partial(open_mcp_bench, tmp_path, documents=(*book(), PLAN))


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("", KINDS),
        ("@", KINDS),
        ("-@", [f"-{kind}" for kind in KINDS]),
        ("@co", ["@collection:"]),
        ("@tag:final ", [f"@tag:final {kind}" for kind in KINDS]),
        ("(@tag:final OR @do", ["(@tag:final OR @document:"]),
        ("@collection:", ['@collection:"board minutes"', "@collection:robots"]),
        ("@collection:RO", ["@collection:robots"]),
        ('@collection:"board m', ['@collection:"board minutes"']),
        ("@collection:robots,bo", ['@collection:robots,"board minutes"']),
        ("-@tag:fin", ["-@tag:final", "-@tag:finance"]),
        ("@folder:perc", ["@folder:perception"]),
        ("@modified:last", [f"@modified:last-{span}" for span in ("week", "month", "year")]),
        ("@nothing:", []),
        ("@tag:zzz", []),
        ("robots", []),
    ],
)
async def test_scope_is_completed_from_indexed_names(opened, typed, completed):
    async with opened() as mcp_server, mcp_server.client() as client:
        argument = {"name": "context", "value": typed}
        found = (await client.complete(PROMPT, argument)).completion
        for value in found.values:
            if not value.endswith(":"):
                assert parse_scope(value, mcp_server.services.clock.now()).clauses
    assert found.values == completed
    assert (found.total, found.has_more) == (len(completed), False)


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("What did we earn? @ta", ["What did we earn? @tag:"]),
        ("What did we earn? ", []),
        ("jo@co", []),
        ("earned @tag:final", ["earned @tag:final"]),
    ],
)
async def test_a_question_is_completed_where_it_ends_in_a_mention(opened, typed, completed):
    async with opened() as mcp_server, mcp_server.client() as client:
        found = await client.complete(PROMPT, {"name": "question", "value": typed})
    assert found.completion.values == completed


@pytest.mark.parametrize("typed", ["(@a:" * 60_000 + '"', f"{'word ' * 500}@co"])
async def test_text_longer_than_any_scope_is_not_completed(opened, typed):
    async with opened() as mcp_server, mcp_server.client() as client:
        argument = {"name": "context", "value": typed}
        found = await client.complete(PROMPT, argument)
    assert found.completion.values == []


@pytest.mark.parametrize(
    ("reference", "name", "typed", "completed"),
    [
        (COLLECTION, "name", "b", ["board minutes"]),
        (PASSAGE, "id", "", ["board minutes/", "robots/"]),
        (PASSAGE, "id", "robots/perc", ["robots/perception/sensors:0"]),
        (PASSAGE, "id", "nowhere/", []),
        (PROMPT, "no such argument", "", []),
        (PromptReference(name="x"), "x", "", []),
    ],
)
async def test_resource_uris_are_completed(opened, reference, name, typed, completed):
    async with opened() as mcp_server, mcp_server.client() as client:
        found = await client.complete(reference, {"name": name, "value": typed})
    assert found.completion.values == completed


async def test_only_a_hundred_completions_are_sent_and_the_rest_counted(opened):
    documents = tuple(document("word", collection=f"c{number:03}") for number in range(130))
    async with opened(documents=documents) as mcp_server, mcp_server.client() as client:
        found = await client.complete(COLLECTION, {"name": "name", "value": "c"})
    completion = found.completion
    assert (len(completion.values), completion.total, completion.has_more) == (100, 130, True)


async def test_templates_of_resources_are_listed_and_read(opened):
    async with opened() as mcp_server, mcp_server.client() as client:
        templates = (await client.list_resource_templates()).resource_templates
        passage = await client.read_resource("judge://passages/robots/perception/sensors:1")
        collection = await client.read_resource("judge://collections/Board%20minutes")
    assert [one.uri_template for one in templates] == [PASSAGE.uri, COLLECTION.uri]
    read, held = (json.loads(one.contents[0].text) for one in (passage, collection))
    assert read["text"].startswith("An inertial sensor")
    assert passage.contents[0].uri == "judge://passages/robots/perception/sensors:1"
    assert (held["name"], held["total"]) == ("board minutes", 1)
    assert held["documents"][0]["id"] == "plan.md"


@pytest.mark.parametrize(
    ("uri", "told"),
    [
        ("judge://passages/robots/nowhere:1", "There is no passage 'robots/nowhere:1'"),
        ("judge://collections/robot", "Did you mean 'robots'"),
        ("judge://secrets", "Unknown resource"),
    ],
)
async def test_unknown_resource_uris_are_errors(opened, uri, told):
    async with opened() as mcp_server, mcp_server.client() as client:
        with pytest.raises(MCPError) as raised:
            await client.read_resource(uri)
    assert told in str(raised.value)


async def test_the_prompt_passes_a_scope_on(opened):
    async with opened() as mcp_server, mcp_server.client() as client:
        arguments = {"question": "What did we earn?", "context": "@tag:final"}
        prompt = await client.get_prompt("contextual_search", arguments)
    text = prompt.messages[0].content.text
    assert "## The scope\nPass this on in `context`, unchanged: @tag:final\n" in text
    assert text.endswith("## The question\nWhat did we earn?\n")
