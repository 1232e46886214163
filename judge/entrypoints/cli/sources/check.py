"""The work of `judge sources list`, `show`, `check` and `warm`: what there is, and its state."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal

import click

from judge.bootstrap.library import Library, open_library
from judge.bootstrap.sources import open_sources, read_sources
from judge.entrypoints.cli.options import FOUND_SOMETHING
from judge.entrypoints.cli.output import format_report, format_table, progress_bar, say, show
from judge.errors import CacheUnavailable, ConfigurationError, FetchError, UnknownDomain
from judge.golden.scoring import gather_limited
from judge.judging.catalog_check import check_catalog
from judge.judging.domains import detect_domain, term_words
from judge.judging.results import Knowledge
from judge.library.dispute import read_dispute
from judge.library.pages.approved_pages import requests_of
from judge.library.pages.page_records import SnippetRequest
from judge.library.sources.catalog import DomainSpec, package_vocabulary
from judge.library.sources.toml_lines import FilePlace, Places
from judge.ports import Journal
from judge.settings import load_settings
from judge.text.english import counted
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
    """Print the effective configuration of all domains or of one *domain*; raises UnknownDomain."""
    settings = load_settings()
    known = open_sources(settings, journal).current()
    require_domain(known, domain)
    files = (*read_sources(Path(settings.sources)), *package_vocabulary().files)
    effective = effective_sources(known, files)
    lengths = [
        {key: len(v) if isinstance(v, list) else v for key, v in item.items()}
        for item in effective["domains"]
    ]
    in_short = effective | {"domains": lengths}
    if domain is not None:
        effective = in_short = next(item for item in effective["domains"] if item["name"] == domain)
    show(form, effective, format_report(in_short))


def effective_sources(known: Knowledge, files: Sequence[TextFile]) -> dict[str, Any]:
    """What is in force, merged from *files*, those of the package included, with its places."""
    places, catalog = Places(files), known.catalog
    file = {key: catalog.files.get(key, BUILT_IN) for key in ("retrieval", "personas", "blocked")}
    return {
        "retrieval": [
            {"key": key, "value": value, "place": place if place.line else FilePlace(BUILT_IN)}
            for key, value in asdict(catalog.retrieval).items()
            for place in [places.key(file["retrieval"], "retrieval", key)]
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
            label: _placed(places, name, items, domain.file, *path, key)
            for label, (name, key, items) in lists.items()
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


@dataclass(frozen=True, slots=True)
class PageCheck:
    """The result for one page: the words that would be quoted, or what went wrong."""

    state: Literal["ok", "FAILED"]
    domain: str
    title: str
    url: str
    text: str = ""
    updated: str = ""
    """The publisher's date in ISO 8601, empty where there is none."""
    reason: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ExampleCheck:
    """The domain that an example of the sources file gets, and where the example stands.

    `must_get_it` is False for one of the `not_examples`; `read_as` says whether it was read as the
    `story` of a dispute or as its `question`.
    """

    domain: str
    text: str
    detected: str
    must_get_it: bool
    read_as: str
    file: str
    line: int

    @property
    def is_ok(self) -> bool:
        """Whether it gets its domain, or, among the `not_examples`, another one."""
        return (self.detected == self.domain) == self.must_get_it

    @property
    def problem(self) -> str:
        """The domain that it gets instead, and what to do."""
        kind, fix = "counter-example", "give weight 0 to a longer term, or lower what it meets"
        if self.must_get_it:
            kind, fix = "example", f"add or raise terms of {self.domain}"
        return (
            f"{kind} of {self.domain} gets {self.detected} as a {self.read_as}; {fix} (see "
            f"`judge sources explain`): {self.text}"
        )


