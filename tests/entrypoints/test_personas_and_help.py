"""Any number of personas, and a domain's help lines, at every entrypoint."""

import asyncio
import json

import httpx
import pytest
from mcp import Client

from judge.adapters.metrics import Metrics
from judge.bootstrap.services import open_services
from judge.entrypoints.api.app import create_app
from judge.entrypoints.mcp.server import build_server
from judge.settings import load_settings
from judge.types.search import OPERATOR
from tests.entrypoints.api_bench import DISPUTE
from tests.entrypoints.command_line import CommandLine
from tests.entrypoints.running_server import World, open_world
from tests.fakes.journal import RecordingJournal

NAMES = ("Friend", "Lawyer", "Parent", "Boss", "Neighbour", "Stranger")
HELP = {"title": "Shelter", "url": "https://example.org/shelter", "phone": "0800 1"}


@pytest.fixture
def world(tmp_path, monkeypatch) -> World:
    monkeypatch.chdir(tmp_path)
    with open_world(tmp_path) as world:
        world.gemini.personas = NAMES
        personas = "".join(f'[[personas]]\nname = "{n}"\nbrief = "Speak."\n' for n in NAMES)
        help_line = "\n".join(f'{key} = "{value}"' for key, value in HELP.items())
        file = tmp_path / "sources.toml"
        file.write_text(f"{file.read_text()}[[domains.tenancy.help]]\n{help_line}\n{personas}")
        for name, value in world.environment.items():
            monkeypatch.setenv(name, value)
        yield world


def assert_complete(verdict: dict) -> None:
    assert [persona["name"] for persona in verdict["personas"]] == list(NAMES)
    assert verdict["help"] == [HELP]


async def ask_http(path: str) -> httpx.Response:
    app = create_app(load_settings(), journal=RecordingJournal(), counts=Metrics(), is_public=False)
    transport = httpx.ASGITransport(app=app)
    async with (
        app.lifespan(),
        httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client,
    ):
        return await client.post(path, json=DISPUTE)


async def ask_mcp():
    async with (
        open_services(load_settings(), RecordingJournal()) as services,
        Client(build_server(services, lambda _: OPERATOR)) as client,
    ):
        return await client.call_tool("judge_dispute", DISPUTE)


def test_over_http(world):
    reply = asyncio.run(ask_http("/api/judge"))
    assert_complete(reply.json())


def test_in_the_stream(world):
    events = asyncio.run(ask_http("/api/judge/stream")).text
    data = [line.removeprefix("data: ") for line in events.splitlines() if "paraphrase" in line]
    assert_complete(json.loads(data[-1]))


def test_over_mcp(world):
    assert_complete(asyncio.run(ask_mcp()).structured_content)


def test_in_the_terminal(world, capsys):
    told = CommandLine(capsys)("ask", *(part for k, v in DISPUTE.items() for part in (f"--{k}", v)))
    assert told.code in {0, 1}
    assert [line.partition(":")[0] for line in told.out.splitlines() if ": Partly" in line
            or ": Yes" in line or ": No" in line] == list(NAMES)  # fmt: skip
    section = told.out.partition("\nHelp\n")[2]
    assert "Shelter, 0800 1, https://example.org/shelter" in section


def test_without_a_model_too(world, capsys, monkeypatch):
    monkeypatch.setenv("JUDGE_MODEL", "extractive")
    command = ("ask", "--json", *(part for k, v in DISPUTE.items() for part in (f"--{k}", v)))
    body = json.loads(CommandLine(capsys)(*command).out)
    assert [line["phone"] for line in body["help"][:2]] == ["999", "116 123"]
    assert_complete(body | {"help": body["help"][2:]})
