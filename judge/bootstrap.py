"""Joins ports to adapters for a process: opens what it needs, and closes it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import httpx

from judge.adapters.admission import PATIENCE_SHARE, Admission
from judge.adapters.budgeted_model import BudgetedModel, DailyBudget
from judge.adapters.embedding.batches import PASSAGES_TIMEOUT_S
from judge.adapters.embedding.cohere import cohere_embedder
from judge.adapters.embedding.query_cache import QueryVectorCache
from judge.adapters.extractive_model import ExtractiveModel
from judge.adapters.files.document_files import LocalFiles
from judge.adapters.files.last_good import LastGood
from judge.adapters.files.pdf_text import pdf_text
from judge.adapters.files.text_files import read_text_files
from judge.adapters.files.watched_file import WatchedFile
from judge.adapters.gemini.client import GeminiClient
from judge.adapters.gemini.embedder import gemini_embedder
from judge.adapters.gemini.model import GeminiService
from judge.adapters.memory_cache import MemoryCache, MemoryLock
from judge.adapters.qdrant.factory import open_qdrant
from judge.adapters.redis.cache import SharedRedis, open_redis
from judge.adapters.redis.failover import Failover, SharedStores
from judge.adapters.redis.rate_limit import FallbackRateLimiter, MemoryRateLimiter, RedisRateLimiter
from judge.adapters.redis.token_budget import MemoryTokenBudget, RedisTokenBudget
from judge.adapters.remote_model import ModelService, RemoteModel
from judge.adapters.system_clock import SystemClock
from judge.adapters.tantivy.index import TantivyIndex
from judge.adapters.tantivy.writer import TantivyStore
from judge.adapters.vectors.factory import open_vectors
from judge.adapters.web.fetcher import HttpxFetcher, open_fetcher
from judge.codegraph.query.roots import CodeRoots, open_roots
from judge.errors import ConfigurationError, MissingKey
from judge.judging.domains import compile_detector
from judge.judging.knowledge import Knowledge
from judge.judging.model_caller import ModelCaller
from judge.judging.pages.meaning import PageMeaning
from judge.judging.pages.read_ahead import ReadAhead
from judge.judging.pages.retriever import SnippetRetriever
from judge.judging.pipeline import Pipeline, admit_everybody
from judge.judging.prompts.personas import DEFAULT_PERSONAS
from judge.judging.prompts.render import prompt_digest
from judge.judging.references import ReferenceCollector
from judge.judging.safety import compile_safety
from judge.judging.sources import parse_sources
from judge.judging.sources_file.read_table import included_files
from judge.judging.support_by_model import SupportByModel
from judge.judging.verdicts.reply_schema import exact_reply_schema, reply_schema
from judge.judging.vocabulary import Vocabulary
from judge.ports import (
    Catalogue,
    Clock,
    Embedder,
    Journal,
    LanguageModel,
    RateLimiter,
    SearchEngine,
    VectorStorage,
)
from judge.search.citable_passages import CitablePassageFinder
from judge.search.indexing.indexer import DocumentIndexer
from judge.search.service import DocumentSearch
from judge.settings import EXTRACTIVE, OPENAI, Settings
from judge.types.limits import parse_rate_limit
from judge.types.results import Versions
from judge.types.search import Viewer
from judge.types.text_files import TextFile
from judge.vocabulary.package_files import safety_file, subject_files

NO_EMBEDDER = "none"


async def wait_for_ever() -> None:
    """For services that have nothing to read ahead."""
    await asyncio.Event().wait()


@dataclass(frozen=True, slots=True)
class Services:
    """What the doors are given: the pipeline, and what they show about it."""

    settings: Settings
    pipeline: Pipeline
    retriever: SnippetRetriever
    sources: WatchedFile[Knowledge]
    journal: Journal
    clock: Clock
    degraded: Callable[[], tuple[str, ...]]
    """The names of what is down but can be done without, such as `redis`."""
    warm: Callable[[], Awaitable[None]]
    """Does ahead what the first requests would wait for; a server calls it once, and never waits.
    """
    read_ahead: Callable[[], Coroutine[None, None, None]] = wait_for_ever
    """Keeps the approved pages read, until cancelled; a server runs it beside the requests."""
    corpus: "Corpus | None" = None
    """The indexed documents; None where there are none, as in most tests."""
    limiter: RateLimiter | None = None
    """Counts the requests of each caller; None without a limit."""
    code: CodeRoots = field(default_factory=CodeRoots)
    """The repositories that may be asked about."""

    def seen_by(self, viewer: Viewer) -> "Services":
        """The same services over what *viewer* may see of the documents; doors hand out no other.

        Whatever reads documents in them is narrowed here, at once.
        """
        if viewer.sees_all or self.corpus is None:
            return self
        corpus = self.corpus.seen_by(viewer)
        passages = CitablePassageFinder(corpus.search, self.clock)
        references = replace(self.pipeline.references, passages=passages)
        return replace(self, corpus=corpus, pipeline=replace(self.pipeline, references=references))


@dataclass(frozen=True, slots=True)
class Corpus:
    """The indexed documents: what finds them, and what changes them."""

    search: DocumentSearch
    indexer: DocumentIndexer
    catalogue: Catalogue
    vectors: VectorStorage | None = None
    """What keeps vectors beside the embedded index; None where there are none."""
    embedder: Embedder | None = None

    def seen_by(self, viewer: Viewer) -> "Corpus":
        """What *viewer* may see of it; what it may change, its access to routes tells."""
        search = self.search.seen_by(viewer)
        return replace(self, search=search, catalogue=search.catalogue)


@dataclass(frozen=True, slots=True)
class Library:
    """The approved pages and what reads them: all that works without a model."""

    sources: WatchedFile[Knowledge]
    fetcher: HttpxFetcher
    retriever: SnippetRetriever
    read_ahead: ReadAhead
    journal: Journal
    clock: Clock
    degraded: Callable[[], tuple[str, ...]]
    """As in Services."""
    redis: SharedRedis | None
    """What the processes share, where there is one."""


def learn(main: TextFile | str, *included: TextFile) -> Knowledge:
    """Everything the pipeline knows: a sources file and those it includes, over our vocabulary.

    Raises ConfigurationError, naming file, line and key.
    """
    vocabulary = Vocabulary(subject_files(), safety_file())
    catalog = parse_sources(main, *included, vocabulary=vocabulary)
    personas = catalog.personas or DEFAULT_PERSONAS
    return Knowledge(
        catalog=catalog,
        detector=compile_detector(catalog),
        safety=compile_safety(catalog.safety),
        personas=personas,
        versions=Versions(prompt=prompt_digest(personas), sources=catalog.digest),
    )


@asynccontextmanager
async def open_services(
    settings: Settings, journal: Journal, *, last_good: LastGood | None = None
) -> AsyncIterator[Services]:
    """Open everything that *settings* ask for; close it in reverse order on leaving.

    *last_good* is where the sources that could be used are kept, and may be begun with.

    Raises ConfigurationError, naming what to set, before anything is opened in vain.
    """
    code = open_roots(settings.code_roots)
    async with AsyncExitStack() as stack:
        library = await stack.enter_async_context(
            open_library(settings, journal, last_good=last_good)
        )
        gemini = _gemini(settings, stack)
        open_model = partial(
            _open_model, settings=settings, library=library, gemini=gemini, stack=stack
        )
        model = open_model(settings.model)
        fallback = open_model(settings.fallback) if settings.fallback else None
        budget = _budget(settings, library)
        corpus = await stack.enter_async_context(open_search(settings, journal, gemini))
        meaning = _page_meaning(settings, library, corpus)
        caller = ModelCaller(
            _budgeted(model, budget),
            _budgeted(fallback, budget) if fallback else None,
            library.clock,
            journal,
        )
        pipeline = Pipeline(
            knowledge=library.sources.current,
            references=ReferenceCollector(
                library.retriever,
                CitablePassageFinder(corpus.search, library.clock),
                meaning=meaning,
            ),
            model=caller,
            support=SupportByModel(caller, journal) if settings.support == "model" else None,
            clock=library.clock,
            journal=journal,
            deadline_s=settings.deadline_s,
            admit=budget.check if budget else admit_everybody,
            turn=Admission(settings.max_in_flight, settings.deadline_s * PATIENCE_SHARE),
        )
        yield Services(
            settings=settings,
            pipeline=pipeline,
            retriever=library.retriever,
            sources=library.sources,
            journal=journal,
            clock=library.clock,
            degraded=library.degraded,
            warm=partial(_warm, library, model, budget),
            read_ahead=partial(_read_ahead, library, meaning),
            corpus=corpus,
            code=code,
            limiter=_limiter(settings, library),
        )


def _page_meaning(settings: Settings, library: Library, corpus: Corpus) -> PageMeaning | None:
    """What joins meaning to the choice of pages, if an embedder is named: it is sent disputes."""
    if corpus.embedder is None or not settings.embedder:
        return None
    retriever = library.retriever
    return PageMeaning(corpus.embedder, retriever.cache, retriever.lock, library.journal)


async def _warm(library: Library, model: LanguageModel, budget: DailyBudget | None) -> None:
    """Import the SDK and open its client; index what the cache has of the pages.

    The metrics show from the start what of the budget is spent.
    """
    catalog = library.sources.current().catalog
    async with asyncio.TaskGroup() as group:
        group.create_task(library.retriever.indexed(catalog))
        if budget:
            group.create_task(budget.count(0))
        if isinstance(model, RemoteModel):
            group.create_task(model.warm())


async def _read_ahead(library: Library, meaning: PageMeaning | None) -> None:
    """Read the robots.txt of every approved host, then keep the pages read."""
    domains = library.sources.current().catalog.domains
    await library.fetcher.prepare([source.url for domain in domains for source in domain.sources])
    await replace(library.read_ahead, meaning=meaning).run()


def _budget(settings: Settings, library: Library) -> DailyBudget | None:
    """What holds JUDGE_DAILY_TOKENS, if it is set: over all processes with Redis."""
    if settings.daily_tokens is None:
        return None
    clock, journal, redis = library.clock, library.journal, library.redis
    counted = (
        RedisTokenBudget(redis.client, clock, journal, redis.line)
        if redis
        else MemoryTokenBudget(clock)
    )
    return DailyBudget(counted, settings.daily_tokens, clock, journal)


def _budgeted(model: LanguageModel, budget: DailyBudget | None) -> LanguageModel:
    """*model* under *budget*, unless it costs nothing."""
    is_free = isinstance(model, ExtractiveModel)
    return BudgetedModel(model, budget) if budget and not is_free else model


def _limiter(settings: Settings, library: Library) -> RateLimiter | None:
    """What holds JUDGE_RATE_LIMIT: over all processes with Redis, in each while that is down."""
    limit = parse_rate_limit(settings.rate_limit)
    if limit is None:
        return None
    local = MemoryRateLimiter(limit, library.clock)
    if library.redis is None:
        return local
    shared = RedisRateLimiter(library.redis.client, limit)
    return FallbackRateLimiter(shared, local, library.clock, library.journal)


@asynccontextmanager
async def open_search(
    settings: Settings, journal: Journal, gemini: GeminiClient | None = None
) -> AsyncIterator[Corpus]:
    """Open the index of documents; nothing of it is read before it is asked.

    An embedder of Gemini's uses *gemini*, or a client of its own. Raises MissingKey and
    ConfigurationError.
    """
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        embedder = _open_embedder(settings, clock, gemini, stack)
        engine = await _open_engine(settings, clock, journal, embedder, stack)
        yield Corpus(
            search=DocumentSearch(engine.index, engine.catalogue, clock),
            indexer=DocumentIndexer(
                store=engine.store,
                catalogue=engine.catalogue,
                files=LocalFiles(),
                read_pdf=pdf_text,
                open_fetcher=partial(open_pages, settings, journal),
                clock=clock,
                vectors=engine.vectors,
            ),
            catalogue=engine.catalogue,
            vectors=engine.vectors,
            embedder=embedder,
        )


async def _open_engine(
    settings: Settings,
    clock: Clock,
    journal: Journal,
    embedder: Embedder | None,
    stack: AsyncExitStack,
) -> SearchEngine:
    """What reads the index and what writes it: embedded, or on the server that is named."""
    if settings.qdrant_url is not None:
        key = settings.qdrant_api_key
        return await stack.enter_async_context(
            open_qdrant(settings.qdrant_url, key.get_secret_value() if key else None, embedder)
        )
    data_dir = Path(settings.data_dir)
    index, store = TantivyIndex(data_dir), TantivyStore(data_dir, clock)
    if embedder is None:
        return SearchEngine(index, index, store)
    return open_vectors(data_dir, index, store, embedder, journal)


@asynccontextmanager
async def open_pages(settings: Settings, journal: Journal) -> AsyncIterator[HttpxFetcher]:
    """Open what fetches web pages to be indexed; it names itself as the judge's sources ask."""
    contact = ""
    with suppress(ConfigurationError):  # Without a sources file nobody is named.
        contact = open_sources(settings, journal).current().catalog.retrieval.contact
    fetcher = open_fetcher(contact=lambda: contact, trusted_hosts=frozenset(settings.trusted_hosts))
    try:
        yield fetcher
    finally:
        await fetcher.aclose()


