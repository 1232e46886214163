"""Pagination of MCP replies: never too long, nothing twice, nothing left out."""

import base64
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client

from judge.bootstrap.code_roots import open_roots
from judge.entrypoints.mcp.judge_tool import LEFT_OUT, fitting_verdict
from judge.entrypoints.mcp.pagination import (
    FIRST_PART,
    MAX_REPLY,
    MAX_STRUCTURED,
    MAX_SUMMARY,
    BadCursor,
    Cursor,
    bounded,
    page_of,
    read_cursor,
    size_of,
    write_cursor,
)
from judge.library.search.answer_format import format_answer
from judge.library.search.service import SearchParameters
from judge.types.references import Excerpt
from judge.types.requests import JudgeRequest
from tests.entrypoints.api_bench import DISPUTE, GOOD_REPLY
from tests.entrypoints.mcp_bench import OpenMcpBench, open_mcp_bench, text_of, write_repository
from tests.fakes.model import ScriptedModel
from tests.fakes.passages import document

MAX_TOKENS = 8_000
CHARACTERS_A_TOKEN = 3
LONG = document(*(f"lidar {number} " * 240 for number in range(40)), id="long")
HUGE = document(*(f"lidar {number} " * 2500 for number in range(7)), id="huge")
WIDE = document(*("レーザー lidar 測距" * 300 for _ in range(4)), id="wide")
CALLS = {
    f"m{number}.py": "from base import load\n\n\n"
    + "".join(f"def use_{number}_{n}():\n    return load('{'x' * 60}')\n\n\n" for n in range(40))
    for number in range(5)
}


@pytest.fixture
def opened(tmp_path) -> OpenMcpBench:
    return partial(open_mcp_bench, tmp_path)


@pytest.fixture
def roots(tmp_path):
    files = {"base.py": "def load(name):\n    return name\n", **CALLS}
    return open_roots([f"long={write_repository(tmp_path / 'long', files)}"])


def sent_by(result: Any) -> str:
    """Everything that a client is sent."""
    return result.model_dump_json(by_alias=True, exclude_none=True)


async def parts_of(client: Client, tool: str, arguments: dict[str, Any]) -> AsyncIterator[Any]:
    """All pages of an answer; each must fit the size limit of a reply."""
    cursor = None
    while True:
        given = {**arguments, **({"cursor": cursor} if cursor else {})}
        result = await client.call_tool(tool, given)
        assert not result.is_error, text_of(result)
        assert len(sent_by(result)) <= MAX_TOKENS * CHARACTERS_A_TOKEN
        assert len(text_of(result).encode()) <= MAX_SUMMARY
        yield result
        cursor = result.structured_content.get("next_cursor")
        assert result.structured_content["truncated"] is (cursor is not None)
        if cursor is None:
            return


@pytest.mark.parametrize(
    ("tool", "arguments", "items", "total"),
    [
        ("search_code", {"query": "return load", "limit": 2}, "items", 5),
        ("where_used", {"symbol": "load", "limit": 30}, "items", 206),
        ("where_used", {"symbol": "load", "limit": 200}, "items", 206),
        ("lineage", {"symbol": "load", "max_results": 200}, "items", 200),
        ("search_documents", {"query": "lidar", "limit": 50}, "results", 40),
        ("search_documents", {"query": "lidar", "limit": 3}, "results", 40),
        ("fetch", {"id": "default/long:9", "neighbours": 5}, "passages", 11),
    ],
)
async def test_cursors_page_through_the_whole_answer_once(  # noqa: PLR0917 - a row of the table
    opened, roots, tool, arguments, items, total
):
    async with opened(documents=(LONG,), roots=roots) as mcp_server, mcp_server.client() as client:
        parts = [one.structured_content async for one in parts_of(client, tool, arguments)]
    found = [json.dumps(item) for part in parts for item in part[items]]
    assert len(set(found)) == len(found)
    assert len(found) == total
    limit = arguments.get("limit") or arguments.get("max_results") or 50
    assert all(len(part[items]) <= limit for part in parts)
    assert all("ask again with `cursor`" in part["hint"] for part in parts[:-1])
    assert len(parts) > 1


