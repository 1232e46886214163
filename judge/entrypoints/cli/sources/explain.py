"""The work of `judge sources explain`: a dispute's domain, help and pages, with reasons."""

from collections.abc import Awaitable, Iterator
from dataclasses import asdict, replace

import click

from judge.bootstrap.library import Library, open_library
from judge.entrypoints.cli.options import FROM_STDIN, read_text
from judge.entrypoints.cli.output import format_report, format_table, say, show
from judge.entrypoints.cli.plain_text import format_help_line
from judge.judging.domains import MIN_LEAD
from judge.judging.explain import DisputeExplanation, explain_dispute
from judge.library.dispute import Dispute, read_dispute
from judge.library.rank.choose import ChosenPage
from judge.ports import Journal
from judge.settings import load_settings
from judge.types.requests import DEFAULT_DOMAIN
from judge.types.results import HelpLine

MAX_REASONS = 6


def show_explanation(
    journal: Journal,
    *,
    text: str | None,
    context: str | None,
    query: str | None,
    may_fetch: bool,
    form: str,
) -> Awaitable[None]:
    """Print which domain a dispute gets, its help lines and pages, each with the reasons."""
    if text is not None and context is not None:
        raise click.UsageError("Give the story as TEXT or as --context, not as both.")
    story = context if text is None else text
    if story is None and query is None:
        raise click.UsageError("Give a text to explain, or --context and --query.")
    if story == query == FROM_STDIN:
        raise click.UsageError("Only one of them can be read from stdin.")
    dispute = read_dispute(read_text(story or ""), read_text(query or ""))
    return _show(journal, dispute, form, may_fetch=may_fetch)


async def _show(journal: Journal, dispute: Dispute, form: str, *, may_fetch: bool) -> None:
    async with open_library(load_settings(), journal) as library:
        explanation = await _explain(library, dispute)
        if may_fetch:
            # Ranked again by their text, now that the likely pages were read.
            likely = [page.request for page in explanation.pages]
            await library.retriever.retrieve(likely)
            explanation = await _explain(library, dispute)
            unread = {page.request for page in explanation.pages if not page.is_read}
            if failed := len(unread.intersection(likely)):
                say(f"Likely pages that failed: {failed}; `judge sources check` says why.")
            read = tuple(page for page in explanation.pages if page.is_read)
            explanation = replace(explanation, pages=read)
    show(form, _as_json(explanation), _parts(explanation))


async def _explain(library: Library, dispute: Dispute) -> DisputeExplanation:
    known = library.sources.current()
    return explain_dispute(known, await library.retriever.indexed(known.catalog), dispute)


def _as_json(explanation: DisputeExplanation) -> dict[str, object]:
    keys = ("missed", "totals", "safety", "harmless", "help", "nations")
    return {
        **asdict(explanation.detection),
        **{key: getattr(explanation, key) for key in keys},
        "bar": explanation.threshold,
        "terms": [{"shown": term.text, **asdict(term)} for term in explanation.terms],
        "sources": [_page_as_json(page) for page in explanation.pages],
    }


def _page_as_json(chosen: ChosenPage) -> dict[str, object]:
    known, source = chosen.candidate, chosen.request.source
    return {
        "url": source.url,
        "title": source.title,
        "domain": chosen.request.domain,
        "is_read": chosen.is_read,
        "score": round(known.score, 2) if known and chosen.is_read else None,
        "reasons": [asdict(reason) for reason in known.reasons] if known else [],
    }


def _parts(explanation: DisputeExplanation) -> Iterator[str]:
    yield f"Domain: {explanation.detection.domain}"
    has_terms = bool(explanation.terms)
    nothing = "No term or pattern of any domain stands in the text."
    yield _needed(explanation) if has_terms else nothing
    yield from format_report({"scores": explanation.totals, "found": explanation.terms})
    if explanation.help:
        rows = [(format_help_line(line), _why_help(line, explanation)) for line in explanation.help]
        yield format_table(("Help that is shown", "Because of"), rows)
    if explanation.harmless:
        yield f"Taken for harmless: {', '.join(dict.fromkeys(explanation.harmless))}."
    if explanation.nations:
        yield f"Nations named: {', '.join(explanation.nations)}; pages about others are left out."
    if not explanation.pages:
        yield "No page would be offered."
        return
    pages = [(c.request.source.title, c.request.source.url, _because(c)) for c in explanation.pages]
    yield format_table(("Would be offered", "Address", "Because of"), pages)
    if not all(page.is_read for page in explanation.pages):
        yield (
            "Pages that were not read yet are guessed from their titles and topics; --fetch reads "
            "the likely ones first, as a dispute does."
        )


def _needed(explanation: DisputeExplanation) -> str:
    """The score that was needed and why, and by how much it was missed."""
    threshold, scores = explanation.threshold, explanation.detection.scores
    why = f"a text of {threshold.words} words needs {threshold.for_length:.3g}"
    if threshold.for_runner_up is not None:
        lead = f"{MIN_LEAD:g} more than its {scores[1].score:g}, {threshold.for_runner_up:.3g}"
        why += f"; to be told from {scores[1].domain} takes {lead}"
    missed = ""
    if explanation.detection.domain == DEFAULT_DOMAIN:
        missed = " No domain has a score above 0."
        if scores:
            by = f"{scores[0].score:g} and misses it by {explanation.missed:.2g}"
            missed = f" {scores[0].domain} has {by}."
    return f"Needed: {threshold.needed:.3g} ({why}).{missed}"


def _why_help(line: HelpLine, explanation: DisputeExplanation) -> str:
    for reason in explanation.safety:
        if line in reason.help:
            return f"{reason.rule or 'a safety rule'}: {', '.join(reason.found)}"
    return f"the domain {explanation.detection.domain}"


def _because(chosen: ChosenPage) -> str:
    """What gave the page most of its score, or made it a guess."""
    known = chosen.candidate
    found = [reason.shown for reason in known.reasons if reason.shown] if known else []
    reasons = ", ".join(dict.fromkeys(found[:MAX_REASONS])) or "its domain"
    return reasons if chosen.is_read else f"{reasons}; not read yet"
