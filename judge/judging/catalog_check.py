"""Lints the sources: finds what is valid but probably a mistake, before it is deployed."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from judge.library.sources.catalog import SOURCES_FILE, SourceCatalog
from judge.library.sources.toml_lines import KeyPath, Places, key_name

FindingKind = Literal["duplicate-page", "plain-http", "no-words", "no-help", "foreign-help"]
Finding = tuple[FindingKind, str, str, KeyPath, str]
"""A kind of mistake, its domain or "", its file, the path of keys there, and what to do."""


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
    found = [*_findings_of_domains(catalog, trusted_hosts), *_findings_of_help(catalog)]
    return tuple(
        CatalogFinding(kind, domain, file, places.of(file, *path).line, key_name(path), message)
        for kind, domain, file, path, message in found
    )


def _findings_of_domains(
    catalog: SourceCatalog, trusted_hosts: Collection[str]
) -> Iterator[Finding]:
    """Pages listed twice or not fetched over https, and domains that can never be detected."""
    first: dict[str, tuple[str, int]] = {}
    for domain in catalog.domains:
        name, file = domain.name, domain.file
        for index, source in enumerate(domain.sources):
            path = ("domains", name, "sources", index, "url")
            owner, position = first.setdefault(page_key(source.url), (name, index))
            if (owner, position) != (name, index):
                where = f"domains.{owner}" if owner != name else f"sources[{position + 1}]"
                message = f"{source.url} stands in {where} too; keep it in one"
                yield "duplicate-page", name, file, path, message
            if is_plain_http(source.url, trusted_hosts):
                message = f"{source.url} is not encrypted; use its https address"
                yield "plain-http", name, file, path, message
        words = (domain.terms, domain.patterns, domain.vocabulary.terms, domain.vocabulary.patterns)
        if not any(words):
            message = "has no terms, so that no dispute is ever about it; add about five"
            yield "no-words", name, file, ("domains", name), message


def _findings_of_help(catalog: SourceCatalog) -> Iterator[Finding]:
    """Care without a help line of the country, and lines of another.

    A file without `[country]` may leave lines out: it has the emergency lines of the package.
    """
    where, emergency = catalog.country.name, catalog.country.emergency
    country_file = catalog.files.get("country", SOURCES_FILE)
    country_path: KeyPath = ("country", "emergency")
    rules = [(("safety", rule.name), "", rule.files[0], rule.help) for rule in catalog.safety]
    for rule_path, _, file, lines in rules:
        if "country" in catalog.files and not lines:
            message = f"no help line of {where} is shown for it; give it help with one"
            yield "no-help", "", file, rule_path, message
    if not emergency:
        message = f"has no lines, for where nobody can tell what help fits; add those of {where}"
        yield "no-help", "", country_file, country_path, message
    blocked_file = catalog.files.get("blocked", SOURCES_FILE)
    for path, domain, file, lines in (
        *rules,
        *((("domains", one.name), one.name, one.file, one.help) for one in catalog.domains),
        (("blocked",), "", blocked_file, catalog.blocked_help),
        (country_path, "", country_file, emergency),
    ):
        for line in lines:
            if not catalog.foreign_help.isdisjoint({line.url, line.phone}):
                message = f"{line.title} is a line of another country than {where}; remove it"
                yield "foreign-help", domain, file, path, message


def is_plain_http(url: str, trusted_hosts: Collection[str]) -> bool:
    """Whether *url* is not encrypted, and its host is not a trusted one."""
    parts = urlsplit(url)
    host = parts.netloc.lower() if parts.port else f"{parts.netloc.lower()}:80"
    return parts.scheme == "http" and host not in trusted_hosts


def page_key(url: str) -> str:
    """*url* without the parts that do not change the page: scheme, `www.`, a slash at the end."""
    parts = urlsplit(url)
    return f"{parts.netloc.lower().removeprefix('www.')}{parts.path.rstrip('/')}?{parts.query}"
