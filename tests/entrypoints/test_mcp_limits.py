"""MCP replies are never longer than a client can take, and say what was left out."""

import json
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.bootstrap.code_roots import open_roots
from judge.entrypoints.mcp.results import MAX_BYTES, capped, size_of
from judge.entrypoints.mcp.tools import fitting_verdict
from judge.library.search.answer_format import format_answer
from judge.library.search.service import SearchParameters
from judge.types.requests import JudgeRequest
from tests.entrypoints.api_bench import DISPUTE, GOOD_REPLY
from tests.entrypoints.mcp_bench import OpenMcpBench, open_mcp_bench, text_of, write_repository
from tests.fakes.model import ScriptedModel
from tests.fakes.passages import document

LONG = document(*(f"lidar {number} " * 240 for number in range(40)), id="long")
HUGE = document(*(f"lidar {number} " * 2500 for number in range(7)), id="huge")
CALLS = {
    f"m{number}.py": "from base import load\n\n\n"
    + "".join(f"def use_{number}_{n}():\n    return load('{'x' * 60}')\n\n\n" for n in range(40))
    for number in range(5)
}


@pytest.fixture
def opened(tmp_path) -> OpenMcpBench:
    root = write_repository(tmp_path / "long", {"base.py": "def load(x):\n    return x\n", **CALLS})
    roots = open_roots([f"long={root}"])
    documents = (LONG, HUGE, document(*["word"] * 40, id="short", collection="c" * 400))
    return partial(open_mcp_bench, tmp_path, documents=documents, roots=roots)


LONG_ANSWERS = [
    ("where_used", {"symbol": "load", "limit": 200}, "items"),
    ("lineage", {"symbol": "load", "max_results": 200}, "items"),
    ("code_context", {"symbol": "load", "tokens": 20_000}, "items"),
    ("search_code", {"query": "return load", "limit": 200}, "items"),
    ("search_documents", {"query": "lidar", "limit": 50}, "results"),
    ("search_documents", {"query": "lidar", "limit": 50, "format": "answer"}, "results"),
    ("fetch", {"id": "default/long:9", "neighbours": 5}, "passages"),
    ("fetch", {"id": "default/huge:1"}, "passages"),
]


@pytest.mark.no_cover  # the same lines again and again
async def test_long_answers_are_cut_and_say_so(opened):
    async with opened() as mcp_server, mcp_server.client() as client:
        for tool, arguments, items in LONG_ANSWERS:
            result = await client.call_tool(tool, arguments)
            found = result.structured_content
            texts = [text.text for text in result.content]
            assert sum(len(text.encode()) for text in texts) + size_of(found) <= MAX_BYTES + 200
            assert found[items]
            assert json.loads(texts[-1])[items] == found[items]
            assert found["truncated"] is True
            assert "raise the limit" in found["hint"]


async def test_long_resources_are_cut(tmp_path):
    title = "t" * 200
    sources = "\n".join(
        f'[domains.d{n}]\ntitle = "{title}"\nterms = {{ w{n} = 3 }}' for n in range(90)
    )
    documents = [document("word", collection=f"{'c' * 300}{n}") for n in range(90)]
    async with (
        open_mcp_bench(tmp_path, documents=tuple(documents), sources=sources) as mcp_server,
        mcp_server.client() as client,
    ):
        for items in ("domains", "collections"):
            address = f"judge://{items}"
            text = (await client.read_resource(address)).contents[0].text
            assert len(text.encode()) <= MAX_BYTES + 100
            assert json.loads(text)["truncated"] is True
            assert len(json.loads(text)[items]) > 20


async def test_a_verdict_that_does_not_fit_keeps_what_is_cited(opened):
    async with opened(ScriptedModel(GOOD_REPLY)) as mcp_server:
        verdict = await mcp_server.services.pipeline.judge(JudgeRequest(**DISPUTE), request_id="1")
    uncited = replace(verdict.references[0], number=2, cited=False)
    whole = replace(verdict, references=(*verdict.references, uncited))
    assert fitting_verdict(whole, MAX_BYTES) == whole
    fitted = fitting_verdict(whole, 1_000)
    assert fitted.snippets == ()
    assert [one.text for one in fitted.references] == [whole.references[0].text, ""]


async def test_text_only_clients_get_everything_as_text(opened):
    asked = {"query": "lidar", "context": "@document:long", "format": "answer"}
    async with opened() as mcp_server, mcp_server.client(is_structured=False) as client:
        listed = await client.list_tools()
        plain = await client.call_tool("search_documents", {"query": "lidar", "limit": 1})
        told, rest = (await client.call_tool("search_documents", asked)).content
    assert len(listed.model_dump_json(by_alias=True, exclude_none=True)) <= 20_000
    assert all(tool.output_schema is None for tool in listed.tools)
    assert plain.structured_content is None
    assert json.loads(text_of(plain))["results"][0]["text"]
    assert told.text.startswith("Based on the indexed files, here are the relevant sections:")
    assert told.text.endswith(f'<cite i="{len(json.loads(rest.text)["results"])}"/>\n')


async def test_the_answer_format_is_that_of_the_other_doors(tmp_path):
    asked = {"query": "lidar distance", "context": "@collection:robots", "format": "answer"}
    async with open_mcp_bench(tmp_path) as mcp_server, mcp_server.client() as client:
        found = (await client.call_tool("search_documents", asked)).structured_content
        nothing = await client.call_tool(
            "search_documents", {"query": "quantum cooking", "format": "answer"}
        )
        same = await mcp_server.services.corpus.search.search(
            SearchParameters("lidar distance", context="@collection:robots")
        )
    assert found["answer"] == format_answer(same.results.hits)
    assert {chunk["text"] for chunk in found["results"]} == {""}
    assert "no relevant sections" in nothing.structured_content["answer"]


ITEMS = st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=9_000), max_size=3))


@given(ITEMS, ITEMS)
def test_any_lists_fit_and_keep_their_order(first, second):
    answer: dict[str, Any] = {"first": first, "second": second, "truncated": False}
    shown = capped(answer, ("first", "second"))
    assert size_of(shown) <= MAX_BYTES + 100
    kept = [set(one) for one in (*shown["first"], *shown["second"])]
    assert kept == [set(one) for one in (*first, *second)][: len(kept)]
    assert shown["truncated"] is (len(kept) < len(first) + len(second))
