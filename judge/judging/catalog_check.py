"""Lints the sources: finds what is valid but probably a mistake, before it is deployed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from judge.judging.domains import Words, term_words
from judge.library.sources.catalog import DomainSpec, SourceCatalog

MIN_WEIGHT = 1.0
"""A hidden term is reported from this weight on; a lower one is a hint among many."""

FindingKind = Literal["duplicate-term", "hidden-term", "duplicate-page", "plain-http", "no-words"]


@dataclass(frozen=True, slots=True)
class CatalogFinding:
    """A probable mistake: its `path` of keys in the file (see `line_of`) and what to do."""

    kind: FindingKind
    file: str
    path: tuple[int | str, ...]
    message: str


def check_catalog(catalog: SourceCatalog) -> tuple[CatalogFinding, ...]:
    """The findings in *catalog*, in the order of its domains."""
    return tuple(
        finding
        for domain in catalog.domains
        for check in (_duplicate_terms, _hidden_terms, _pages, _no_words)
        for finding in check(domain, catalog)
    )


def _duplicate_terms(domain: DomainSpec, _: SourceCatalog) -> Iterator[CatalogFinding]:
    """Terms of a file with the same normalised words, of which only the heaviest counts."""
    seen: dict[Words, str] = {}
    for text, _weight in domain.terms:
        first = seen.setdefault(term_words(text), text)
        if first != text:
            message = f"is the same term as {first!r}; keep one of them"
            yield _finding("duplicate-term", domain, ("terms", text), message)


def _hidden_terms(domain: DomainSpec, catalog: SourceCatalog) -> Iterator[CatalogFinding]:
    """Terms of this domain's file that hide a shorter term of another domain."""
    others = [
        (other, words, text, weight)
        for other in catalog.domains
        if other.name != domain.name
        for text, weight in dict((*other.vocabulary.terms, *other.terms)).items()
        if weight >= MIN_WEIGHT
        for words in [term_words(text)]
    ]
    both = {(other.name, words) for other, words, _, _ in others}
    for text, _weight in domain.terms:
        long = term_words(text)
        for other, words, short, weight in others:
            if _is_inside(words, long) and (other.name, long) not in both:
                message = (
                    f"hides {short!r} ({weight:g}) of {other.name}, since the longest term wins; "
                    f"weigh {text!r} in domains.{other.name}.terms too if both are meant"
                )
                yield _finding("hidden-term", domain, ("terms", text), message)


def _is_inside(short: Words, long: Words) -> bool:
    size = len(short)
    return size < len(long) and any(
        long[at : at + size] == short for at in range(len(long) - size + 1)
    )


def _pages(domain: DomainSpec, catalog: SourceCatalog) -> Iterator[CatalogFinding]:
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
            yield _finding("duplicate-page", domain, path, message)
        if source.url.startswith("http://"):
            message = f"{source.url} is not encrypted; use its https address"
            yield _finding("plain-http", domain, path, message)


def page_key(url: str) -> str:
    """*url* without the parts that do not change the page: scheme, `www.`, a slash at the end."""
    parts = urlsplit(url)
    return f"{parts.netloc.lower().removeprefix('www.')}{parts.path.rstrip('/')}?{parts.query}"


def _no_words(domain: DomainSpec, _: SourceCatalog) -> Iterator[CatalogFinding]:
    """A domain that can never be detected."""
    words = (domain.terms, domain.patterns, domain.vocabulary.terms, domain.vocabulary.patterns)
    if not any(words):
        message = "has no terms, so that no dispute is ever about it; add about five"
        yield _finding("no-words", domain, (), message)


def _finding(
    kind: FindingKind, domain: DomainSpec, path: tuple[int | str, ...], message: str
) -> CatalogFinding:
    return CatalogFinding(kind, domain.file, ("domains", domain.name, *path), message)
