"""The work of `judge sources show`: what is in force, and where it stands."""

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
    """Print all that is in force, or what is of one *domain*; raises UnknownDomain."""
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
            *(str(len(parts)) for parts in (one.terms, one.patterns, one.pages, one.help)),
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
            yield format_table((heading, "Weight", "Stands in"), map(_words_row, words))
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
    told = (("Must get it", domain.examples), ("Must not get it", domain.not_examples))
    for heading, examples in told:
        if examples:
            rows = [(example.text, str(example.place)) for example in examples]
            yield format_table((heading, "Stands in"), rows)


def _words_row(words: WordsInForce) -> tuple[str, str, str]:
    overruled = "" if words.overruled is None else f" instead of {words.overruled:g}"
    return words.text, f"{words.weight:g}{overruled}", str(words.place)


def _files(*files: str) -> str:
    return " and ".join(file for file in files if file)


def _counted(rule: SafetyRule) -> str:
    parts = ((len(rule.terms), "terms"), (len(rule.patterns), "patterns"))
    return ", ".join(f"{count} {what}" for count, what in parts if count)


def _opening(brief: str) -> str:
    """The first sentence, which is enough to know it by."""
    return f"{' '.join(brief.split()).partition('. ')[0].rstrip('.')} …"