async def test_very_many_collections_are_listed_in_parts(opened):
    documents = tuple(document("word", collection=f"{'c' * 700}{n}") for n in range(100))
    async with opened(documents=documents) as mcp_server, mcp_server.client() as client:
        parts = [one.structured_content async for one in parts_of(client, "list_collections", {})]
    names = [one["name"] for part in parts for one in part["collections"]]
    assert len(set(names)) == len(names) == parts[0]["total"] == 100
    assert len(parts) > 1


@pytest.mark.parametrize("long", [HUGE, WIDE])
async def test_passage_longer_than_a_reply_is_cut_with_a_note(opened, long):
    async with opened(documents=(long,)) as mcp_server, mcp_server.client() as client:
        asked = {"query": "lidar", "limit": 10}
        parts = [one async for one in parts_of(client, "search_documents", asked)]
        fetched = [one async for one in parts_of(client, "fetch", {"id": long.passages[1].id})]
    texts = [chunk["text"] for part in parts for chunk in part.structured_content["results"]]
    assert len(texts) == len(long.passages)
    near = [one for part in fetched for one in part.structured_content["passages"]]
    assert [one["position"] for one in near] == [0, 1, 2]
    if long is HUGE:
        assert all(text.endswith("…") for text in texts)


async def test_the_widest_context_of_a_symbol_fits(opened, roots):
    asked = {"symbol": "load", "tokens": 20_000}
    async with opened(roots=roots) as mcp_server, mcp_server.client() as client:
        first = await client.call_tool("code_context", asked)
    assert len(sent_by(first)) <= MAX_TOKENS * CHARACTERS_A_TOKEN
    assert first.structured_content["items"][0]["kind"] == "definition"
    assert first.structured_content["next_cursor"]


@pytest.mark.parametrize(("references", "is_left_out"), [(3, False), (8, False), (12, True)])
async def test_a_verdict_with_many_long_references_fits_and_keeps_what_is_cited(
    opened, references, is_left_out
):
    async with opened(ScriptedModel(GOOD_REPLY)) as mcp_server:
        verdict = await mcp_server.services.pipeline.judge(JudgeRequest(**DISPUTE), request_id="1")
    [one] = verdict.references
    many = tuple(
        replace(one, number=n, cited=n == 1, text="The landlord repairs the boiler. " * 34)
        for n in range(1, references + 1)
    )
    excerpts = tuple(Excerpt(one.url, one.text) for one in many)
    whole = replace(verdict, references=many, snippets=excerpts, summary="Pay on. " * 120)
    fitted = fitting_verdict(whole)
    assert size_of(fitted) <= MAX_STRUCTURED
    assert fitted.references[0].text == many[0].text
    assert (fitted.references[1].text == "") is is_left_out
    assert (LEFT_OUT in fitted.warnings) is is_left_out
    assert fitted.personas == whole.personas


async def test_list_of_changed_files_is_bounded(opened, tmp_path, roots):
    for number in range(900):
        (tmp_path / "long" / f"new_module_number_{number}.py").write_text("x = 1\n")
    async with opened(roots=roots) as mcp_server, mcp_server.client() as client:
        result = await client.call_tool("where_used", {"symbol": "load", "limit": 5})
    added = result.structured_content["staleness"]["added"]
    assert len(sent_by(result)) <= MAX_TOKENS * CHARACTERS_A_TOKEN
    assert added[-1] == "… and 870 more"
    assert len(result.structured_content["items"]) == 5


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("lineage", {"symbol": "load"}),
        ("where_used", {"symbol": "load"}),
        ("search_documents", {"query": "lidar"}),
        ("fetch", {"id": "default/long:9"}),
    ],
)
async def test_structured_content_is_not_repeated_as_text(opened, roots, tool, arguments):
    async with opened(documents=(LONG,), roots=roots) as mcp_server, mcp_server.client() as client:
        result = await client.call_tool(tool, arguments)
    structured = json.dumps(result.structured_content, ensure_ascii=False)
    assert len(text_of(result)) < len(structured) / 2
    assert LONG.passages[9].text not in text_of(result)
    with pytest.raises(json.JSONDecodeError):
        json.loads(text_of(result))