async def show_checks(journal: Journal, *, domain: str | None, is_offline: bool, form: str) -> int:
    """Print what would be quoted of each page, each example's domain, and likely mistakes."""
    settings = load_settings()
    known = open_sources(settings, journal).current()
    require_domain(known, domain)
    places = Places(read_sources(Path(settings.sources)))
    examples = check_examples(known, places, domain)
    found = check_catalog(known.catalog, places, settings.trusted_hosts)
    findings = [finding for finding in found if domain in {None, finding.domain}]
    pages: list[PageCheck] = []
    if not is_offline:
        async with open_library(settings, journal) as library:
            pages = await check_pages(library, "Checking", domain)
    bad_pages = sum(page.state == "FAILED" for page in pages)
    bad = [example for example in examples if not example.is_ok]
    wrong = [(str(FilePlace(f.file, f.line)), f"{f.key}: {f.message}") for f in findings]
    wrong += [(str(FilePlace(example.file, example.line)), example.problem) for example in bad]
    parts = [*format_report({"pages": pages})]
    parts += [format_table(("Stands in", "What is wrong"), wrong)] if wrong else []
    report = {"pages": pages, "examples": examples, "findings": findings}
    show(form, report, parts or ["Nothing is wrong."])
    checked = "not fetched" if is_offline else f"{len(pages)} checked, {bad_pages} failed"
    say(
        f"Pages: {checked}. Examples: {len(examples)} checked, {len(bad)} failed. "
        f"Findings in the file: {len(findings)}."
    )
    for spec in known.catalog.domains:
        if not spec.sources and domain in {None, spec.name}:
            how = f"`judge sources add ADDRESS --domain {spec.name}` adds one."
            say(f"{spec.name} has no pages; {how}")
    return FOUND_SOMETHING if bad_pages or wrong else 0


async def warm_cache(journal: Journal) -> int:
    """Read every page into Redis and print how many; the exit code."""
    async with open_library(load_settings(), journal) as library:
        if library.stores.redis is None:
            raise ConfigurationError(
                "There is no cache to fill: without Redis each process has one of its own, which "
                "fills as it judges. Set REDIS_URL to share one."
            )
        await library.stores.redis.ping()
        pages = await check_pages(library, "Reading")
        if library.stores.degraded():
            raise CacheUnavailable(
                "Redis went away, so not all was kept. Run `judge doctor`, then try again."
            )
    failed = [page for page in pages if page.reason]
    for page in failed:
        say(f"{page.domain}: {page.url}: {page.problem}")
    kept = counted(len(pages) - len(failed), "page")
    click.echo(f"In the cache: {kept}; {len(failed)} failed.")
    return FOUND_SOMETHING if failed else 0


async def check_pages(library: Library, label: str, domain: str | None = None) -> list[PageCheck]:
    """Fetch every page, or those of one *domain*, into the cache; a bar shows *label*."""
    requests = requests_of(library.sources.current().catalog)
    wanted = [request for request in requests if domain in {None, request.domain}]

    async def check(request: SnippetRequest) -> PageCheck:
        page = (request.domain, request.source.title, request.source.url)
        try:
            record = await library.retriever.refresh(request)
        except FetchError as error:
            return PageCheck("FAILED", *page, reason=error.reason, problem=str(error))
        finally:
            advance()
        if record.is_withdrawn:
            problem = "Its publisher has withdrawn it; remove it."
            return PageCheck("FAILED", *page, reason="withdrawn", problem=problem)
        return PageCheck("ok", *page, record.text, str(record.updated or ""))

    with progress_bar(label, len(wanted)) as advance:
        return await gather_limited(check, wanted)


def check_examples(
    known: Knowledge, places: Places, domain: str | None = None
) -> list[ExampleCheck]:
    """Every example, or those of one *domain*, with the domain that it gets.

    Each is read as the story of a dispute and as its question; if one fails, the result is its.
    """
    examples = []
    for spec in known.catalog.domains:
        for key, texts in (("examples", spec.examples), ("not_examples", spec.not_examples)):
            for index, text in enumerate(texts if domain in {None, spec.name} else ()):
                place = places.of(spec.file, "domains", spec.name, key, index, "text")
                told = {"story": read_dispute(text, ""), "question": read_dispute("", text)}
                checks = [
                    ExampleCheck(
                        domain=spec.name,
                        text=text,
                        detected=detect_domain(known.detector, dispute).domain,
                        must_get_it=key == "examples",
                        read_as=read_as,
                        **asdict(place),
                    )
                    for read_as, dispute in told.items()
                ]
                examples.append(next((it for it in checks if not it.is_ok), checks[0]))
    return examples
