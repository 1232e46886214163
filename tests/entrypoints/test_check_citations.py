"""Checking citations over HTTP, on the command line and over MCP gives the same answers."""

import io
import json
import sys
from functools import partial

import pytest

from judge.citations.check import AnswerSource, check_answer
from judge.entrypoints.check_requests import MAX_ANSWER, MAX_BYTES
from judge.settings import Settings
from tests.entrypoints.api_bench import PARAGRAPH, REPAIRS_URL, open_bench
from tests.entrypoints.command_line import CommandLine
from tests.entrypoints.mcp_bench import open_mcp_bench, text_of
from tests.entrypoints.running_server import World
from tests.fakes.passages import document

LEASE = "The landlord repairs the boiler within a week of being told."
DEPOSIT = "The deposit is returned within ten days of the end of the tenancy."
ANSWERS = {
    "supported": "The landlord repairs the boiler within a week [1]. Is that fair?",
    "partly": "The landlord repairs the boiler within a week [1].\r\nCouncils fine bad landlords.",
    "unsupported": "The deposit is returned within twenty days [2].",
    "broken": "The landlord repairs the boiler within a week [9].",
}
SOURCES = [{"text": LEASE, "title": "lease.md"}, {"text": DEPOSIT, "title": "deposit.txt"}]


@pytest.fixture
def opened(tmp_path):
    return partial(open_bench, tmp_path / "sources.toml")


@pytest.fixture
def cli(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lease.md").write_text(LEASE)
    (tmp_path / "deposit.txt").write_text(DEPOSIT)
    return CommandLine(capsys)


async def post(bench, answer="It is so [1].", sources=SOURCES, **fields):
    body = {"answer": answer, "sources": sources, **fields}
    return await bench.client.post("/api/check", json=body)


@pytest.mark.parametrize("verdict", ANSWERS)
async def test_all_entrypoints_and_the_library_give_the_same_answer(verdict, opened, tmp_path):
    fields = {"answer": ANSWERS[verdict], "sources": SOURCES}
    found = check_answer(
        ANSWERS[verdict], [AnswerSource(one["text"], one["title"]) for one in SOURCES]
    )
    assert found.verdict == verdict
    async with opened() as bench:
        replied = (await post(bench, ANSWERS[verdict])).json()
    async with open_mcp_bench(tmp_path) as door, door.client() as client:
        answered = (await client.call_tool("check_citations", fields)).structured_content
    assert answered.pop("truncated") is False
    assert answered == replied
    assert [mark["start"] for mark in replied["marks"]] == [mark.start for mark in found.marks]


@pytest.mark.parametrize("verdict", ANSWERS)
def test_the_command_prints_the_same_and_its_exit_code_is_the_verdict(verdict, cli, tmp_path):
    (tmp_path / "answer.md").write_bytes(ANSWERS[verdict].encode())
    told = cli("check", "answer.md", "lease.md", "deposit.txt", "--format", "json")
    found = check_answer(ANSWERS[verdict], [AnswerSource(LEASE, "lease.md"), AnswerSource(DEPOSIT)])
    assert told.code == (0 if verdict == "supported" else 1)
    shown = json.loads(told.out)
    assert list(shown) == ["marks", "uncited", "verdict", "sources"]
    assert shown["verdict"] == verdict
    assert [(m["start"], m["support"]) for m in shown["marks"]] == [
        (m.start, m.support) for m in found.marks
    ]
    assert [source["title"] for source in shown["sources"]] == ["lease.md", "deposit.txt"]


def test_command_prints_a_line_per_citation(cli, monkeypatch):
    answer = f"{ANSWERS['supported']}\nCouncils fine bad landlords. \x07See [9] and [3-1].\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    told = cli("check", "-", "lease.md")
    first, *others = told.out.splitlines()
    assert first.startswith("line 1: [1] source 1, support ")
    assert first.endswith(f": {LEASE}")
    assert others == [
        "line 2: cites nothing: Councils fine bad landlords.",
        "line 2: [9] has no source: they are numbered 1 to 1.",
        "line 2: [3-1] is no citation that can be understood.",
        "Verdict: broken",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.md", "lease.md"], "nothing.md cannot be read"),
        (["lease.md", "."], ". cannot be read"),
        (["lease.md", "empty.md"], "empty.md must not be empty"),
        (["long.md", "lease.md"], "answer must have at most 20000 characters"),
        (["lease.md", *["lease.md"] * 51], "sources must have at most 50 entries"),
        (["lease.md", "half.md", "half.md"], "262144 characters together"),
    ],
)
def test_uncheckable_input_is_exit_2(arguments, words, cli, tmp_path):
    (tmp_path / "empty.md").write_text("")
    (tmp_path / "long.md").write_text("x" * (MAX_ANSWER + 1))
    (tmp_path / "half.md").write_text("x" * (MAX_BYTES // 2 + 1))
    told = cli("check", *arguments)
    assert (told.code, told.out) == (2, "")
    assert words in told.err


def test_command_reads_only_approved_pages(cli, world: World, monkeypatch):
    for name, value in world.environment.items():
        monkeypatch.setenv(name, value)
    page = world.site.url("/repairs")
    (world.directory / "answer.md").write_text("You should go on paying the rent meanwhile [1].")
    told = cli("check", str(world.directory / "answer.md"), page, "--format", "json")
    [source] = json.loads(told.out)["sources"]
    assert source["title"] == "Page /repairs"
    assert "go on paying the rent" in source["text"]
    assert told.code == 0
    refused = cli("check", str(world.directory / "answer.md"), f"{page}/other")
    assert (refused.code, refused.out) == (2, "")
    assert f"{page}/other is not an approved page" in refused.err


async def test_pages_and_texts_keep_their_numbers(opened):
    sources = [{"text": LEASE}, {"url": REPAIRS_URL, "title": "Mine"}, {"text": DEPOSIT}]
    async with opened() as bench:
        body = (await post(bench, sources=sources)).json()
    assert [(one["number"], one["title"], one["text"]) for one in body["sources"]] == [
        (1, "", LEASE),
        (2, "Mine", PARAGRAPH),
        (3, "", DEPOSIT),
    ]


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"answer": ""}, "answer", "must not be empty"),
        ({"answer": "x" * 20_001}, "answer", "at most 20000"),
        ({"sources": []}, "sources", "must not be empty"),
        ({"sources": [{"text": "x"}] * 51}, "sources", "at most 50 entries"),
        ({"sources": [{}]}, "sources.0", "exactly one of text, url and passage"),
        ({"sources": [{"text": "x", "url": REPAIRS_URL}]}, "sources.0", "exactly one of"),
        ({"sources": [{"text": "x", "page": 1}]}, "sources.0.page", "known are text, url, "),
        ({"sources": [{"text": "x"}, {"text": "a\0"}]}, "sources.1.text", "must not hold NUL"),
        ({"sources": [{"url": "https://else.example/"}]}, "sources.0.url", "not an approved page"),
        ({"marks": "footnotes"}, "marks", "'brackets' or 'cite'"),
        ({"model": "x"}, "model", "known are answer, sources, marks"),
    ],
)
async def test_a_wrong_field_is_named(fields, field, words, opened):
    async with opened() as bench:
        reply = await post(bench, **fields)
    problem = reply.json()
    assert (reply.status_code, problem["type"]) == (400, "/problems/invalid-request")
    assert problem["errors"][0]["field"] == field
    assert words in problem["errors"][0]["message"]


