"""The work of `judge sources show`: what is in force, and where it stands."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from judge.bootstrap import open_sources, read_sources
from judge.entrypoints.cli.output import format_json, format_table
from judge.entrypoints.cli.problem_text import format_help_line
from judge.entrypoints.cli.sources.reports import require_domain
from judge.judging.in_force import DomainInForce, ExampleInForce, InForce, WordsInForce, in_force
from judge.judging.sources import SafetyRule
from judge.ports import Journal
from judge.settings import load_settings
from judge.types.results import HelpLine
from judge.vocabulary.package_files import safety_file, subject_files


def show_in_force(journal: Journal, *, domain: str | None, form: str) -> None:
    """Print all that is in force, or what is of one *domain*; raises UnknownDomain."""
    settings = load_settings()
    known = open_sources(settings, journal).current()
    files = (*read_sources(Path(settings.sources)), *subject_files().values(), safety_file())
    found = in_force(known, files)
    if domain is None:
        click.echo(format_json(found) if form == "json" else "\n\n".join(_all(found)))
        return
    require_domain(known, domain)
    one = next(one for one in found.domains if one.name == domain)
    click.echo(format_json(one) if form == "json" else "\n\n".join(_whole(one)))


def _all(found: InForce) -> Iterator[str]:
    domains = [
        (
            domain.name,
            domain.title,
            *map(str, (len(domain.terms), len(domain.patterns), len(domain.pages))),
            str(len(domain.help)),
            _files(str(domain.place), domain.vocabulary),
        )
        for domain in found.domains
    ]
    headings = ("Domain", "Title", "Terms", "Patterns", "Pages", "Help", "Stands in")
    yield format_table(headings, domains)
    rules = [(r.name, _counted(r), _names(r.help), _files(*r.files)) for r in found.safety]
    yield format_table(("Care", "Looks for", "Help that is shown", "Stands in"), rules)
    blocked = [(format_help_line(item.line), str(item.place)) for item in found.blocked_help]
    yield format_table(("Help when the model refuses", "Stands in"), blocked)
    personas = [
        (item.persona.name, _opening(item.persona.brief), str(item.place))
        for item in found.personas
    ]
    yield format_table(("Persona", "Brief", "Stands in"), personas)
    retrieval = [(item.key, str(item.value), str(item.place)) for item in found.retrieval]
    yield format_table(("Retrieval", "Value", "Stands in"), retrieval)


def _whole(domain: DomainInForce) -> Iterator[str]:
    yield f"{domain.name}: {domain.title} ({_files(str(domain.place), domain.vocabulary)})"
    for heading, words in (("Term", domain.terms), ("Pattern", domain.patterns)):
        if words:
            rows = [_words_row(one) for one in words]
            yield format_table((heading, "Weight", "Stands in"), rows)
    pages = [
        (
            page.source.title,
            page.source.url,
            ", ".join(page.source.topics),
            ", ".join(page.source.nations) or "all",
            str(page.place),
        )
        for page in domain.pages
    ]
    headings = ("Page", "Address", "Topics", "Nations", "Stands in")
    yield format_table(headings, pages)
    if domain.help:
        lines = [(format_help_line(item.line), str(item.place)) for item in domain.help]
        yield format_table(("Help with every verdict", "Stands in"), lines)
    yield from _examples("Must get it", domain.examples)
    yield from _examples("Must not get it", domain.not_examples)


def _examples(heading: str, examples: Sequence[ExampleInForce]) -> Iterator[str]:
    if examples:
        rows = [(example.text, str(example.place)) for example in examples]
        yield format_table((heading, "Stands in"), rows)


def _words_row(words: WordsInForce) -> tuple[str, str, str]:
    weight = f"{words.weight:g}"
    if words.overruled is not None:
        weight += f" instead of {words.overruled:g}"
    return words.text, weight, str(words.place)


def _files(*files: str) -> str:
    return " and ".join(file for file in files if file)


def _counted(rule: SafetyRule) -> str:
    parts = ((len(rule.terms), "terms"), (len(rule.patterns), "patterns"))
    return ", ".join(f"{count} {what}" for count, what in parts if count)


def _names(lines: Sequence[HelpLine]) -> str:
    return "; ".join(line.title for line in lines)


def _opening(brief: str) -> str:
    """The first sentence, which is enough to know it by."""
    return f"{' '.join(brief.split()).partition('. ')[0].rstrip('.')} …"