async def test_list_of_tools_is_short(opened):
    async with opened() as mcp_server, mcp_server.client() as client:
        listed = await client.list_tools()
    assert len(sent_by(listed)) <= 27_000
    for tool in listed.tools:
        properties = tool.output_schema["properties"]
        assert ("next_cursor" in properties) is ("cursor" in tool.input_schema["properties"])


async def test_text_only_clients_get_everything_as_text_once(opened):
    async with opened() as mcp_server, mcp_server.client(wants_text=True) as client:
        tools = (await client.list_tools()).tools
        result = await client.call_tool("search_documents", {"query": "lidar", "limit": 1})
        told = json.loads(text_of(result))
        rest = await client.call_tool(
            "search_documents", {"query": "lidar", "limit": 1, "cursor": told["next_cursor"]}
        )
    assert all(tool.output_schema is None for tool in tools)
    assert result.structured_content is None
    assert "text" in told["results"][0]
    assert json.loads(text_of(rest))["results"][0]["id"] != told["results"][0]["id"]


async def test_the_answer_format_comes_as_it_is_to_clients_that_read_only_text(opened):
    asked = {"query": "lidar", "format": "answer"}
    async with opened() as mcp_server, mcp_server.client(wants_text=True) as client:
        told, rest = (await client.call_tool("search_documents", asked)).content
    assert told.text.startswith("Based on the indexed files, here are the relevant sections:")
    assert told.text.endswith('<cite i="3"/>\n')
    assert len(json.loads(rest.text)["results"]) == 3


async def test_the_answer_format_is_offered_and_its_parts_fit(opened):
    asked = {"query": "lidar", "format": "answer", "limit": 50}
    async with opened(documents=(LONG,)) as mcp_server, mcp_server.client() as client:
        parts = [one async for one in parts_of(client, "search_documents", asked)]
    assert len(parts) > 1
    ids = [chunk["id"] for part in parts for chunk in part.structured_content["results"]]
    assert len(set(ids)) == len(ids) == 40
    for part in parts:
        found = part.structured_content
        marks = " ".join(f'<cite i="{n}"/>' for n in range(1, len(found["results"]) + 1))
        assert found["answer"].endswith(f"---\nSources: {marks}\n")
        assert found["answer"].count("\n[") == len(found["results"])
        assert {chunk["text"] for chunk in found["results"]} == {""}
        assert f"Sources: {marks}" in text_of(part)


@pytest.mark.parametrize("more", [{}, {"context": f"@document:long,{'x' * 1800}"}])
async def test_each_block_of_the_answer_format_has_its_place_in_the_list(more, opened):
    deep = replace(LONG, passages=[replace(one, path="deep/" * 50) for one in LONG.passages])
    asked = {"query": "lidar", "format": "answer", **more}
    async with opened(documents=(deep,)) as mcp_server, mcp_server.client() as client:
        found = (await client.call_tool("search_documents", asked)).structured_content
    last = len(found["results"])
    assert last > 1
    assert found["answer"].endswith(f'<cite i="{last}"/>\n')
    assert found["answer"].count("\n[") == last


async def test_the_answer_format_is_that_of_the_other_doors(opened):
    asked = {"query": "lidar distance", "context": "@collection:robots", "format": "answer"}
    async with opened() as mcp_server, mcp_server.client() as client:
        found = (await client.call_tool("search_documents", asked)).structured_content
        nothing = await client.call_tool(
            "search_documents", {"query": "quantum cooking", "format": "answer"}
        )
        same = await mcp_server.services.corpus.search.search(
            SearchParameters("lidar distance", context="@collection:robots")
        )
    assert found["answer"] == format_answer(same.results.hits)
    assert "[1] perception/sensors.md:" in found["answer"]
    assert "no relevant sections" in nothing.structured_content["answer"]


def encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode()


