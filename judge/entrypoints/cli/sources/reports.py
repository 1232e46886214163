"""The work of `judge sources`: read the file, look at the pages, and show what came of it."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date

import click

from judge.bootstrap import open_library, open_sources
from judge.entrypoints.cli.options import FOUND_SOMETHING
from judge.entrypoints.cli.output import (
    Terminal,
    format_json,
    format_table,
    look_at_terminal,
    progress_bar,
    say,
)
from judge.entrypoints.cli.sources.checks import (
    ExampleCheck,
    PageCheck,
    check_examples,
    check_pages,
)
from judge.entrypoints.cli.terminal_journal import TerminalJournal
from judge.errors import CacheUnavailable, ConfigurationError
from judge.judging.dispute import read_dispute
from judge.judging.domains import detect_domain
from judge.judging.nations import find_nations
from judge.judging.pages.choose import ChosenPage, choose_pages
from judge.judging.pages.library import requests_of
from judge.judging.pages.page_records import SnippetRequest
from judge.judging.sources import DomainSpec
from judge.settings import Settings, load_settings
from judge.types.judgements import DEFAULT_DOMAIN, Detection, SourceSpec

MOST_REASONS = 6
QUOTED_WORDS = 14
"""Shown of each snippet in the table; JSON has them all."""


async def show_sources(form: str, *, is_verbose: bool) -> None:
    """Print the domains and their pages, the latest by its publisher's date first.

    The dates are those in the cache; no page is fetched, and those without a date come last.
    """
    async with open_library(load_settings(), TerminalJournal(is_verbose)) as library:
        catalog = library.sources.current().catalog
        requests = requests_of(catalog)
        pages = await library.retriever.store.look(requests)
    found = [
        (one, page.record.updated if page.record else None)
        for one, page in zip(requests, pages, strict=True)
    ]
    found.sort(key=lambda item: item[1] or date.min, reverse=True)
    if form == "json":
        click.echo(format_json({"domains": [_listed(domain, found) for domain in catalog.domains]}))
        return
    rows = [_row(one.domain, one.source, updated) for one, updated in found]
    headings = ("Updated", "Domain", "Title", "Address", "Topics", "Nations")
    click.echo(format_table(headings, rows, look_at_terminal()))


def _row(domain: str, source: SourceSpec, updated: date | None) -> tuple[str, ...]:
    topics, nations = ", ".join(source.topics), ", ".join(source.nations) or "all"
    return str(updated or "-"), domain, source.title, source.url, topics, nations


def _listed(
    domain: DomainSpec, found: Sequence[tuple[SnippetRequest, date | None]]
) -> dict[str, object]:
    sources = [
        {**asdict(one.source), "updated": updated}
        for one, updated in found
        if one.domain == domain.name
    ]
    return {"name": domain.name, "title": domain.title, "sources": sources}


async def show_checks(form: str, *, is_verbose: bool) -> int:
    """Print what each page would give and each example gets; the exit code."""
    terminal = look_at_terminal()
    settings, journal = load_settings(), TerminalJournal(is_verbose)
    pages = await _check(settings, journal, "Checking", terminal)
    examples = check_examples(open_sources(settings, journal).current())
    if form == "json":
        click.echo(format_json({"pages": pages, "examples": examples}))
    else:
        click.echo(_format_checks(pages, examples, terminal))
    bad_pages, bad_examples = _count_bad(pages), _count_bad(examples)
    say(
        f"{len(pages)} pages checked, {bad_pages} failed; "
        f"{len(examples)} examples checked, {bad_examples} failed."
    )
    return FOUND_SOMETHING if bad_pages or bad_examples else 0


async def warm_cache(*, is_verbose: bool) -> int:
    """Read every page into Redis and say how many; the exit code. Raises ConfigurationError."""
    settings = load_settings()
    if settings.redis_url is None:
        raise ConfigurationError(
            "There is no cache to fill: without Redis each process has one of its own, which "
            "fills as it judges. Set REDIS_URL to share one."
        )
    terminal = look_at_terminal()
    pages = await _check(
        settings, TerminalJournal(is_verbose), "Reading", terminal, needs_redis=True
    )
    for page in pages:
        if not page.is_ok:
            say(f"{page.domain}: {page.url}: {page.problem}")
    failed = _count_bad(pages)
    click.echo(f"{len(pages) - failed} pages are in the cache, {failed} failed.")
    return FOUND_SOMETHING if failed else 0


async def show_explanation(text: str, form: str, *, is_verbose: bool) -> None:
    """Print which domain *text* gets and why, and the pages that would be offered for it.

    Pages are ranked by what the cache has of them; none is fetched.
    """
    dispute = read_dispute(text, "")
    async with open_library(load_settings(), TerminalJournal(is_verbose)) as library:
        known = library.sources.current()
        indexed = await library.retriever.indexed(known.catalog)
        detection = detect_domain(known.detector, dispute)
        nations = find_nations(dispute.folded)
        chosen = choose_pages(indexed, dispute, detection.domain, nations)
    if form == "json":
        click.echo(format_json({**asdict(detection), "sources": [_as_json(one) for one in chosen]}))
        return
    click.echo(_format_explanation(detection, chosen, look_at_terminal()))


def _as_json(chosen: ChosenPage) -> dict[str, object]:
    candidate = chosen.candidate
    return {
        "url": chosen.request.source.url,
        "title": chosen.request.source.title,
        "is_read": candidate is not None,
        "score": round(candidate.score, 2) if candidate else None,
        "reasons": [asdict(reason) for reason in candidate.reasons] if candidate else [],
    }


async def _check(
    settings: Settings,
    journal: TerminalJournal,
    label: str,
    terminal: Terminal,
    *,
    needs_redis: bool = False,
) -> list[PageCheck]:
    """Every page read anew, with a progress bar."""
    async with open_library(settings, journal) as library:
        domains = library.sources.current().catalog.domains
        total = sum(len(domain.sources) for domain in domains)
        with progress_bar(label, total, terminal) as advance:
            pages = await check_pages(library, advance)
        if needs_redis and library.degraded():
            raise CacheUnavailable(
                "Redis did not answer, so nothing was kept. Run `judge doctor`, then try again."
            )
        return pages


def _format_checks(
    pages: Sequence[PageCheck], examples: Sequence[ExampleCheck], terminal: Terminal
) -> str:
    rows = [
        (
            _word(is_ok=p.is_ok),
            p.domain,
            p.updated,
            p.url,
            _first_words(p.text) if p.is_ok else p.problem,
        )
        for p in pages
    ]
    parts = [
        format_table(("Page", "Domain", "Updated", "Address", "Would be quoted"), rows, terminal)
    ]
    misplaced = [(e.domain, e.detected, e.text) for e in examples if not e.is_ok]
    if misplaced:
        parts.append(format_table(("Example of", "Gets", "Text"), misplaced, terminal))
    return "\n\n".join(parts)


def _format_explanation(
    detection: Detection, chosen: Sequence[ChosenPage], terminal: Terminal
) -> str:
    parts = [f"Domain: {detection.domain}"]
    if detection.scores:
        rows = [(s.domain, f"{s.score:g}", ", ".join(s.matched)) for s in detection.scores]
        parts.append(format_table(("Ranking", "Score", "Because of"), rows, terminal))
        if detection.domain == DEFAULT_DOMAIN:
            parts.append(
                f"None has a score of {detection.needed:.2g}, which takes the length of the text, "
                "and the runner-up, into account."
            )
    else:
        parts.append("No term or pattern of any domain stands in the text.")
    if chosen:
        pages = [(c.request.source.title, c.request.source.url, _because(c)) for c in chosen]
        parts.append(format_table(("Would be offered", "Address", "Because of"), pages, terminal))
    return "\n\n".join(parts)


def _because(chosen: ChosenPage) -> str:
    """What gave the page most of its score."""
    if chosen.candidate is None:
        return "title, topics or domain; not read yet"
    reasons = [reason.shown for reason in chosen.candidate.reasons if reason.shown]
    return ", ".join(dict.fromkeys(reasons[:MOST_REASONS]))


def _first_words(text: str) -> str:
    words = text.split()
    return " ".join(words[:QUOTED_WORDS]) + (" ..." if len(words) > QUOTED_WORDS else "")


def _word(*, is_ok: bool) -> str:
    return "ok" if is_ok else "FAILED"


def _count_bad(checks: Sequence[PageCheck] | Sequence[ExampleCheck]) -> int:
    return sum(not check.is_ok for check in checks)
