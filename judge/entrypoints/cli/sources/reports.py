"""The work of `judge sources list`, `check` and `warm`: read the file, fetch pages, and report."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path

import click

from judge.bootstrap.library import open_library
from judge.bootstrap.sources import open_sources, read_sources
from judge.entrypoints.cli.options import FOUND_SOMETHING
from judge.entrypoints.cli.output import format_table, say, show
from judge.entrypoints.cli.sources.checks import (
    ExampleCheck,
    FileCheck,
    PageCheck,
    check_examples,
    check_file,
    check_pages,
)
from judge.errors import CacheUnavailable, ConfigurationError, UnknownDomain
from judge.judging.effective_sources import Places
from judge.judging.knowledge import Knowledge
from judge.library.pages.approved_pages import requests_of
from judge.library.pages.page_records import SnippetRequest
from judge.library.sources.catalog import DomainSpec
from judge.ports import Journal
from judge.settings import load_settings
from judge.text.english import counted

QUOTED_WORDS = 14
"""Words shown of each snippet in the table; JSON has them all."""


async def show_sources(journal: Journal, *, form: str) -> None:
    """Print the domains and their pages, the latest publisher's date first.

    Dates come from the cache, without fetching; pages without one come last.
    """
    async with open_library(load_settings(), journal) as library:
        catalog = library.sources.current().catalog
        requests = requests_of(catalog)
        pages = await library.retriever.store.look_up(requests)
    dated = [
        (request, page.record.updated if page.record else None)
        for request, page in zip(requests, pages, strict=True)
    ]
    dated.sort(key=lambda item: item[1] or date.min, reverse=True)
    rows = [
        (updated, r.domain, s.title, s.url, ", ".join(s.topics), ", ".join(s.nations) or "all")
        for r, updated in dated
        for s in [r.source]
    ]
    table = format_table(("Updated", "Domain", "Title", "Address", "Topics", "Nations"), rows)
    show(form, {"domains": [_listed(domain, dated) for domain in catalog.domains]}, [table])


def _listed(
    domain: DomainSpec, dated: Sequence[tuple[SnippetRequest, date | None]]
) -> dict[str, object]:
    sources = [
        {**asdict(request.source), "updated": updated}
        for request, updated in dated
        if request.domain == domain.name
    ]
    return {"name": domain.name, "title": domain.title, "sources": sources}


async def show_checks(journal: Journal, *, domain: str | None, is_offline: bool, form: str) -> int:
    """Print what would be quoted of each page, each example's domain, and likely mistakes.

    The exit code says whether anything is wrong. Raises UnknownDomain.
    """
    settings = load_settings()
    known = open_sources(settings, journal).current()
    require_domain(known, domain)
    places = Places(read_sources(Path(settings.sources)))
    examples = [e for e in check_examples(known, places) if domain in {None, e.domain}]
    findings = [
        f for f in check_file(known, places, settings.trusted_hosts) if domain in {None, f.domain}
    ]
    pages: list[PageCheck] = []
    if not is_offline:
        async with open_library(settings, journal) as library:
            pages = await check_pages(library, "Checking", domain)
    report = {"pages": pages, "examples": examples, "findings": findings}
    show(form, report, _checks_in_words(pages, examples, findings) or ["Nothing is wrong."])
    bad_pages, bad_examples = _count_bad(pages), _count_bad(examples)
    checked = "not fetched" if is_offline else f"{len(pages)} checked, {bad_pages} failed"
    say(
        f"Pages: {checked}. Examples: {len(examples)} checked, {bad_examples} failed. "
        f"Findings in the file: {len(findings)}."
    )
    for spec in known.catalog.domains:
        if not spec.sources and domain in {None, spec.name}:
            how = f"`judge sources add ADDRESS --domain {spec.name}` adds one."
            say(f"{spec.name} has no pages; {how}")
    return FOUND_SOMETHING if bad_pages or bad_examples or findings else 0


def require_domain(known: Knowledge, name: str | None) -> None:
    """Raise UnknownDomain unless *name* is None or the name of a domain."""
    if name not in {None, *known.detector.domains}:
        raise UnknownDomain(str(name), known.detector.domains)


async def warm_cache(journal: Journal) -> int:
    """Read every page into Redis and print how many; the exit code.

    Raises ConfigurationError and CacheUnavailable.
    """
    async with open_library(load_settings(), journal) as library:
        if library.redis is None:
            raise ConfigurationError(
                "There is no cache to fill: without Redis each process has one of its own, which "
                "fills as it judges. Set REDIS_URL to share one."
            )
        try:
            await library.redis.ping()
        except CacheUnavailable as error:
            raise CacheUnavailable(
                f"{error} No page was read. Run `judge doctor`, then try again."
            ) from None
        pages = await check_pages(library, "Reading")
        if library.degraded():
            raise CacheUnavailable(
                "Redis went away, so not all was kept. Run `judge doctor`, then try again."
            )
    for page in pages:
        if not page.is_ok:
            say(f"{page.domain}: {page.url}: {page.problem}")
    failed = _count_bad(pages)
    click.echo(f"In the cache: {counted(len(pages) - failed, 'page')}; {failed} failed.")
    return FOUND_SOMETHING if failed else 0


def _checks_in_words(
    pages: Sequence[PageCheck], examples: Sequence[ExampleCheck], findings: Sequence[FileCheck]
) -> list[str]:
    parts = []
    if pages:
        rows = [
            ("ok", p.domain, p.updated, p.url, _first_words(p.text))
            if p.is_ok
            else ("FAILED", p.domain, p.updated, p.url, p.problem)
            for p in pages
        ]
        headings = ("Page", "Domain", "Updated", "Address", "Would be quoted")
        parts.append(format_table(headings, rows))
    wrong = [(f"{f.file}, line {f.line}", f"{f.key}: {f.message}") for f in findings]
    wrong += [(f"{e.file}, line {e.line}", _misplaced(e)) for e in examples if not e.is_ok]
    if wrong:
        parts.append(format_table(("Stands in", "What is wrong"), wrong))
    return parts


def _misplaced(example: ExampleCheck) -> str:
    """The domain that an example gets instead, and what to do."""
    if example.must_get_it:
        kind, fix = "example", f"add or raise terms of {example.domain}"
    else:
        kind, fix = "counter-example", "give weight 0 to a longer term, or lower what it meets"
    return (
        f"{kind} of {example.domain} gets {example.detected} as a {example.told_as}; {fix} (see "
        f"`judge sources explain`): {example.text}"
    )


def _first_words(text: str) -> str:
    words = text.split()
    return " ".join(words[:QUOTED_WORDS]) + (" ..." if len(words) > QUOTED_WORDS else "")


def _count_bad(checks: Sequence[PageCheck] | Sequence[ExampleCheck]) -> int:
    return sum(not check.is_ok for check in checks)
