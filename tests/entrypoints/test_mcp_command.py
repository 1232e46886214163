"""`judge mcp`: the transport that it starts, and its page in the documentation."""

import json
import re
from pathlib import Path

import pytest

from judge.entrypoints.mcp.server import input_schema
from judge.entrypoints.mcp.tools import TOOLS
from judge.settings import Settings
from tests.entrypoints.command_line import CommandLine

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text()


def variables() -> set[str]:
    """Every environment variable that a setting is read from."""
    aliases = (field.validation_alias for field in Settings.model_fields.values())
    return {str(one) for alias in aliases for one in getattr(alias, "choices", [alias])}


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path) -> CommandLine:
    monkeypatch.chdir(tmp_path)
    return CommandLine(capsys)


def test_stdio_is_the_default(cli):
    told = cli("mcp")
    assert (told.code, told.out, told.err) == (0, "", "")
    assert [is_structured for _, is_structured in cli.stdio_calls] == [True]
    assert cli.http_server.calls == []


def test_text_only_option_is_passed_on(cli):
    assert cli("mcp", "--no-structured").code == 0
    assert [is_structured for _, is_structured in cli.stdio_calls] == [False]
    assert "/mcp?structured=false" in cli("mcp", "--transport", "http", "--no-structured").err


def test_http_starts_the_server_and_prints_its_url(cli):
    told = cli("mcp", "--transport", "http", "--port", "0", "--host", "::1")
    assert (told.code, told.out) == (0, "")
    assert "/mcp" in told.err
    [served] = cli.http_server.calls
    assert (served.host, served.port, served.workers) == ("::1", 0, 1)
    assert cli.stdio_calls == []


def test_another_transport_is_refused(cli):
    assert cli("mcp", "--transport", "sse").code == 2


@pytest.mark.parametrize("spec", TOOLS, ids=lambda spec: spec.name)
def test_every_tool_is_documented_with_all_arguments(spec):
    [taken] = re.findall(rf"^\| `{spec.name}` \|(.*?)\|", PAGE, re.MULTILINE)
    documented = {name.split(" ")[0] for name in re.findall(r"`(\w+)`", taken)}
    assert documented - {"downstream", "json"} == set(input_schema(spec)["properties"])


def test_the_prompt_and_the_resources_are_documented():
    told = ("contextual_search", "judge://domains", "judge://collections")
    assert all(f"`{name}`" in PAGE for name in told)


@pytest.mark.parametrize(
    ("client", "table", "transports"),
    [
        ("Claude Desktop", "mcpServers", {"stdio"}),
        ("Claude Code", "mcpServers", {"http"}),
        ("Cursor", "mcpServers", {"stdio", "http"}),
        ("VS Code", "servers", {"stdio", "http"}),
        ("Zed", "context_servers", {"stdio", "http"}),
    ],
)
def test_client_configuration_is_valid_json_for_judge(cli, client, table, transports):
    section = PAGE.partition(f"### {client}\n")[2].partition("\n#")[0]
    [block] = re.findall(r"```json\n(.*?)```", section, re.DOTALL)
    servers = json.loads(block)[table]
    assert set(servers) <= {"judge", "judge-over-http"}
    assert {"stdio" if "command" in one else "http" for one in servers.values()} == transports
    for one in servers.values():
        if "command" in one:
            assert one["args"][0] == "mcp"
            assert set(one["env"]) <= variables()
            assert cli(*one["args"], "--help").code == 0
        else:
            assert re.fullmatch(r"http://127\.0\.0\.1:8000/mcp(\?structured=false)?", one["url"])
            assert one["headers"]["Authorization"].startswith("Bearer ")
