"""Twelve questions that an assistant asks of a project it does not know, in two calls at most each.

The answers are read from what a client shows: structured content, and the text of errors.
"""

import json
from functools import partial
from typing import Any

import pytest

from judge.bootstrap.code_roots import open_roots
from tests.entrypoints.mcp_bench import OpenMcpBench, open_mcp_bench, text_of, write_repository
from tests.fakes.passages import document

PROJECT = {
    "settings.py": (
        "# What ops tune.\nRETRIES = 3\n\n\n"
        "class Limits:\n    timeout_s: float = 5.0\n    size: int = 10\n"
    ),
    "routes.py": (
        "class BaseRoute:\n    def handle(self, request):\n        raise NotImplementedError\n\n\n"
        "class Health(BaseRoute):\n    def handle(self, request):\n        return 'ok'\n\n\n"
        "class Search(BaseRoute):\n"
        "    def handle(self, request):\n        return find(request)\n\n\n"
        "def find(request):\n    if not request:\n        raise ValueError('nothing to look for')\n"
        "    return rank(request)\n\n\n"
        "def rank(request):\n"
        '    """Put the best first; ties keep their order."""\n'
        "    return sorted(request)\n"
    ),
    "server.py": (
        "from routes import BaseRoute, find\nfrom settings import RETRIES, Limits\n\n\n"
        "def dispatch(route: BaseRoute, request):\n    for _ in range(RETRIES):\n"
        "        return route.handle(request)\n\n\n"
        "def warm(limits: Limits):\n    find(['x'])\n    return limits.timeout_s\n\n\n"
        "def close():\n    return None\n"
    ),
    "client.py": "def close():\n    return 1\n\n\ndef stop():\n    close()\n",
    "test_routes.py": (
        "from routes import find\n\n\ndef test_the_best_comes_first():\n"
        "    assert find([2, 1]) == [1, 2]\n"
    ),
}
HANDBOOK = document(
    "Start the server with serve and stop it with Ctrl-C.",
    "A request is tried three times before the server gives up.",
    id="handbook.md",
    collection="docs",
)


@pytest.fixture
def opened(tmp_path) -> OpenMcpBench:
    root = write_repository(tmp_path / "project", PROJECT)
    roots = open_roots([f"project={root}"])
    return partial(open_mcp_bench, tmp_path, documents=(HANDBOOK,), roots=roots)


class Assistant:
    """A client that counts its calls."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.calls = 0

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        self.calls += 1
        return await self._client.call_tool(tool, arguments)

    async def items(self, tool: str, **arguments: Any) -> list[dict[str, Any]]:
        result = await self(tool, **arguments)
        assert not result.is_error, text_of(result)
        return result.structured_content["items"]


async def where_is_it_defined(ask: Assistant) -> Any:
    return [
        (item["file"], item["line"])
        for item in await ask.items("where_used", symbol="rank")
        if item["kind"] == "definition"
    ]


async def who_calls_it(ask: Assistant) -> Any:
    items = await ask.items("where_used", symbol="find")
    return {item["enclosing"] for item in items if item["kind"] == "calls"}


async def what_does_it_call(ask: Assistant) -> Any:
    items = await ask.items("lineage", symbol="warm", direction="upstream", depth=1)
    return {item["symbol"] for item in items}


async def which_tests_reach_it(ask: Assistant) -> Any:
    items = await ask.items("code_context", symbol="rank")
    return [item["symbol"] for item in items if item["kind"] == "test"]


async def what_overrides_it(ask: Assistant) -> Any:
    items = await ask.items("where_used", symbol="BaseRoute.handle")
    return {item["enclosing"] for item in items if item["kind"] == "overrides"}


async def what_breaks_if_it_changes(ask: Assistant) -> Any:
    items = await ask.items("lineage", symbol="rank", direction="downstream")
    return {item["symbol"] for item in items}


async def what_does_it_promise(ask: Assistant) -> Any:
    found = (await ask("code_context", symbol="rank")).structured_content
    return found["docstring"], "return sorted(request)" in found["items"][0]["snippet"]["text"]


async def where_is_the_setting_read(ask: Assistant) -> Any:
    items = await ask.items("where_used", symbol="RETRIES")
    return {item["enclosing"] for item in items if item["kind"] == "references"}


async def who_reads_the_field(ask: Assistant) -> Any:
    items = await ask.items("where_used", symbol="Limits.timeout_s")
    return {item["enclosing"] for item in items if item["kind"] == "references"}


async def where_does_the_message_come_from(ask: Assistant) -> Any:
    [item] = await ask.items("search_code", query="nothing to look for")
    return item["file"], item["line"]


async def which_of_the_two_is_meant(ask: Assistant) -> Any:
    unclear = await ask("where_used", symbol="close")
    candidates = json.loads(unclear.content[1].text)["candidates"]
    name = next(one for one in candidates if "client" in one)
    return {item["enclosing"] for item in await ask.items("where_used", symbol=name)}


async def is_what_i_say_in_the_handbook(ask: Assistant) -> Any:
    found = await ask("search_documents", query="how often is a request tried @collection:docs")
    [hit] = found.structured_content["results"]
    claim = "A request is tried three times before the server gives up [1]."
    checked = await ask("check_citations", answer=claim, sources=[{"passage": hit["id"]}])
    return checked.structured_content["verdict"]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (where_is_it_defined, [("routes.py", 22)]),
        (
            who_calls_it,
            {"routes.Search.handle", "server.warm", "test_routes.test_the_best_comes_first"},
        ),
        (what_does_it_call, {"routes.find", "settings.Limits", "settings.Limits.timeout_s"}),
        (which_tests_reach_it, ["test_routes.test_the_best_comes_first"]),
        (what_overrides_it, {"routes.Health.handle", "routes.Search.handle"}),
        (
            what_breaks_if_it_changes,
            {
                "routes.find",
                "routes.Search.handle",
                "server.warm",
                "server.dispatch",
                "test_routes.test_the_best_comes_first",
            },
        ),
        (what_does_it_promise, ("Put the best first; ties keep their order.", True)),
        (where_is_the_setting_read, {"server.dispatch"}),
        (who_reads_the_field, {"server.warm"}),
        (where_does_the_message_come_from, ("routes.py", 18)),
        (which_of_the_two_is_meant, {"client.close", "client.stop"}),
        (is_what_i_say_in_the_handbook, "supported"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
async def test_a_question_about_an_unknown_project_takes_two_calls_at_most(
    opened, question, answer
):
    async with opened() as mcp_server, mcp_server.client() as client:
        ask = Assistant(client)
        assert await question(ask) == answer
    assert 1 <= ask.calls <= 2
