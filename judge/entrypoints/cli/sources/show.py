"""The work of `judge sources list` and `show`: what is configured, and where each item stands."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from judge.bootstrap.library import open_library
from judge.bootstrap.sources import open_sources, read_sources
from judge.entrypoints.cli.output import format_report, show
from judge.errors import UnknownDomain
from judge.judging.domains import term_words
from judge.judging.knowledge import Knowledge
from judge.library.pages.approved_pages import requests_of
from judge.library.sources.catalog import DomainSpec, package_vocabulary
from judge.library.sources.toml_lines import FilePlace, Places
from judge.ports import Journal
from judge.settings import load_settings
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
    rows = [
        {
            "updated": page.record.updated if page.record else None,
            "domain": request.domain,
            **asdict(request.source),
        }
        for request, page in zip(requests, pages, strict=True)
    ]
    rows.sort(key=lambda row: row["updated"] or date.min, reverse=True)
    domains = [
        {
            "name": spec.name,
            "title": spec.title,
            "sources": [row for row in rows if row["domain"] == spec.name],
        }
        for spec in catalog.domains
    ]
    show(form, {"domains": domains}, format_report({"pages": rows}))


def show_effective_sources(journal: Journal, *, domain: str | None, form: str) -> None:
    """Print the effective configuration, or that of one *domain*; raises UnknownDomain."""
    settings = load_settings()
    known = open_sources(settings, journal).current()
    require_domain(known, domain)
    files = (*read_sources(Path(settings.sources)), *package_vocabulary().files)
    effective = effective_sources(known, files)
    if domain is None:
        show(
            form,
            effective,
            format_report(effective | {"domains": [*map(_counted, effective["domains"])]}),
        )
    else:
        chosen = next(item for item in effective["domains"] if item["name"] == domain)
        show(form, chosen, format_report(chosen))


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
    own = (domain.file, domain.patterns, ("domains", domain.name))
    for file, patterns, path in (own, (domain.vocabulary.file, domain.vocabulary.patterns, ())):
        for index, item in enumerate(patterns):
            yield _weighted(item.regex, item.weight, places.of(file, *path, "patterns", index))


def _weighted(text: str, weight: float, place: FilePlace, overruled: float | None = None) -> Item:
    return {"text": text, "weight": weight, "place": place, "overruled": overruled}


def _counted(domain: Item) -> Item:
    """*domain* with the lengths of its lists."""
    return {key: len(v) if isinstance(v, list | tuple) else v for key, v in domain.items()}