def tampered(cursor: str) -> str:
    shown, seen, check = json.loads(base64.urlsafe_b64decode(cursor))
    return encoded(json.dumps([shown + 1, seen, check]).encode())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda asked: {**asked, "cursor": "x"}, "is none that was given here"),
        (lambda asked: {**asked, "cursor": 7}, "is none that was given here"),
        (lambda asked: {**asked, "cursor": encoded(b'[1e999, "", ""]')}, "is none that was given"),
        (lambda asked: {**asked, "cursor": tampered(asked["cursor"])}, "another question"),
        (lambda asked: {**asked, "query": "battery"}, "another question"),
        (lambda asked: {**asked, "limit": 2}, "another question"),
    ],
)
async def test_invalid_cursor_is_refused_with_a_message(opened, change, told):
    asked = {"query": "lidar", "limit": 1}
    async with opened() as mcp_server, mcp_server.client() as client:
        found = (await client.call_tool("search_documents", asked)).structured_content
        result = await client.call_tool(
            "search_documents", change({**asked, "cursor": found["next_cursor"]})
        )
    assert result.is_error
    assert text_of(result).startswith("cursor ")
    assert told in text_of(result)


async def test_cursor_of_a_changed_answer_is_refused(opened):
    asked = {"query": "lidar", "limit": 1}
    async with opened() as mcp_server, mcp_server.client() as client:
        found = (await client.call_tool("search_documents", asked)).structured_content
        async with mcp_server.services.corpus.indexer.store.writing() as writer:
            [best] = found["results"]
            await writer.remove(best["collection_name"], [best["document_id"]])
            await writer.commit()
        result = await client.call_tool(
            "search_documents", {**asked, "cursor": found["next_cursor"]}
        )
    assert result.is_error
    assert "has changed since; ask again without it" in text_of(result)


async def test_tools_without_lists_take_no_cursor(opened):
    async with opened() as mcp_server, mcp_server.client() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        result = await client.call_tool(
            "judge_dispute", {"context": "He never pays.", "query": "Is it fair?", "cursor": "x"}
        )
    assert "cursor" not in tools["judge_dispute"].input_schema["properties"]
    assert "cursor is not known here" in text_of(result)


ITEMS = st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=9_000), max_size=3))


@given(ITEMS, ITEMS)
def test_parts_of_any_lists_fit_and_hold_each_item_once_in_order(first, second):
    answer = {"first": first, "second": second, "name": "x", "truncated": False}
    found: list[Any] = []
    cursor, question = FIRST_PART, {"tool": "any"}
    while True:
        part = page_of(answer, ("first", "second"), cursor, question, more_to_find=False)
        assert size_of(part) <= MAX_STRUCTURED + 100
        found += [*part["first"], *part["second"]]
        assert part["truncated"] is ("next_cursor" in part)
        if not part["truncated"]:
            break
        cursor = read_cursor(part["next_cursor"], question)
    assert [set(one) for one in found] == [set(one) for one in (*first, *second)]


@given(st.text() | st.integers() | st.lists(st.text()) | st.none())
def test_whatever_is_sent_as_a_cursor_is_read_or_refused(sent):
    if sent is None:
        assert read_cursor(sent, {}) == FIRST_PART
        return
    with pytest.raises(BadCursor, match=r"^cursor "):
        read_cursor(sent, {})


@given(st.integers(1, 2000), st.text(max_size=16), st.text())
def test_a_cursor_reads_back_for_its_own_question_alone(shown, seen, query):
    question = {"query": query}
    written = write_cursor(Cursor(shown, seen), question)
    assert read_cursor(written, question) == Cursor(shown, seen)
    with pytest.raises(BadCursor, match="another question"):
        read_cursor(written, {"query": f"{query}!"})


def test_short_answer_is_not_cut():
    value = {"a": ["x" * 90] * 50, "b": "y" * 9000}
    assert bounded(value, 20_000) is value
    assert len(bounded(value, 10_000)["a"]) == 31


async def test_error_that_repeats_the_input_is_cut(opened):
    asked = {
        "context": "My landlord left it broken.",
        "query": "Am I wrong?",
        "domain": "n" * 50_000,
    }
    async with opened() as mcp_server, mcp_server.client() as client:
        result = await client.call_tool("judge_dispute", asked)
    assert result.is_error
    assert text_of(result).startswith("There is no domain 'nnn")
    assert len(sent_by(result).encode()) <= MAX_REPLY
