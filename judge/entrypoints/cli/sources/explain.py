"""The work of `judge sources explain` and `try`: what disputes get, why, and how often rightly."""

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import click
from pydantic import BaseModel

from judge.bootstrap.library import Library, open_library
from judge.entrypoints.cli.options import FROM_STDIN, read_text
from judge.entrypoints.cli.output import format_report, format_table, say, show
from judge.entrypoints.cli.plain_text import format_help_line
from judge.entrypoints.cli.sources.check import check_pages
from judge.errors import ConfigurationError
from judge.judging.domains import MIN_LEAD
from judge.judging.explain import DisputeExplanation, explain_dispute
from judge.library.dispute import Dispute, read_dispute
from judge.library.rank.candidates import ChosenPage
from judge.ports import Journal
from judge.settings import load_settings
from judge.types.request_fields import BadFields, parse_json
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
        "reasons": [asdict(reason) for reason in known.explain()] if known else [],
    }


def _parts(explanation: DisputeExplanation) -> Iterator[str]:
    yield f"Domain: {explanation.detection.domain}"
    nothing = "No term or pattern of any domain stands in the text."
    yield _needed(explanation) if explanation.terms else nothing
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
    return f"Needed: {explanation.detection.needed:.3g} ({why}).{missed}"


def _why_help(line: HelpLine, explanation: DisputeExplanation) -> str:
    for reason in explanation.safety:
        if line in reason.help:
            return f"{reason.rule or 'a safety rule'}: {', '.join(reason.found)}"
    return f"the domain {explanation.detection.domain}"


def _because(chosen: ChosenPage) -> str:
    """What gave the page most of its score, or made it a guess."""
    known = chosen.candidate
    found = [reason.shown for reason in known.explain() if reason.shown] if known else []
    reasons = ", ".join(dict.fromkeys(found[:MAX_REASONS])) or "its domain"
    return reasons if chosen.is_read else f"{reasons}; not read yet"


class LabelledDispute(BaseModel):
    """A line of the file: a dispute, its domain, and perhaps its pages; other keys are ignored."""

    context: str = ""
    query: str = ""
    domain: str
    pages: list[str] = []


class Evaluated(NamedTuple):
    """What a labelled dispute should get, and what it gets."""

    line: int
    domain: str
    pages: Sequence[str]
    detected: str
    offered: Sequence[str]


async def show_evaluation(journal: Journal, *, file: str, is_offline: bool, form: str) -> None:
    """Print how well the disputes in *file* get their domains and pages."""
    async with open_library(load_settings(), journal) as library:
        known = library.sources.current()
        labelled = read_labelled(Path(file), known.detector.domains)
        wanted = {url for dispute in labelled.values() for url in dispute.pages}
        if wanted and not is_offline:
            # So that all are ranked by their text.
            pages = await check_pages(library, "Reading")
            if failed := sum(page.state == "FAILED" for page in pages):
                why = "`judge sources check` says why."
                say(f"{failed} of {len(pages)} pages could not be read; {why}")
        indexed = await library.retriever.indexed(known.catalog)
    evaluated = []
    for line, one in labelled.items():
        got = explain_dispute(known, indexed, read_dispute(one.context, one.query))
        offered = [page.request.source.url for page in got.pages]
        evaluated.append(Evaluated(line, one.domain, one.pages, got.detection.domain, offered))
    show(form, score(evaluated, known.catalog.retrieval.references))
    if unknown := wanted - {s.url for domain in known.catalog.domains for s in domain.sources}:
        say(f"{len(unknown)} of the labelled pages are not in the sources, and count as missed.")


def read_labelled(path: Path, domains: Sequence[str]) -> dict[int, LabelledDispute]:
    """The disputes in the JSONL file at *path*, by line; raises ConfigurationError."""
    valid, disputes = [*domains, DEFAULT_DOMAIN], {}
    content = path.read_bytes().removeprefix(BOM_UTF8)
    for number, line in enumerate(content.splitlines(), start=1):
        if line.strip():
            try:
                disputes[number] = dispute = parse_json(LabelledDispute, line)
                wrong = _mistake(dispute, valid)
            except BadFields as bad:
                wrong = str(bad).removeprefix("body ")
            if wrong:
                raise ConfigurationError(f"{path}, line {number}: {wrong}")
    if not disputes:
        raise ConfigurationError(f"{path} holds no dispute; write one JSON object a line.")
    return disputes


def _mistake(dispute: LabelledDispute, valid: Sequence[str]) -> str:
    if dispute.domain not in valid:
        return f"domain: there is no domain {dispute.domain!r}. Valid are {', '.join(valid)}."
    is_empty = not (dispute.context or dispute.query)
    return "has neither context nor query; add one of them." if is_empty else ""


def score(evaluated: Sequence[Evaluated], limit: int) -> dict[str, Any]:
    """The figures of *evaluated*, at least one dispute; `macro_f1` leaves `default` out."""
    pairs = Counter((item.domain, item.detected) for item in evaluated)
    names = dict.fromkeys(name for pair in sorted(pairs) for name in pair)
    domains = [_domain_figures(name, pairs) for name in names]
    f1s = [item["f1"] or 0.0 for item in domains if item["domain"] != DEFAULT_DOMAIN]
    with_pages = [item for item in evaluated if item.pages]
    return {
        "disputes": len(evaluated),
        "accuracy": _share(sum(pairs[name, name] for name in names), len(evaluated)),
        "macro_f1": _share(sum(f1s), len(f1s)) or 0.0,
        "domains": domains,
        "confusions": [
            {
                "labelled": pair[0],
                "detected": pair[1],
                "lines": [e.line for e in evaluated if (e.domain, e.detected) == pair],
            }
            for pair, _ in pairs.most_common()
            if pair[0] != pair[1]
        ],
        "pages": _page_figures(with_pages, limit) if with_pages else None,
    }


def _domain_figures(name: str, pairs: Counter[tuple[str, str]]) -> dict[str, Any]:
    """The figures of one domain; None where there is nothing to divide by."""
    labelled = sum(n for (label, _), n in pairs.items() if label == name)
    detected = sum(n for (_, detection), n in pairs.items() if detection == name)
    right = pairs[name, name]
    return {
        "domain": name,
        "disputes": labelled,
        "precision": _share(right, detected),
        "recall": _share(right, labelled),
        "f1": _share(2 * right, labelled + detected),
    }


def _page_figures(evaluated: Sequence[Evaluated], limit: int) -> dict[str, Any]:
    """How often labelled pages are found: among the first two, and on average at all."""
    hits = sum(bool({*e.offered[:2]} & {*e.pages}) for e in evaluated)
    recalls = [len({*e.offered} & {*e.pages}) / len({*e.pages}) for e in evaluated]
    return {
        "disputes": len(evaluated),
        "limit": limit,
        "hit_at_2": _share(hits, len(evaluated)),
        "recall": _share(sum(recalls), len(evaluated)),
    }


def _share(part: float, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None
