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
from judge.judging.results import Knowledge
from judge.library.pages.approved_pages import requests_of
from judge.library.sources.catalog import DomainSpec, package_vocabulary
from judge.library.sources.toml_lines import FilePlace, Places
from judge.ports import Journal
from judge.settings import load_settings
from judge.types.text_files import TextFile

BUILT_IN = "built in"
"""Stands for the file of a default that no file sets."""

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
    shown = effective_sources(known, files)
    in_short = shown | {"domains": [*map(_counted, shown["domains"])]}
    if domain is not None:
        shown = in_short = next(item for item in shown["domains"] if item["name"] == domain)
    show(form, shown, format_report(in_short))


def effective_sources(known: Knowledge, files: Sequence[TextFile]) -> dict[str, Any]:
    """What is in force, merged from *files*, those of the package included, with its places."""
    places, catalog = Places(files), known.catalog
    file = {key: catalog.files.get(key, BUILT_IN) for key in ("retrieval", "personas", "blocked")}
    lines = {
        key: places.line(file["retrieval"], "retrieval", key) for key in asdict(catalog.retrieval)
    }
    return {
        "retrieval": [
            {
                "key": key,
                "value": getattr(catalog.retrieval, key),
                "place": FilePlace(file["retrieval"] if line else BUILT_IN, line),
            }
            for key, line in lines.items()
        ],
        "personas": _placed(places, "persona", known.personas, file["personas"], "personas"),
        "blocked_help": _placed(
            places, "line", catalog.blocked_help, file["blocked"], "blocked", "help"
        ),
        "safety": catalog.safety,
        "domains": [_domain(domain, places) for domain in catalog.domains],
    }


def _placed(
    places: Places, name: str, items: Iterable[object], file: str, *path: int | str
) -> list[Item]:
    """Each of *items*, called *name*, with its place in the list at *path* of *file*."""
    return [
        {name: item, "place": places.of(file, *path, index)} for index, item in enumerate(items)
    ]


def _domain(domain: DomainSpec, places: Places) -> dict[str, Any]:
    path, package = ("domains", domain.name), domain.vocabulary
    patterns = ((domain.file, path, domain.patterns), (package.file, (), package.patterns))
    lists = {
        "pages": ("source", "sources", domain.sources),
        "help": ("line", "help", domain.help),
        "examples": ("text", "examples", domain.examples),
        "not_examples": ("text", "not_examples", domain.not_examples),
    }
    return {
        "name": domain.name,
        "title": domain.title,
        "place": places.of(domain.file, *path),
        "vocabulary": package.file,
        "terms": sorted(_terms(domain, places), key=lambda term: -abs(term["weight"])),
        "patterns": [
            _weighted(item.regex, item.weight, places.of(file, *where, "patterns", index))
            for file, where, items in patterns
            for index, item in enumerate(items)
        ],
        **{
            shown: _placed(places, name, items, domain.file, *path, key)
            for shown, (name, key, items) in lists.items()
        },
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


def _weighted(text: str, weight: float, place: FilePlace, overruled: float | None = None) -> Item:
    return {"text": text, "weight": weight, "place": place, "overruled": overruled}


def _counted(domain: Item) -> Item:
    """*domain* with the lengths of its lists."""
    return {key: len(v) if isinstance(v, list | tuple) else v for key, v in domain.items()}