def _gemini(settings: Settings, stack: AsyncExitStack) -> GeminiClient:
    """The client of Google's SDK, which is opened at first use."""
    key = settings.gemini_api_key
    client = GeminiClient(key.get_secret_value() if key else "", settings.gemini_base_url)
    stack.push_async_callback(client.aclose)
    return client


def _open_embedder(
    settings: Settings, clock: Clock, gemini: GeminiClient | None, stack: AsyncExitStack
) -> Embedder | None:
    """The embedder that is asked for by name, or with Qdrant the one whose key is there.

    The embedded index needs the name: a key that is there to judge with must not send documents
    anywhere.

    Raises MissingKey and ConfigurationError.
    """
    keys = {"gemini": settings.gemini_api_key, "cohere": settings.cohere_api_key}
    with_key = [name for name, key in keys.items() if key and settings.qdrant_url]
    asked = settings.embedder or next(iter(with_key), NO_EMBEDDER)
    name, _, model = asked.partition(":")
    name = name.lower()
    if name == NO_EMBEDDER:
        return None
    if name == "static" and model:
        return _open_static(Path(model))
    if name == "openai" and model:
        return _cached(_open_openai_embedder(model, settings, stack), clock, stack)
    if name not in keys:
        raise ConfigurationError(
            f"JUDGE_EMBEDDER is {asked[:40]!r}. Valid are {', '.join(keys)}, openai:NAME, "
            f"static:FOLDER and {NO_EMBEDDER}; unset it for the default."
        )
    key = keys[name]
    if key is None:
        raise MissingKey(
            f"JUDGE_EMBEDDER={name} needs {name.upper()}_API_KEY, which is not set. Set it, or "
            f"set JUDGE_EMBEDDER={NO_EMBEDDER} to search the text alone."
        )
    if name == "gemini":
        embedder = gemini_embedder(gemini or _gemini(settings, stack))
    else:
        client = httpx.AsyncClient(timeout=PASSAGES_TIMEOUT_S)
        stack.push_async_callback(client.aclose)
        embedder = cohere_embedder(client, key.get_secret_value())
    return _cached(embedder, clock, stack)


