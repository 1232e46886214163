"""The work of `judge sources add`: fetch a page, show a proposal, and write it once confirmed."""

from codecs import BOM_UTF8
from collections.abc import Collection
from pathlib import Path

import click

from judge.adapters.files.whole_file import write_whole
from judge.bootstrap.library import open_library
from judge.entrypoints.cli.options import FOUND_SOMETHING
from judge.entrypoints.cli.output import detect_terminal, say
from judge.entrypoints.cli.plain_text import one_line, wrapped
from judge.entrypoints.cli.sources.check import require_domain
from judge.errors import ConfigurationError
from judge.judging.catalog_check import is_plain_http, page_key
from judge.judging.domains import detect_domain
from judge.judging.results import Knowledge
from judge.library.dispute import read_dispute
from judge.library.pages.page_records import PageRecord, SnippetRequest
from judge.library.sources.edit import format_source, propose_source, with_source
from judge.library.sources.tables import SourceTable
from judge.ports import Journal
from judge.settings import load_settings
from judge.types.references import SourceSpec
from judge.types.request_fields import parse_fields
from judge.types.requests import DEFAULT_DOMAIN


async def add_source(journal: Journal, *, url: str, domain: str | None, is_sure: bool) -> int:
    """Propose the page at *url*, and write it into its file once confirmed; the exit code."""
    settings = load_settings()
    async with open_library(settings, journal) as library:
        known = library.sources.current()
        require_domain(known, domain)
        _require_new(url, known, settings.trusted_hosts)
        catalog = known.catalog
        names = catalog.country.region_names
        request = SnippetRequest("", SourceSpec(url, ""), catalog.retrieval, names)
        record = await library.retriever.reader.read_page(request)
    if record.is_withdrawn:
        raise ConfigurationError(
            f"Its publisher has withdrawn {url}, so that it must not be quoted. Look for the page "
            "that took its place."
        )
    source = propose_source(url, record, catalog)
    name = domain or _detected(known, record)
    spec = next(spec for spec in catalog.domains if spec.name == name)
    _show(source, record, name, spec.file)
    if not (is_sure or click.confirm("Write it?", err=True)):
        say("Nothing was written.")
        return FOUND_SOMETHING
    write_source(Path(spec.file), name, source)
    say(f"Written into {spec.file}; change title and topics there as you like.")
    return 0


def write_source(path: Path, domain: str, source: SourceSpec) -> None:
    """Write *source* into the file at *path*, atomically; every other character stays."""
    try:
        # A symbolic link stays; the file that it points to is written.
        target = path.resolve(strict=True)
        content = target.read_bytes()
        encoding = "utf-8-sig" if content.startswith(BOM_UTF8) else "utf-8"
        written = with_source(content.decode(encoding), domain, source).encode(encoding)
        write_whole(target, written, mode=target.stat().st_mode & 0o7777)
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be written ({error.strerror}). Add this to the sources of "
            f"[domains.{domain}] yourself: {format_source(source)}"
        ) from None


def _require_new(url: str, known: Knowledge, trusted_hosts: Collection[str]) -> None:
    """Raise BadFields or ConfigurationError for a bad, unencrypted or configured address."""
    parse_fields(SourceTable, {"url": url, "title": "any"})
    if is_plain_http(url, trusted_hosts):
        raise ConfigurationError(f"{url} is not encrypted. Give its https address.")
    for domain in known.catalog.domains:
        for source in domain.sources:
            if page_key(source.url) == page_key(url):
                raise ConfigurationError(
                    f"{source.url} stands in domains.{domain.name} already ({domain.file}), as "
                    f"{source.title!r}. All pages are looked at for every dispute."
                )


def _detected(known: Knowledge, record: PageRecord) -> str:
    """The domain of a dispute with the words of the page; raises ConfigurationError."""
    headings = dict.fromkeys(passage.heading for passage in record.passages)
    text = ". ".join([record.text, *headings])
    domain = detect_domain(known.detector, read_dispute(text, record.title)).domain
    if domain == DEFAULT_DOMAIN:
        raise ConfigurationError(
            "The page does not say enough to tell its domain. Name it with --domain: "
            f"{', '.join(known.detector.domains)}."
        )
    return domain


def _show(source: SourceSpec, record: PageRecord, domain: str, file: str) -> None:
    """Print the proposal."""
    facts = {
        "Domain": f"{domain} ({file})",
        "Nations": ", ".join(record.nations) or "all, or the page does not say",
        "Updated": str(record.updated or "the page does not say"),
        "Quoted": record.text,
    }
    for name, value in facts.items():
        line = f"{name + ':':<9} {one_line(value)}"
        click.echo(wrapped(line, detect_terminal().width, hanging=" " * 10))
    click.echo(f"\n{one_line(format_source(source))}")
