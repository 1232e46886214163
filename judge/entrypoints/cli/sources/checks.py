"""The checks of `judge sources check`: pages, examples, and likely mistakes in the file."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from judge.adapters.web.safe_addresses import host_and_port
from judge.bootstrap.library import Library
from judge.entrypoints.cli.output import progress_bar
from judge.errors import FetchError
from judge.judging.catalog_check import FindingKind, check_catalog
from judge.judging.domains import detect_domain
from judge.judging.effective_sources import EffectiveExample, Places, examples_of
from judge.judging.knowledge import Knowledge
from judge.library.dispute import read_dispute
from judge.library.pages.approved_pages import requests_of
from judge.library.pages.page_records import SnippetRequest
from judge.library.sources.read_table import key_name

PAGES_AT_ONCE = 8
"""Enough to be quick, and few enough to be polite to a site with several of our pages."""


@dataclass(frozen=True, slots=True)
class PageCheck:
    """The result for one page: the words that would be quoted, or what went wrong."""

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
    """The domain that an example of the sources file gets, and where the example stands."""

    domain: str
    text: str
    detected: str
    must_get_it: bool = True
    """False for one of the `not_examples`."""
    told_as: str = "story"
    """Or `question`."""
    file: str = ""
    line: int = 0

    @property
    def is_ok(self) -> bool:
        """Whether it gets its domain, or, among the `not_examples`, another one."""
        return (self.detected == self.domain) == self.must_get_it


@dataclass(frozen=True, slots=True)
class FileCheck:
    """A likely mistake in a sources file (valid, but hardly intended), with file and line."""

    kind: FindingKind
    domain: str
    file: str
    line: int
    key: str
    message: str


async def check_pages(library: Library, label: str, domain: str | None = None) -> list[PageCheck]:
    """Fetch every page, or those of one *domain*, in the order of the file.

    What would be quoted goes into the cache. A progress bar shows *label*.
    """
    requests = requests_of(library.sources.current().catalog)
    wanted = [request for request in requests if domain in {None, request.domain}]
    slots = asyncio.Semaphore(PAGES_AT_ONCE)

    async def check(request: SnippetRequest) -> PageCheck:
        checked = partial(PageCheck, request.domain, request.source.title, request.source.url)
        async with slots:
            try:
                record = await library.retriever.refresh(request)
            except FetchError as error:
                return checked(reason=error.reason, problem=str(error))
            finally:
                advance()
        if record.is_withdrawn:
            problem = "Its publisher has withdrawn it; remove it."
            return checked(reason="withdrawn", problem=problem)
        return checked(record.text, str(record.updated or ""))

    with progress_bar(label, len(wanted)) as advance:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(check(request)) for request in wanted]
    return [task.result() for task in tasks]


def check_examples(known: Knowledge, places: Places) -> list[ExampleCheck]:
    """Every example with the domain that it gets, as a dispute's story and as its question.

    Both must be right; the result is that of the one that is not.
    """
    return [
        _check_example(known, domain.name, example, must_get_it=key == "examples")
        for domain in known.catalog.domains
        for key in ("examples", "not_examples")
        for example in examples_of(domain, places, key)
    ]


def _check_example(
    known: Knowledge, domain: str, example: EffectiveExample, *, must_get_it: bool
) -> ExampleCheck:
    text, place = example.text, example.place
    disputes = (("story", read_dispute(text, "")), ("question", read_dispute("", text)))
    as_story, as_question = (
        ExampleCheck(
            domain,
            text,
            detect_domain(known.detector, dispute).domain,
            must_get_it,
            told_as,
            place.file,
            place.line,
        )
        for told_as, dispute in disputes
    )
    return as_question if as_story.is_ok and not as_question.is_ok else as_story


def check_file(known: Knowledge, places: Places, trusted_hosts: Collection[str]) -> list[FileCheck]:
    """The likely mistakes in the sources, by file and line."""
    return [
        FileCheck(
            finding.kind,
            str(finding.path[1]),
            finding.file,
            places.of(finding.file, *finding.path).line,
            key_name(finding.path),
            finding.message,
        )
        for finding in check_catalog(known.catalog)
        if finding.kind != "plain-http" or is_plain_http(finding.message.split()[0], trusted_hosts)
    ]


def is_plain_http(url: str, trusted_hosts: Collection[str]) -> bool:
    """Whether *url* is not encrypted, and its host is not a trusted one."""
    parts = urlsplit(url)
    host = host_and_port(parts.hostname or "", parts.port or 80)
    return parts.scheme == "http" and host not in trusted_hosts