def _cached(embedder: Embedder, clock: Clock, stack: AsyncExitStack) -> Embedder:
    cache = QueryVectorCache(embedder, clock)
    stack.push_async_callback(cache.aclose)
    return cache


def _open_openai_embedder(model: str, settings: Settings, stack: AsyncExitStack) -> Embedder:
    """The embedder *model* at JUDGE_OPENAI_BASE_URL; raises ConfigurationError."""
    from judge.adapters.openai.client import open_client  # noqa: PLC0415 - others need no httpx2
    from judge.adapters.openai.embedder import openai_embedder  # noqa: PLC0415

    if not settings.openai_base_url:
        raise ConfigurationError(
            f"JUDGE_EMBEDDER=openai:{model} needs an address. Set JUDGE_OPENAI_BASE_URL, as in "
            "http://127.0.0.1:11434/v1 for Ollama on this machine."
        )
    client = open_client(settings.openai_base_url)
    stack.push_async_callback(client.aclose)
    key = settings.openai_api_key
    return openai_embedder(client, model, key.get_secret_value() if key else "")


def _open_static(folder: Path) -> Embedder:
    """The model in *folder*; raises ConfigurationError."""
    try:
        from judge.adapters.embedding.static_model import StaticEmbedder  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"JUDGE_EMBEDDER=static:{folder} needs the extra `judge[static]`: "
            "`pip install numpy safetensors tokenizers` brings it."
        ) from error
    return StaticEmbedder(folder)


