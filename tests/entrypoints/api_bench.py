"""The HTTP app over fakes, and a client that calls it in this process and event loop."""

import asyncio
import functools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import httpx
from litestar import Litestar

from judge.adapters.files.watched_file import WatchedFile
from judge.adapters.journal import Journals, LogJournal
from judge.adapters.memory import MemoryCache, MemoryLock
from judge.adapters.metrics import Metrics
from judge.bootstrap.corpus import open_search
from judge.bootstrap.services import Services
from judge.bootstrap.sources import compile_knowledge
from judge.entrypoints.api.app import create_app
from judge.judging.results import Knowledge
from judge.library.pages.retriever import SnippetRetriever
from judge.ports import LanguageModel, RateLimiter
from judge.settings import Settings
from judge.types.text_files import TextFile
from tests.entrypoints.conformance import check_reply
from tests.fakes.clock import FakeClock
from tests.fakes.fetcher import ScriptedFetcher
from tests.fakes.gemini import verdict_for
from tests.fakes.journal import RecordingJournal
from tests.fakes.model import ScriptedModel
from tests.fakes.pipeline import build_pipeline

REPAIRS_URL = "https://advice.example/repairs"
SOURCES = f"""
[blocked]
help = [{{ title = "Listeners", url = "https://help.example/", phone = "116 000" }}]

[domains.tenancy]
title = "Renting a home"
[domains.tenancy.terms]
landlord = 3
boiler = 2
[[domains.tenancy.sources]]
url = "{REPAIRS_URL}"
title = "Repairs"

[domains.workplace]
title = "Work"
[domains.workplace.terms]
grievance = 3
"""
PARAGRAPH = (
    "Your landlord has to keep the boiler in working order and must start repairs within a "
    "reasonable time after you have told them that it has stopped working."
)
REPAIRS_PAGE = f"<html><body><main><h1>Repairs</h1><p>{PARAGRAPH}</p></main></body></html>"

DISPUTE = {
    "context": "My landlord has not mended the boiler for three weeks.",
    "query": "Am I being unreasonable to complain?",
}
GOOD_REPLY = json.dumps(verdict_for(f"<REFERENCES>\n[1] {{1}} {PARAGRAPH}\n</REFERENCES>"))
RIGHT_REPLY = GOOD_REPLY.replace('"Partially"', '"No"')
RETELLING = "I have not mended my tenant's boiler for three weeks."
RETOLD_REPLY = json.dumps({"retelling": RETELLING, "query": "Am I being unreasonable to wait?"})
BAD_REPLY = GOOD_REPLY.replace("[1]", "[7]")


def knowledge_of(main: TextFile) -> Knowledge:
    """The compiled *main*; the sources of most tests are compiled once."""
    return _usual_knowledge() if main.text == SOURCES else compile_knowledge(main)


@functools.cache
def _usual_knowledge() -> Knowledge:
    return compile_knowledge(SOURCES)


@dataclass
class Bench:
    """The app's dependencies, which a test can inspect and change."""

    app: Litestar
    services: Services
    model: LanguageModel
    fetcher: ScriptedFetcher
    clock: FakeClock
    recorded: RecordingJournal
    log: StringIO
    counts: Metrics
    client: httpx.AsyncClient
    sources: Path


@asynccontextmanager
async def open_bench(
    file: Path,
    model: LanguageModel | None = None,
    *,
    settings: Settings | None = None,
    degraded: tuple[str, ...] = (),
    sources: str = SOURCES,
    warm: Callable[[], Awaitable[None]] | None = None,
    is_public: bool = False,
    limiter: RateLimiter | None = None,
    heartbeat_s: float = 5.0,
) -> AsyncIterator[Bench]:
    """Open the app over fakes, with its sources in *file*."""
    await asyncio.to_thread(file.write_text, sources)
    model = model or ScriptedModel()
    settings = settings or Settings(_env_file=None)
    clock, fetcher, recorded, log = FakeClock(), ScriptedFetcher(), RecordingJournal(), StringIO()
    fetcher.page(REPAIRS_URL, REPAIRS_PAGE)
    counts = Metrics()
    journal = Journals(recorded, LogJournal(log), counts)
    watched = WatchedFile(file, knowledge_of, clock, journal)
    retriever = SnippetRetriever(fetcher, MemoryCache(clock), MemoryLock(clock), clock, journal)
    pipeline = build_pipeline(
        watched.current,
        retriever,
        model,
        clock=clock,
        journal=journal,
        deadline_s=settings.deadline_s,
    )
    stack = AsyncExitStack()
    nothing = settings.model_copy(update={"data_dir": str(file.parent / "nothing-indexed")})
    corpus = await stack.enter_async_context(open_search(nothing, recorded))
    services = Services(
        settings=settings,
        pipeline=pipeline,
        retriever=retriever,
        sources=watched,
        journal=journal,
        clock=clock,
        degraded=lambda: degraded,
        warm=warm or _warm,
        read_ahead=asyncio.Event().wait,
        corpus=corpus,
        limiter=limiter,
    )
    app = create_app(
        settings,
        open_services=lambda *_: nullcontext(services),
        journal=journal,
        counts=counts,
        heartbeat_s=heartbeat_s,
        is_public=is_public,
    )
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with (
        stack,
        app.lifespan(),
        httpx.AsyncClient(
            transport=transport,
            base_url="http://localhost",
            event_hooks={"response": [check_reply]},
        ) as client,
    ):
        yield Bench(app, services, model, fetcher, clock, recorded, log, counts, client, file)
    await retriever.aclose()


async def _warm() -> None:
    """Fakes need no warm-up."""
