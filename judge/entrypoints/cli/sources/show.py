"""The work of `judge sources show`: the effective configuration, and where each item stands."""

from collections.abc import Iterator
from pathlib import Path

from judge.bootstrap.sources import open_sources, read_sources
from judge.entrypoints.cli.output import format_table, show
from judge.entrypoints.cli.plain_text import format_help_line
from judge.entrypoints.cli.sources.reports import require_domain
from judge.judging.effective_sources import (
    EffectiveDomain,
    EffectiveSources,
    EffectiveTerm,
    effective_sources,
)
from judge.library.sources.catalog import SafetyRule
from judge.ports import Journal
from judge.settings import load_settings
from judge.vocabulary.package_files import safety_file, subject_files


def show_effective_sources(journal: Journal, *, domain: str | None, form: str) -> None:
    """Print the effective configuration, or that of one *domain*; raises UnknownDomain."""
    settings = load_settings()
    known = open_sources(settings, journal).current()
    files = (*read_sources(Path(settings.sources)), *subject_files().values(), safety_file())
    effective = effective_sources(known, files)
    if domain is None:
        show(form, effective, _all_domains(effective))
        return
    require_domain(known, domain)
    chosen = next(spec for spec in effective.domains if spec.name == domain)
    show(form, chosen, _one_domain(chosen))


def _all_domains(effective: EffectiveSources) -> Iterator[str]:
    domains = [
        (
            domain.name,
            domain.title,
            *map(len, (domain.terms, domain.patterns, domain.pages, domain.help)),
            _files(str(domain.place), domain.vocabulary),
        )
        for domain in effective.domains
    ]
    headings = ("Domain", "Title", "Terms", "Patterns", "Pages", "Help", "Stands in")
    yield format_table(headings, domains)
    rules = [
        (r.name, _rule_size(r), "; ".join(line.title for line in r.help), _files(*r.files))
        for r in effective.safety
    ]
    yield format_table(("Care", "Looks for", "Help that is shown", "Stands in"), rules)
    blocked = [(format_help_line(item.line), item.place) for item in effective.blocked_help]
    yield format_table(("Help when the model refuses", "Stands in"), blocked)
    personas = [(p.persona.name, _opening(p.persona.brief), p.place) for p in effective.personas]
    yield format_table(("Persona", "Brief", "Stands in"), personas)
    retrieval = [(item.key, item.value, item.place) for item in effective.retrieval]
    yield format_table(("Retrieval", "Value", "Stands in"), retrieval)


def _one_domain(domain: EffectiveDomain) -> Iterator[str]:
    yield f"{domain.name}: {domain.title} ({_files(str(domain.place), domain.vocabulary)})"
    for heading, terms in (("Term", domain.terms), ("Pattern", domain.patterns)):
        if terms:
            rows = [(term.text, _weight(term), term.place) for term in terms]
            yield format_table((heading, "Weight", "Stands in"), rows)
    pages = [
        (s.title, s.url, ", ".join(s.topics), ", ".join(s.nations) or "all", page.place)
        for page in domain.pages
        for s in [page.source]
    ]
    yield format_table(("Page", "Address", "Topics", "Nations", "Stands in"), pages)
    lists = (
        ("Help with every verdict", [(format_help_line(h.line), h.place) for h in domain.help]),
        ("Must get it", [(example.text, example.place) for example in domain.examples]),
        ("Must not get it", [(example.text, example.place) for example in domain.not_examples]),
    )
    for heading, listed in lists:
        if listed:
            yield format_table((heading, "Stands in"), listed)


def _weight(term: EffectiveTerm) -> str:
    overruled = "" if term.overruled is None else f" instead of {term.overruled:g}"
    return f"{term.weight:g}{overruled}"


def _files(*files: str) -> str:
    return " and ".join(file for file in files if file)


def _rule_size(rule: SafetyRule) -> str:
    parts = ((len(rule.terms), "terms"), (len(rule.patterns), "patterns"))
    return ", ".join(f"{count} {what}" for count, what in parts if count)


def _opening(brief: str) -> str:
    """The first sentence of *brief*."""
    return f"{' '.join(brief.split()).partition('. ')[0].rstrip('.')} …"
