"""The work of `judge sources list` and `show`: what is configured, and where each item stands."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from judge.bootstrap.library import open_library
from judge.bootstrap.sources import open_sources, read_sources
from judge.entrypoints.cli.output import format_table, show
from judge.entrypoints.cli.plain_text import format_help_line
from judge.errors import UnknownDomain
from judge.judging.domains import term_words
from judge.judging.knowledge import Knowledge
from judge.library.pages.approved_pages import requests_of
from judge.library.sources.catalog import DomainSpec, SafetyRule, package_vocabulary
from judge.library.sources.toml_lines import FilePlace, Places
from judge.ports import Journal
from judge.settings import load_settings
from judge.types.references import SourceSpec
from judge.types.text_files import TextFile

BUILT_IN = FilePlace("built in")
"""The place of a default that no file sets."""

Item = Mapping[str, Any]
"""Something configured, with its `place`, as in the JSON output."""


def require_domain(known: Knowledge, name: str | None) -> None:
    """Raise UnknownDomain unless *name* is None or the name of a domain."""
    if name not in {None, *known.detector.domains}:
        raise UnknownDomain(str(name), known.detector.domains)


async def list_pages(journal: Journal, *, form: str) -> None:
    """Print the domains and their pages, the latest publisher's date first.

    Dates come from the cache, without fetching; pages without one come last.
    """
    async with open_library(load_settings(), journal) as library:
        catalog = library.sources.current().catalog
        requests = requests_of(catalog)
        pages = await library.retriever.store.look_up(requests)
    dated = [
        (request.domain, request.source, page.record.updated if page.record else None)
        for request, page in zip(requests, pages, strict=True)
    ]
    dated.sort(key=lambda item: item[2] or date.min, reverse=True)
    rows = [(updated, domain, *_page_row(source)) for domain, source, updated in dated]
    table = format_table(("Updated", "Domain", "Title", "Address", "Topics", "Nations"), rows)
    domains = [
        {
            "name": spec.name,
            "title": spec.title,
            "sources": [
                {**asdict(source), "updated": updated}
                for domain, source, updated in dated
                if domain == spec.name
            ],
        }
        for spec in catalog.domains
    ]
    show(form, {"domains": domains}, [table])


def show_effective_sources(journal: Journal, *, domain: str | None, form: str) -> None:
    """Print the effective configuration, or that of one *domain*; raises UnknownDomain."""
    settings = load_settings()
    known = open_sources(settings, journal).current()
    require_domain(known, domain)
    files = (*read_sources(Path(settings.sources)), *package_vocabulary().files)
    effective = effective_sources(known, files)
    if domain is None:
        show(form, effective, _all_domains(effective))
    else:
        chosen = next(item for item in effective["domains"] if item["name"] == domain)
        show(form, chosen, _one_domain(chosen))


def effective_sources(known: Knowledge, files: Sequence[TextFile]) -> dict[str, Any]:
    """What is in force, merged from *files*, those of the package included, with its places."""
    places, catalog = Places(files), known.catalog

    def place(key: str, *path: int | str) -> FilePlace:
        file = catalog.files.get(key)
        return places.of(file, key, *path) if file else BUILT_IN

    file = catalog.files.get("retrieval", "")
    return {
        "retrieval": [
            {"key": key, "value": value, "place": place("retrieval", key)}
            if places.line(file, "retrieval", key)
            else {"key": key, "value": value, "place": BUILT_IN}
            for key, value in asdict(catalog.retrieval).items()
        ],
        "personas": [
            {"persona": persona, "place": place("personas", index)}
            for index, persona in enumerate(known.personas)
        ],
        "blocked_help": [
            {"line": line, "place": place("blocked", "help", index)}
            for index, line in enumerate(catalog.blocked_help)
        ],
        "safety": catalog.safety,
        "domains": [_domain(domain, places) for domain in catalog.domains],
    }


def _domain(domain: DomainSpec, places: Places) -> dict[str, Any]:
    def placed(name: str, key: str, items: Iterable[object]) -> list[Item]:
        return [
            {name: item, "place": places.of(domain.file, "domains", domain.name, key, index)}
            for index, item in enumerate(items)
        ]

    return {
        "name": domain.name,
        "title": domain.title,
        "place": places.of(domain.file, "domains", domain.name),
        "vocabulary": domain.vocabulary.file,
        "terms": sorted(_terms(domain, places), key=lambda term: -abs(term["weight"])),
        "patterns": [*_patterns(domain, places)],
        "pages": placed("source", "sources", domain.sources),
        "help": placed("line", "help", domain.help),
        "examples": placed("text", "examples", domain.examples),
        "not_examples": placed("text", "not_examples", domain.not_examples),
    }


def _terms(domain: DomainSpec, places: Places) -> Iterator[Item]:
    """The configured terms and the package's that they do not overrule.

    `overruled` is the package's weight of a configured term if it differs.
    """
    package = {term_words(text): (text, weight) for text, weight in domain.vocabulary.terms}
    for text, weight in domain.terms:
        _, overruled = package.pop(term_words(text), ("", weight))
        place = places.of(domain.file, "domains", domain.name, "terms", text)
        yield _weighted(text, weight, place, overruled if overruled != weight else None)
    for text, weight in package.values():
        yield _weighted(text, weight, places.of(domain.vocabulary.file, "terms", text))


def _patterns(domain: DomainSpec, places: Places) -> Iterator[Item]:
    for index, item in enumerate(domain.patterns):
        place = places.of(domain.file, "domains", domain.name, "patterns", index)
        yield _weighted(item.regex, item.weight, place)
    for index, item in enumerate(domain.vocabulary.patterns):
        place = places.of(domain.vocabulary.file, "patterns", index)
        yield _weighted(item.regex, item.weight, place)


def _weighted(text: str, weight: float, place: FilePlace, overruled: float | None = None) -> Item:
    return {"text": text, "weight": weight, "place": place, "overruled": overruled}


def _all_domains(effective: Item) -> Iterator[str]:
    counted = ("terms", "patterns", "pages", "help")
    domains = [
        (d["name"], d["title"], *(len(d[key]) for key in counted), _files(d))
        for d in effective["domains"]
    ]
    headings = ("Domain", "Title", "Terms", "Patterns", "Pages", "Help", "Stands in")
    yield format_table(headings, domains)
    rules = [
        (
            rule.name,
            _rule_size(rule),
            "; ".join(line.title for line in rule.help),
            " and ".join(rule.files),
        )
        for rule in effective["safety"]
    ]
    yield format_table(("Care", "Looks for", "Help that is shown", "Stands in"), rules)
    blocked = [
        (format_help_line(item["line"]), item["place"]) for item in effective["blocked_help"]
    ]
    yield format_table(("Help when the model refuses", "Stands in"), blocked)
    personas = [
        (item["persona"].name, _opening(item["persona"].brief), item["place"])
        for item in effective["personas"]
    ]
    yield format_table(("Persona", "Brief", "Stands in"), personas)
    retrieval = [item.values() for item in effective["retrieval"]]
    yield format_table(("Retrieval", "Value", "Stands in"), [[*row] for row in retrieval])


def _one_domain(domain: Item) -> Iterator[str]:
    yield f"{domain['name']}: {domain['title']} ({_files(domain)})"
    for heading, key in (("Term", "terms"), ("Pattern", "patterns")):
        if domain[key]:
            rows = [(term["text"], _weight(term), term["place"]) for term in domain[key]]
            yield format_table((heading, "Weight", "Stands in"), rows)
    pages = [(*_page_row(page["source"]), page["place"]) for page in domain["pages"]]
    yield format_table(("Page", "Address", "Topics", "Nations", "Stands in"), pages)
    lists = (
        ("Help with every verdict", [(format_help_line(h["line"]), h) for h in domain["help"]]),
        ("Must get it", [(example["text"], example) for example in domain["examples"]]),
        ("Must not get it", [(example["text"], example) for example in domain["not_examples"]]),
    )
    for heading, listed in lists:
        if listed:
            yield format_table(
                (heading, "Stands in"), [(text, item["place"]) for text, item in listed]
            )


def _page_row(source: SourceSpec) -> tuple[str, str, str, str]:
    return source.title, source.url, ", ".join(source.topics), ", ".join(source.nations) or "all"


def _weight(term: Item) -> str:
    overruled = "" if term["overruled"] is None else f" instead of {term['overruled']:g}"
    return f"{term['weight']:g}{overruled}"


def _files(domain: Item) -> str:
    return " and ".join(filter(None, (str(domain["place"]), domain["vocabulary"])))


def _rule_size(rule: SafetyRule) -> str:
    parts = ((len(rule.terms), "terms"), (len(rule.patterns), "patterns"))
    return ", ".join(f"{count} {what}" for count, what in parts if count)


def _opening(brief: str) -> str:
    """The first sentence of *brief*."""
    return f"{' '.join(brief.split()).partition('. ')[0].rstrip('.')} …"
