"""`judge mcp`: which door it opens, and what its page in the documents says."""

import json
import re
from pathlib import Path

import pytest

from judge.entrypoints.mcp.features import tool_definition
from judge.entrypoints.mcp.resources import RESOURCES, TEMPLATES
from judge.entrypoints.mcp.tools import TOOLS
from tests.entrypoints.command_line import CommandLine

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text()


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path) -> CommandLine:
    monkeypatch.chdir(tmp_path)
    return CommandLine(capsys)


def test_stdio_is_the_default(cli):
    told = cli("mcp")
    assert (told.code, told.out, told.err) == (0, "", "")
    assert [is_structured for _, is_structured in cli.spoken] == [True]
    assert cli.door.served == []


def test_clients_that_read_only_text_are_served_too(cli):
    assert cli("mcp", "--no-structured").code == 0
    assert [is_structured for _, is_structured in cli.spoken] == [False]
    assert "/mcp?structured=false" in cli("mcp", "--transport", "http", "--no-structured").err


def test_http_opens_the_server_and_says_where_to_connect(cli):
    told = cli("mcp", "--transport", "http", "--port", "0", "--host", "::1")
    assert (told.code, told.out) == (0, "")
    assert "/mcp" in told.err
    [served] = cli.door.served
    assert (served.host, served.port, served.workers) == ("::1", 0, 1)
    assert cli.spoken == []


def test_another_transport_is_refused(cli):
    assert cli("mcp", "--transport", "sse").code == 2


@pytest.mark.parametrize("spec", TOOLS, ids=lambda spec: spec.name)
def test_every_tool_is_documented_with_all_that_it_takes(spec):
    [taken] = re.findall(rf"^\| `{spec.name}` \|(.*?)\|", PAGE, re.MULTILINE)
    documented = {name.split(" ")[0] for name in re.findall(r"`(\w+)`", taken)}
    assert documented - {"downstream"} == set(tool_definition(spec).input_schema["properties"])


def test_the_prompt_and_the_resources_are_documented():
    addresses = [spec.definition.uri for spec in RESOURCES]
    shapes = [spec.definition.uri_template for spec in TEMPLATES]
    assert all(f"`{name}`" in PAGE for name in ("contextual_search", *addresses, *shapes))


def test_the_configurations_to_paste_are_json_for_one_server():
    pasted = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
    assert [list(one["mcpServers"]) for one in pasted] == [["judge"], ["judge"]]
    assert pasted[0]["mcpServers"]["judge"]["args"] == ["mcp"]
    assert pasted[1]["mcpServers"]["judge"]["url"].endswith("/mcp")