@asynccontextmanager
async def open_library(
    settings: Settings, journal: Journal, *, last_good: LastGood | None = None
) -> AsyncIterator[Library]:
    """Open what reads the approved pages; raises ConfigurationError for a bad sources file."""
    clock = SystemClock()
    sources = open_sources(settings, journal, last_good)
    async with AsyncExitStack() as stack:
        redis = open_redis(url.get_secret_value()) if (url := settings.redis_url) else None
        if redis:
            stack.push_async_callback(redis.aclose)
        stores, is_degraded = _open_stores(redis, clock, journal, stack)
        fetcher = open_fetcher(
            contact=lambda: sources.current().catalog.retrieval.contact,
            trusted_hosts=frozenset(settings.trusted_hosts),
        )
        stack.push_async_callback(fetcher.aclose)
        retriever = SnippetRetriever(fetcher, stores.cache, stores.lock, clock, journal)
        stack.push_async_callback(retriever.aclose)
        yield Library(
            sources=sources,
            fetcher=fetcher,
            retriever=retriever,
            read_ahead=ReadAhead(retriever, lambda: sources.current().catalog, journal),
            journal=journal,
            clock=clock,
            degraded=lambda: ("redis",) if is_degraded() else (),
            redis=redis,
        )


def read_sources(path: Path) -> tuple[TextFile, ...]:
    """The sources file at *path* and those it includes; raises ConfigurationError."""
    return read_text_files(path, included_files)


