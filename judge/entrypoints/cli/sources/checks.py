"""What `judge sources check` finds out: can each page be quoted, does each example fit?"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from judge.bootstrap import Library
from judge.errors import FetchError
from judge.judging.dispute import read_dispute
from judge.judging.domains import detect_domain
from judge.judging.knowledge import Knowledge
from judge.judging.pages.library import requests_of
from judge.judging.pages.page_records import SnippetRequest

PAGES_AT_ONCE = 8
"""Enough to be quick, and few enough to be polite to a site with several of our pages."""


@dataclass(frozen=True, slots=True)
class PageCheck:
    """What came of one page: the words that would be quoted, or what went wrong."""

    domain: str
    title: str
    url: str
    text: str = ""
    updated: str = ""
    """The publisher's date in ISO 8601, empty where there is none."""
    reason: str = ""
    problem: str = ""

    @property
    def is_ok(self) -> bool:
        """Whether the page can be quoted."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class ExampleCheck:
    """The domain that an example of the sources file gets."""

    domain: str
    text: str
    detected: str

    @property
    def is_ok(self) -> bool:
        """Whether that is the domain under which it stands."""
        return self.detected == self.domain


async def check_pages(library: Library, advance: Callable[[], None]) -> list[PageCheck]:
    """Fetch every page and keep its snippet, in the order of the file; *advance* after each."""
    catalog = library.sources.current().catalog
    turns = asyncio.Semaphore(PAGES_AT_ONCE)

    async def check(request: SnippetRequest) -> PageCheck:
        async with turns:
            try:
                record = await library.retriever.refresh(request)
            except FetchError as error:
                return _failed(request, error.reason, str(error))
            finally:
                advance()
        if record.is_withdrawn:
            return _failed(request, "withdrawn", "Its publisher has withdrawn it; remove it.")
        source = request.source
        updated = str(record.updated or "")
        return PageCheck(request.domain, source.title, source.url, record.text, updated)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(check(request)) for request in requests_of(catalog)]
    return [task.result() for task in tasks]


def _failed(request: SnippetRequest, reason: str, problem: str) -> PageCheck:
    source = request.source
    return PageCheck(request.domain, source.title, source.url, reason=reason, problem=problem)


def check_examples(known: Knowledge) -> list[ExampleCheck]:
    """Every example with the domain that it gets as the context of a dispute."""
    return [
        ExampleCheck(
            domain.name,
            text,
            detect_domain(known.detector, read_dispute(text, "")).domain,
        )
        for domain in known.catalog.domains
        for text in domain.examples
    ]
