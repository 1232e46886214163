"""Lints the sources: finds what is valid but probably a mistake, before it is deployed."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from judge.library.sources.catalog import SOURCES_FILE, DomainSpec, SourceCatalog
from judge.library.sources.toml_lines import KeyPath, Places, key_name

FindingKind = Literal["duplicate-page", "plain-http", "no-words", "no-help", "foreign-help"]
Finding = tuple[FindingKind, KeyPath, str]
"""A kind of mistake, the path of keys (below its domain, if it has one), and what to do."""


@dataclass(frozen=True, slots=True)
class CatalogFinding:
    """A likely mistake in a sources file (valid, but hardly intended), with file and line."""

    kind: FindingKind
    domain: str
    file: str
    line: int
    key: str
    message: str


def check_catalog(
    catalog: SourceCatalog, places: Places, trusted_hosts: Collection[str] = ()
) -> tuple[CatalogFinding, ...]:
    """The findings in *catalog*, in the order of its domains; those about help lines come last.

    Pages of *trusted_hosts* need no encryption.
    """
    findings = []
    for domain in catalog.domains:
        for kind, keys, message in (
            *_pages(domain, catalog, trusted_hosts),
            *_no_words(domain),
        ):
            path = ("domains", domain.name, *keys)
            line = places.of(domain.file, *path).line
            name = key_name(path)
            findings.append(CatalogFinding(kind, domain.name, domain.file, line, name, message))
    for owner, file, (kind, path, message) in _help_findings(catalog):
        line = places.of(file, *path).line
        findings.append(CatalogFinding(kind, owner, file, line, key_name(path), message))
    return tuple(findings)


def _help_findings(catalog: SourceCatalog) -> Iterator[tuple[str, str, Finding]]:
    """Care without a help line of the country, and lines of another; each with domain and file.

    A file without `[country]` may leave lines out: it has the emergency lines of the package.
    """
    where, has_country = catalog.country.name, "country" in catalog.files
    for rule in catalog.safety:
        if has_country and not rule.help:
            message = f"no help line of {where} is shown for it; give it help with one"
            yield "", rule.files[0], ("no-help", ("safety", rule.name), message)
    country_file = catalog.files.get("country", SOURCES_FILE)
    if not catalog.country.emergency:
        message = f"has no lines, for where nobody can tell what help fits; add those of {where}"
        yield "", country_file, ("no-help", ("country", "emergency"), message)
    shown = [
        *(("", rule.files[0], ("safety", rule.name), rule.help) for rule in catalog.safety),
        *(
            (domain.name, domain.file, ("domains", domain.name), domain.help)
            for domain in catalog.domains
        ),
        ("", catalog.files.get("blocked", SOURCES_FILE), ("blocked",), catalog.blocked_help),
        ("", country_file, ("country", "emergency"), catalog.country.emergency),
    ]
    for owner, file, path, lines in shown:
        for line in lines:
            if not catalog.foreign_help.isdisjoint({line.url, line.phone}):
                message = f"{line.title} is a line of another country than {where}; remove it"
                yield owner, file, ("foreign-help", path, message)


def is_plain_http(url: str, trusted_hosts: Collection[str]) -> bool:
    """Whether *url* is not encrypted, and its host is not a trusted one."""
    parts = urlsplit(url)
    host = parts.netloc.lower() if parts.port else f"{parts.netloc.lower()}:80"
    return parts.scheme == "http" and host not in trusted_hosts


def _pages(
    domain: DomainSpec, catalog: SourceCatalog, trusted_hosts: Collection[str]
) -> Iterator[Finding]:
    """Pages that are listed twice, and those that are not fetched over https."""
    first = {
        page_key(source.url): (other.name, position)
        for other in reversed(catalog.domains)
        for position, source in reversed(list(enumerate(other.sources)))
    }
    for index, source in enumerate(domain.sources):
        path = ("sources", index, "url")
        owner, position = first[page_key(source.url)]
        if (owner, position) != (domain.name, index):
            where = f"domains.{owner}" if owner != domain.name else f"sources[{position + 1}]"
            message = f"{source.url} stands in {where} too; keep it in one"
            yield "duplicate-page", path, message
        if is_plain_http(source.url, trusted_hosts):
            message = f"{source.url} is not encrypted; use its https address"
            yield "plain-http", path, message


def page_key(url: str) -> str:
    """*url* without the parts that do not change the page: scheme, `www.`, a slash at the end."""
    parts = urlsplit(url)
    return f"{parts.netloc.lower().removeprefix('www.')}{parts.path.rstrip('/')}?{parts.query}"


def _no_words(domain: DomainSpec) -> Iterator[Finding]:
    """A domain that can never be detected."""
    words = (domain.terms, domain.patterns, domain.vocabulary.terms, domain.vocabulary.patterns)
    if not any(words):
        message = "has no terms, so that no dispute is ever about it; add about five"
        yield "no-words", (), message