def open_sources(
    settings: Settings, journal: Journal, last_good: LastGood | None = None
) -> WatchedFile[Knowledge]:
    """The sources file, watched; raises ConfigurationError when it cannot be used."""
    return WatchedFile(
        Path(settings.sources),
        learn,
        SystemClock(),
        journal,
        included=included_files,
        last_good=last_good,
    )


def _open_model(
    name: str,
    *,
    settings: Settings,
    library: Library,
    gemini: GeminiClient,
    stack: AsyncExitStack,
) -> LanguageModel:
    """The model called *name*; raises ConfigurationError when it needs a key that is not set."""
    if name == EXTRACTIVE:
        return ExtractiveModel(lambda: [p.name for p in library.sources.current().personas])
    if name.startswith(OPENAI):
        return RemoteModel(_openai(name, settings, library, stack), library.journal)
    if settings.gemini_api_key is None:
        raise ConfigurationError(
            f"The model {name} needs a key. Set GEMINI_API_KEY (or GOOGLE_API_KEY), set "
            "JUDGE_MODEL=openai:NAME to ask a model of your own, or JUDGE_MODEL=extractive to "
            "quote the references without a model."
        )
    service = GeminiService(gemini, model=name, reply_schema=reply_schema())
    return RemoteModel(service, library.journal)


def _openai(name: str, settings: Settings, library: Library, stack: AsyncExitStack) -> ModelService:
    """What asks the server at JUDGE_OPENAI_BASE_URL; raises ConfigurationError."""
    from judge.adapters.openai.client import open_client  # noqa: PLC0415 - others need no httpx2
    from judge.adapters.openai.model import OpenaiService  # noqa: PLC0415

    served_name, base_url = name.removeprefix(OPENAI), settings.openai_base_url
    if not (served_name and base_url):
        raise ConfigurationError(
            f"The model {name} needs its name and an address. Set JUDGE_MODEL=openai:NAME and "
            "JUDGE_OPENAI_BASE_URL, as in http://127.0.0.1:11434/v1 for Ollama on this machine."
        )
    key = settings.openai_api_key
    client = open_client(base_url)
    stack.push_async_callback(client.aclose)
    return OpenaiService(
        client,
        model=name,
        served_name=served_name,
        api_key=key.get_secret_value() if key else "",
        reply_schema=lambda: exact_reply_schema(library.sources.current().personas),
    )


def _open_stores(
    redis: SharedRedis | None, clock: Clock, journal: Journal, stack: AsyncExitStack
) -> tuple[SharedStores, Callable[[], bool]]:
    """Redis with a standby in the process, or only the latter; and whether Redis is down."""
    standby = SharedStores(MemoryCache(clock), MemoryLock(clock))
    if redis is None:
        return standby, lambda: False
    failover = Failover(SharedStores(redis.cache, redis.lock), standby, clock, journal)
    stack.push_async_callback(failover.aclose)
    return SharedStores(failover, failover), lambda: failover.is_degraded
