"""The same question over HTTP, on the command line and over MCP gets the same answer.

Each entrypoint opens its own services from the same environment, and all three read the same
index, code graph, pages and model.
"""

import asyncio
import io
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client

from judge.adapters.metrics import Metrics
from judge.bootstrap.services import open_services
from judge.entrypoints.api.app import create_app
from judge.entrypoints.cli.main import run
from judge.entrypoints.cli.options import CommandContext
from judge.entrypoints.mcp.server import build_server
from judge.settings import load_settings
from judge.types.search import OPERATOR
from tests.entrypoints.api_bench import BAD_REPLY, DISPUTE, GOOD_REPLY, RETOLD_REPLY, RIGHT_REPLY
from tests.entrypoints.command_line import CommandLine, CommandResult
from tests.entrypoints.mcp_bench import write_repository
from tests.entrypoints.running_server import World, open_world
from tests.fakes.gemini import blocked
from tests.fakes.journal import RecordingJournal

LEASE = """# Lease

The tenant tells the landlord of a fault, and the landlord repairs the boiler within a week.

The deposit is returned within ten days of the end of the tenancy.
"""
MANUAL = """# Manual

Bleed the radiators before the boiler is lit. Never open the boiler's case.
"""
VOLATILE = {"id", "timings_ms", "fetched_at", "search_time_ms", "search_time"}
"""Members that differ from one answer to the next at any entrypoint."""


