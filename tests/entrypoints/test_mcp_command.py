"""`judge mcp`: which door it opens."""

import pytest

from tests.entrypoints.command_line import CommandLine


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path) -> CommandLine:
    monkeypatch.chdir(tmp_path)
    return CommandLine(capsys)


def test_stdio_is_the_default(cli):
    told = cli("mcp")
    assert (told.code, told.out, told.err) == (0, "", "")
    assert len(cli.spoken) == 1
    assert cli.door.served == []


def test_http_opens_the_server_and_says_where_to_connect(cli):
    told = cli("mcp", "--transport", "http", "--port", "0", "--host", "::1")
    assert (told.code, told.out) == (0, "")
    assert "/mcp" in told.err
    [served] = cli.door.served
    assert (served.host, served.port, served.workers) == ("::1", 0, 1)
    assert cli.spoken == []


def test_another_transport_is_refused(cli):
    assert cli("mcp", "--transport", "sse").code == 2
