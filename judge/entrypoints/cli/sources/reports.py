"""The work of `judge sources`: read the file, look at the pages, and show what came of it."""

from collections.abc import Sequence
from dataclasses import asdict

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
from judge.judging.dispute import Dispute, read_dispute
from judge.judging.domains import detect_domain
from judge.judging.knowledge import Knowledge
from judge.judging.nations import find_nations
from judge.judging.pages.choose import choose_sources, mentioned_topics
from judge.settings import Settings, load_settings
from judge.types.judgements import DEFAULT_DOMAIN, Detection, SourceSpec

QUOTED_WORDS = 14
"""Shown of each snippet in the table; JSON has them all."""


def show_sources(form: str, *, is_verbose: bool) -> None:
    """Print the domains and their pages."""
    domains = _known(is_verbose=is_verbose).catalog.domains
    if form == "json":
        listed = [{"name": d.name, "title": d.title, "sources": d.sources} for d in domains]
        click.echo(format_json({"domains": listed}))
        return
    rows = [
        (d.name, s.title, s.url, ", ".join(s.topics), ", ".join(s.nations) or "all")
        for d in domains
        for s in d.sources
    ]
    headings = ("Domain", "Title", "Address", "Topics", "Nations")
    click.echo(format_table(headings, rows, look_at_terminal()))


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


def show_explanation(text: str, form: str, *, is_verbose: bool) -> None:
    """Print which domain *text* gets and why, and the pages that would be quoted for it."""
    known = _known(is_verbose=is_verbose)
    dispute = read_dispute(text, "")
    detection = detect_domain(known.detector, dispute)
    chosen = _chosen(known, detection.domain, dispute)
    if form == "json":
        pages = [asdict(s) | {"matched": mentioned_topics(s, dispute)} for s in chosen]
        click.echo(format_json({**asdict(detection), "sources": pages}))
        return
    click.echo(_format_explanation(detection, chosen, dispute, look_at_terminal()))


def _known(*, is_verbose: bool) -> Knowledge:
    return open_sources(load_settings(), TerminalJournal(is_verbose)).current()


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


def _chosen(known: Knowledge, domain: str, dispute: Dispute) -> tuple[SourceSpec, ...]:
    """The pages that would be quoted for *dispute*."""
    approved = {spec.name: spec.sources for spec in known.catalog.domains}
    return choose_sources(
        approved.get(domain, ()),
        dispute,
        limit=known.catalog.retrieval.sources_per_domain,
        nations=find_nations(dispute.folded),
    )


def _format_checks(
    pages: Sequence[PageCheck], examples: Sequence[ExampleCheck], terminal: Terminal
) -> str:
    rows = [
        (_word(is_ok=p.is_ok), p.domain, p.url, _first_words(p.text) if p.is_ok else p.problem)
        for p in pages
    ]
    parts = [format_table(("Page", "Domain", "Address", "Would be quoted"), rows, terminal)]
    misplaced = [(e.domain, e.detected, e.text) for e in examples if not e.is_ok]
    if misplaced:
        parts.append(format_table(("Example of", "Gets", "Text"), misplaced, terminal))
    return "\n\n".join(parts)


def _format_explanation(
    detection: Detection, chosen: Sequence[SourceSpec], dispute: Dispute, terminal: Terminal
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
        pages = [
            (s.title, s.url, ", ".join(mentioned_topics(s, dispute)) or "order in the file")
            for s in chosen
        ]
        parts.append(format_table(("Would be quoted", "Address", "Because of"), pages, terminal))
    return "\n\n".join(parts)


def _first_words(text: str) -> str:
    words = text.split()
    return " ".join(words[:QUOTED_WORDS]) + (" ..." if len(words) > QUOTED_WORDS else "")


def _word(*, is_ok: bool) -> str:
    return "ok" if is_ok else "FAILED"


def _count_bad(checks: Sequence[PageCheck] | Sequence[ExampleCheck]) -> int:
    return sum(not check.is_ok for check in checks)