async def test_a_page_that_cannot_be_read_is_named(opened):
    async with opened() as bench:
        bench.fetcher.fail(REPAIRS_URL)
        reply = await post(bench, sources=[{"text": "x"}, {"url": REPAIRS_URL}])
    assert reply.status_code == 400
    assert "sources.1.url cannot be read now" in reply.json()["detail"]


async def test_body_may_have_256_kib_at_most(opened):
    async with opened() as bench:
        fits = await post(bench, sources=[{"text": "x" * 250_000}])
        over = await post(bench, sources=[{"text": "x" * MAX_BYTES}])
        elsewhere = await bench.client.post("/api/judge", json={"context": "x" * 70_000})
    assert (fits.status_code, over.status_code, elsewhere.status_code) == (200, 413, 413)
    assert "256 KiB" in over.json()["detail"]
    assert "64 KiB" in elsewhere.json()["detail"]


async def test_passages_need_the_access_of_search_and_texts_do_not(opened):
    async with opened(is_public=True) as bench:
        plain = await post(bench)
        private = await post(bench, sources=[{"passage": "own/lease:0"}])
    assert (plain.status_code, private.status_code) == (200, 403)
    keys = Settings(_env_file=None, JUDGE_API_KEYS="open-sesame")
    async with opened(settings=keys) as bench:
        assert (await post(bench)).status_code == 401


async def test_passage_can_be_a_source(tmp_path):
    lease = document(LEASE, id="lease", collection="own", title="The lease")
    async with open_mcp_bench(tmp_path, documents=(lease,)) as door, door.client() as client:
        known = await client.call_tool(
            "check_citations",
            {"answer": ANSWERS["supported"], "sources": [{"passage": "own/lease:0"}]},
        )
        unknown = await client.call_tool(
            "check_citations", {"answer": "x", "sources": [{"passage": "own/rent:0"}]}
        )
    found = known.structured_content
    assert (found["verdict"], found["sources"][0]["title"]) == ("supported", "The lease")
    assert unknown.is_error
    assert "sources.0.passage is no passage of the index" in text_of(unknown)
