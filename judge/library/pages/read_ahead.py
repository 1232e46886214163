"""Fetches the approved pages before a request needs them: at start, and before they expire.

Gently: one page at a time per host, over all processes; the others load it from the cache.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import uuid4

from judge.library.pages.approved_pages import requests_of
from judge.library.pages.page_reader import host_of
from judge.library.pages.page_records import SnippetRequest
from judge.library.pages.retriever import SnippetRetriever
from judge.library.rank.page_embeddings import PageEmbeddings
from judge.library.sources.catalog import SourceCatalog
from judge.ports import Journal

INTERVAL_S = 20.0
"""Interval between two checks of all pages; a check is one round trip to the cache."""


@dataclass(frozen=True, slots=True)
class ReadAhead:
    """Keeps all pages of the catalogue fresh for as long as `run` runs."""

    retriever: SnippetRetriever
    catalog: Callable[[], SourceCatalog]
    journal: Journal
    interval_s: float = INTERVAL_S
    embeddings: PageEmbeddings | None = None
    """Gets vectors of the pages, if there is an embedder."""

    async def run(self) -> None:
        """Refresh pages periodically, until cancelled."""
        while True:
            try:
                await self.run_once()
            except Exception as error:  # noqa: BLE001 - requests then fetch what they need
                self._note(error)
            await asyncio.sleep(self.interval_s)

    async def run_once(self) -> None:
        """Load what other processes read, fetch the pages that are due, and index all once."""
        catalog = self.catalog()
        requests = requests_of(catalog)
        pages = await self.retriever.look_up(requests)
        by_host: dict[str, list[SnippetRequest]] = {}
        for request, page in zip(requests, pages):
            if self.retriever.is_due(request, page):
                by_host.setdefault(host_of(request), []).append(request)
        async with asyncio.TaskGroup() as group:
            for host, due in by_host.items():
                group.create_task(self._read_host(host, due))
        indexed = await self.retriever.library.indexed(catalog)
        if self.embeddings:
            await self.embeddings.update(indexed)

    async def _read_host(self, host: str, due: Sequence[SnippetRequest]) -> None:
        """Fetch *due* pages one by one; stop if another process is fetching from *host*."""
        lock, name, token = self.retriever.lock, f"host:{host}", uuid4().hex
        try:
            for request in due:
                if not await lock.acquire(name, token, request.lock_ttl_s):
                    return
                await self.retriever.read_ahead(request)
        except Exception as error:  # noqa: BLE001 - the other hosts are read all the same
            self._note(error)
        finally:
            await lock.release(name, token)

    def _note(self, error: Exception) -> None:
        self.journal.note("read_ahead.failed", error=type(error).__name__)
