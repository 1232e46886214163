"""The work of `judge sources show`: what is in force, and in which file and line."""

from collections.abc import Iterator
from pathlib import Path

from judge.bootstrap import open_sources, read_sources
from judge.entrypoints.cli.output import format_table, show
from judge.entrypoints.cli.plain_text import format_help_line
from judge.entrypoints.cli.sources.reports import require_domain
from judge.judging.in_force import DomainInForce, InForce, WordsInForce, in_force
from judge.judging.sources import SafetyRule
from judge.ports import Journal
from judge.settings import load_settings
from judge.vocabulary.package_files import safety_file, subject_files


def show_in_force(journal: Journal, *, domain: str | None, form: str) -> None:
    """Print all that is in force, or that of one *domain*; raises UnknownDomain."""
    settings = load_settings()
    known = open_sources(settings, journal).current()
    files = (*read_sources(Path(settings.sources)), *subject_files().values(), safety_file())
    found = in_force(known, files)
    if domain is None:
        show(form, found, _all(found))
        return
    require_domain(known, domain)
    one = next(one for one in found.domains if one.name == domain)
    show(form, one, _whole(one))


def _all(found: InForce) -> Iterator[str]:
    domains = [
        (
            one.name,
            one.title,
            *map(len, (one.terms, one.patterns, one.pages, one.help)),
            _files(str(one.place), one.vocabulary),
        )
        for one in found.domains
    ]
    headings = ("Domain", "Title", "Terms", "Patterns", "Pages", "Help", "Stands in")
    yield format_table(headings, domains)
    rules = [
        (r.name, _counted(r), "; ".join(line.title for line in r.help), _files(*r.files))
        for r in found.safety
    ]
    yield format_table(("Care", "Looks for", "Help that is shown", "Stands in"), rules)
    blocked = [(format_help_line(item.line), item.place) for item in found.blocked_help]
    yield format_table(("Help when the model refuses", "Stands in"), blocked)
    personas = [(p.persona.name, _opening(p.persona.brief), p.place) for p in found.personas]
    yield format_table(("Persona", "Brief", "Stands in"), personas)
    retrieval = [(item.key, item.value, item.place) for item in found.retrieval]
    yield format_table(("Retrieval", "Value", "Stands in"), retrieval)


def _whole(domain: DomainInForce) -> Iterator[str]:
    yield f"{domain.name}: {domain.title} ({_files(str(domain.place), domain.vocabulary)})"
    for heading, words in (("Term", domain.terms), ("Pattern", domain.patterns)):
        if words:
            rows = [(one.text, _weight(one), one.place) for one in words]
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


def _weight(words: WordsInForce) -> str:
    overruled = "" if words.overruled is None else f" instead of {words.overruled:g}"
    return f"{words.weight:g}{overruled}"


def _files(*files: str) -> str:
    return " and ".join(file for file in files if file)


def _counted(rule: SafetyRule) -> str:
    parts = ((len(rule.terms), "terms"), (len(rule.patterns), "patterns"))
    return ", ".join(f"{count} {what}" for count, what in parts if count)


def _opening(brief: str) -> str:
    """The first sentence of *brief*."""
    return f"{' '.join(brief.split()).partition('. ')[0].rstrip('.')} …"
