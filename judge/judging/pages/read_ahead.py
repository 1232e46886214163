"""Reads the approved pages before anybody waits for them: at start, and before they are due.

Gently: one page at a time of each host, and what another process has read is taken over.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from judge.judging.pages.library import requests_of
from judge.judging.pages.page_reader import host_of
from judge.judging.pages.page_records import SnippetRequest
from judge.judging.pages.retriever import SnippetRetriever
from judge.judging.sources import SourceCatalog
from judge.ports import Journal

ROUND_S = 60.0
"""From one look at all pages to the next: as long as a failure is remembered."""


@dataclass(frozen=True, slots=True)
class ReadAhead:
    """Keeps all pages of the catalog read, for as long as `run` runs."""

    retriever: SnippetRetriever
    catalog: Callable[[], SourceCatalog]
    journal: Journal

    async def run(self) -> None:
        """Go round after round, until cancelled."""
        while True:
            try:
                await self.take_over()
                await self.read_due()
                await self.take_over()
            except Exception as error:  # noqa: BLE001 - requests then read what they need
                self.journal.note("read_ahead.failed", error=type(error).__name__)
            await asyncio.sleep(ROUND_S)

    async def take_over(self) -> None:
        """Learn what is kept of the pages and is not known here yet."""
        catalog = self.catalog()
        requests = requests_of(catalog)
        library, store = self.retriever.library, self.retriever.store
        pages = await store.look(requests)
        news = [
            (request, page.record)
            for request, page in zip(requests, pages, strict=True)
            if page.record is not None and not library.holds(request, page.record)
        ]
        contents = await store.contents([request for request, _ in news]) if news else []
        read = [
            (request, record, content)
            for (request, record), content in zip(news, contents, strict=True)
            if content is not None
        ]
        if read or not library.is_indexed(catalog):
            await library.learn_all(read, catalog)

    async def read_due(self) -> None:
        """Read every page that is due, the hosts side by side and each page after the other."""
        by_host: dict[str, list[SnippetRequest]] = {}
        for request in requests_of(self.catalog()):
            by_host.setdefault(host_of(request), []).append(request)
        async with asyncio.TaskGroup() as group:
            for requests in by_host.values():
                group.create_task(self._read_one_by_one(requests))

    async def _read_one_by_one(self, requests: Sequence[SnippetRequest]) -> None:
        for request in requests:
            await self.retriever.read_ahead(request)
