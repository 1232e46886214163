"""The MCP entrypoint over fakes, a real index and a real code graph, with the official client."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from codegraph.python_api import build_graph_for_repo
from mcp import Client

from judge.bootstrap.code_roots import CodeRoots, open_roots
from judge.bootstrap.corpus import open_search
from judge.bootstrap.services import Services
from judge.entrypoints.mcp.server import build_server
from judge.library.search.service import CitablePassageFinder
from judge.ports import LanguageModel
from judge.settings import Settings
from judge.types.search import OPERATOR, DocumentWithPassages
from tests.entrypoints.api_bench import SOURCES, open_bench
from tests.fakes.journal import RecordingJournal
from tests.fakes.passages import book, document

MODES = ("auto", "legacy")
"""Both versions of the protocol."""

NOTES = document("The lidar was replaced.", id="notes.md", collection="minutes", tags=("draft",))

CODE = {
    "shop.py": (
        "def price():\n    return 1\n\n\ndef total():\n    return price()\n\n\n"
        "class Cart:\n    def add(self): ...\n\n\nclass Bill:\n    def add(self): ...\n"
    ),
    "till.py": "from shop import total\n\n\ndef pay():\n    return total()\n",
}


def write_repository(root: Path, files: dict[str, str] | None = None) -> Path:
    """Write a repository below *root* and build its code graph."""
    root.mkdir(parents=True, exist_ok=True)
    for name, text in (files or CODE).items():
        (root / name).write_text(text)
    build_graph_for_repo(root)
    return root


@dataclass
class McpBench:
    """The server's dependencies; `client()` connects to it."""

    services: Services
    recorded: RecordingJournal

    def client(self, mode: str = "auto", *, is_structured: bool = True) -> Client:
        server = build_server(self.services, lambda _: OPERATOR, is_structured=is_structured)
        return Client(server, mode=mode, read_timeout_seconds=60)


OpenMcpBench = Callable[..., AbstractAsyncContextManager[McpBench]]


@asynccontextmanager
async def open_mcp_bench(
    folder: Path,
    model: LanguageModel | None = None,
    *,
    documents: tuple[DocumentWithPassages, ...] | None = None,
    roots: CodeRoots | None = None,
    has_index: bool = True,
    sources: str = SOURCES,
) -> AsyncIterator[McpBench]:
    """Open the server over a book on robots and the code of a small shop."""
    settings = Settings(_env_file=None, JUDGE_DATA_DIR=str(folder / "data"))
    if roots is None:
        shop = await asyncio.to_thread(write_repository, folder / "shop")
        roots = open_roots([f"shop={shop}"])
    async with (
        open_bench(folder / "sources.toml", model, sources=sources) as bench,
        open_search(settings, bench.recorded) as corpus,
    ):
        if has_index:
            async with corpus.indexer.store.writing() as writer:
                await writer.replace((*book(), NOTES) if documents is None else documents)
                await writer.commit()
        pipeline = replace(
            bench.services.pipeline,
            references=replace(
                bench.services.pipeline.references,
                passages=CitablePassageFinder(corpus.search, bench.clock),
            ),
        )
        services = replace(
            bench.services,
            corpus=corpus,
            code=roots,
            pipeline=pipeline,
        )
        yield McpBench(services, bench.recorded)


def text_of(result: Any) -> str:
    """The first text of a tool's result."""
    return result.content[0].text