@dataclass(frozen=True)
class Question:
    """A question for each entrypoint: its path, command and tool, with the same fields."""

    path: str
    command: tuple[str, ...]
    tool: str
    fields: Mapping[str, Any]
    method: str = "GET"
    replies: tuple[Any, ...] = ()
    """The model's replies, repeated for each entrypoint; by default a good verdict."""
    fails_with: str = ""
    """The type of problem, empty for an answer."""
    exit_code: int = 2
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Options of the command that have other names than the fields."""

    @property
    def arguments(self) -> list[str]:
        options = [
            part
            for name, value in self.fields.items()
            for part in (
                f"--{self.renamed.get(name, name)}",
                *([] if value is True else [str(value)]),
            )
        ]
        return [*self.command, *options]


def judging(replies: tuple[Any, ...] = (), fails_with: str = "", **fields: Any) -> Question:
    return Question(
        "/api/judge",
        ("ask", "--format", "json"),
        "judge_dispute",
        {**DISPUTE, **fields},
        "POST",
        replies,
        fails_with,
        renamed={"hear_other_side": "other-side"},
    )


def search(query: str, context: str = "@*", fails_with: str = "") -> Question:
    return Question(
        "/api/search",
        ("search", "--format", "json"),
        "search_documents",
        {"query": query, "context": context, "limit": 5},
        "POST",
        fails_with=fails_with,
        renamed={"limit": "k"},
    )


def code(name: str, tool: str, fails_with: str = "", exit_code: int = 1, **fields: Any) -> Question:
    return Question(
        f"/api/code/{name}",
        ("code", name),
        tool,
        {"repo": "shop", **fields},
        fails_with=fails_with,
        exit_code=exit_code,
        renamed={"max_results": "max-results"},
    )


QUESTIONS = {
    "a dispute": judging(),
    "a dispute with a scope": judging(scope="@collection:leases"),
    "a reply that is mended": judging((BAD_REPLY,)),
    "a dispute heard from both sides": judging(
        (GOOD_REPLY, RETOLD_REPLY, GOOD_REPLY), hear_other_side=True
    ),
    "both told that they are right": judging(
        (RIGHT_REPLY, RETOLD_REPLY, RIGHT_REPLY), hear_other_side=True
    ),
    "an unknown domain": judging(fails_with="unknown-domain", domain="magic"),
    "a dispute in an unknown collection": judging(fails_with="bad-scope", scope="@collection:x"),
    "a refusal of the model": judging((blocked("SAFETY"),), fails_with="content-blocked"),
    "two defective replies": judging((BAD_REPLY, BAD_REPLY), fails_with="invalid-reply"),
    "a search everywhere": search("boiler"),
    "a search in a collection": search("boiler", "@collection:Leases"),
    "a search by a scope in either place": search("boiler -@collection:leases", "@modified:today"),
    "a search that excludes": search("boiler", "-@tag:signed"),
    "brackets": search("boiler", "(@collection:manuals OR @tag:signed) -@document:lease.md"),
    "a bracket that is open": search("x (@tag:a OR @tag:b", fails_with="bad-scope"),
    "a search by document": search("deposit", "@document:lease.md"),
    "a scope that empties the answer": search("deposit", "@collection:manuals"),
    "a tag that nothing has": search("boiler", "@tag:nothing"),
    "nothing relevant": search("quantum cooking techniques"),
    "an unknown collection": search("boiler", "@collection:lease", fails_with="bad-scope"),
    "an empty value": search("boiler @tag:", fails_with="bad-scope"),
    "a context that is no scope": search("boiler", "leases", fails_with="bad-scope"),
    "nothing but a mention": search("@tag:signed", fails_with="invalid-request"),
    "a text in the code": code("search", "search_code", query="price()", limit=5),
    "uses of a symbol": code("where-used", "where_used", symbol="total"),
    "what a symbol needs": code("lineage", "lineage", symbol="pay", direction="upstream"),
    "an unknown symbol": code("where-used", "where_used", "not-found", symbol="nobody"),
    "an ambiguous symbol": code("lineage", "lineage", "ambiguous", symbol="add"),
    "an unknown direction": code(
        "lineage", "lineage", "invalid-request", 2, symbol="pay", direction="aside"
    ),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("entrypoints")
    with open_world(folder) as world, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in world.environment.items():
            patch.setenv(name, value)
        patch.setenv("JUDGE_CODE_ROOTS", f"shop={write_repository(folder / 'shop')}")
        add(folder, "lease.md", LEASE, "--collection", "leases", "--tag", "signed")
        add(folder, "manual.md", MANUAL, "--collection", "manuals")
        yield world


def add(folder: Path, name: str, text: str, *options: str) -> None:
    (folder / name).write_text(text)
    assert run(["index", "add", name, *options], CommandContext(print, print)) == 0


@pytest.fixture
def cli(capsys) -> CommandLine:
    capsys.readouterr()
    return CommandLine(capsys)


@pytest.mark.parametrize("name", QUESTIONS)
def test_all_entrypoints_give_the_same_answer(name, world, cli):
    question = QUESTIONS[name]
    shop = str(world.directory / "shop")
    world.gemini.script(*question.replies)
    told = cli(*(shop if part == "shop" else part for part in question.arguments))
    world.gemini.script(*question.replies)
    replied = asyncio.run(over_http(question))
    world.gemini.script(*question.replies)
    answered = asyncio.run(over_mcp(question))
    if question.fails_with:
        assert_same_refusal(question, told, replied, answered)
    else:
        assert told.code in {0, 1}, told.err
        assert (replied.status_code, answered.is_error) == (200, False)
        assert_same_answer(
            json.loads(told.out), replied.json(), json.loads(answered.content[0].text)
        )


async def over_http(question: Question) -> httpx.Response:
    settings, journal = load_settings(), RecordingJournal()
    app = create_app(
        settings,
        journal=journal,
        counts=Metrics(),
        is_public=False,
    )
    transport = httpx.ASGITransport(app=app)
    kind = "params" if question.method == "GET" else "json"
    async with (
        app.lifespan(),
        httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client,
    ):
        return await client.request(question.method, question.path, **{kind: dict(question.fields)})


async def over_mcp(question: Question) -> Any:
    async with (
        open_services(load_settings(), RecordingJournal()) as services,
        Client(build_server(services, lambda _: OPERATOR, is_structured=False)) as client,
    ):
        return await client.call_tool(question.tool, dict(question.fields))


def assert_same_refusal(
    question: Question, told: CommandResult, replied: httpx.Response, answered
) -> None:
    problem = replied.json()
    assert problem["type"] == f"/problems/{question.fails_with}"
    assert answered.is_error
    assert answered.content[0].text == problem["detail"]
    members = json.loads(answered.content[1].text)
    asked = {name: members.pop(name, None) for name in ("query", "context")}
    assert members.items() <= problem.items()
    assert all(asked[name] in (None, question.fields.get(name)) for name in asked)
    assert told.code == question.exit_code
    assert problem["detail"] in (told.err or json.loads(told.out)["message"])


def assert_same_answer(told: dict, replied: dict, answered: dict) -> None:
    if "chunks" in replied:
        ids = [chunk["id"] for chunk in replied["chunks"]]
        assert [chunk["chunk_id"] for chunk in told["chunks"]] == ids
        assert told.get("hint") == replied.get("hint")
        assert answered["results"] == replied["chunks"]
        for name in ("query", "context", "total_found", "filters_applied"):
            assert answered[name] == replied[name]
        assert (answered["hint"] or None) == replied.get("hint")
    else:
        assert stable(told) == stable(replied) == stable(answered)


def stable(value: Any) -> Any:
    """*value* without the members that differ each time."""
    if isinstance(value, dict):
        return {
            k: stable(v) for k, v in value.items() if k not in VOLATILE | {"hint", "next_cursor"}
        }
    return [stable(item) for item in value] if isinstance(value, list) else value


BAD_DISPUTES = {
    "a short context": ({"context": "Cold."}, ["context must have at least 10 characters"]),
    "a long question": ({"query": "why " * 300}, ["query must have at most 1000 characters"]),
    "NUL in a text": (
        {"context": f"{DISPUTE['context']}\0"},
        ["context must not hold NUL characters"],
    ),
    "two fields": (
        {"context": "", "query": "Why?"},
        ["context must have at least 10 characters", "query must have at least 5 characters"],
    ),
}
"""Invalid fields, and the message for each at every entrypoint."""


@pytest.mark.parametrize("name", BAD_DISPUTES)
def test_wrong_field_has_the_same_message_at_every_entrypoint(
    name, world, cli, monkeypatch, tmp_path
):
    changes, messages = BAD_DISPUTES[name]
    fields = {**DISPUTE, **changes}
    words = " ".join(f"{message}." for message in messages)
    replied = asyncio.run(over_http(replace(QUESTIONS["a dispute"], fields=fields)))
    answered = asyncio.run(over_mcp(replace(QUESTIONS["a dispute"], fields=fields)))
    monkeypatch.setattr(sys, "stdin", io.StringIO(fields["context"]))
    asked = cli("ask", "--context", "-", "--query", fields["query"])
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(fields)))
    recorded = cli("golden", "new", "case", "--cases", str(tmp_path))
    (tmp_path / "case.json").write_text(json.dumps({"input": fields}))
    replayed = cli("golden", "run", "--cases", str(tmp_path))
    assert replied.json()["detail"] == words
    assert answered.content[0].text == words
    assert (asked.code, asked.err) == (2, f"judge: {words}\n")
    assert (recorded.code, recorded.err) == (2, f"judge: {words}\n")
    in_case = " ".join(f"input.{message}." for message in messages)
    assert (replayed.code, in_case in replayed.err) == (2, True)
