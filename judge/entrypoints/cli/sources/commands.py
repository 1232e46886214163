"""`judge sources`: what is configured, whether it works, and why a text gets its domain."""

import click

from judge.entrypoints.cli.options import runs, text_or_json

_offline = click.option("--offline", "is_offline", is_flag=True, help="Fetch no pages.")
_domain = click.option("--domain", metavar="NAME", help="Only this domain.")


@click.group()
def sources() -> None:
    """List, check, explain and add the approved pages."""


@sources.command("list")
@text_or_json
@runs("sources.check.list_pages")
def list_sources() -> None:
    """List the domains and their pages, most recently updated first.

    The publishers' dates are known for pages that are in Redis.
    """


@sources.command()
@_domain
@text_or_json
@runs("sources.check.show_effective_sources")
def show() -> None:
    """Show the effective sources, each with its file and line.

    They come from the sources file, the files it includes and the package's vocabulary.
    Terms are only counted, unless you name a --domain.
    """


@sources.command(
    epilog="Exit code 1 means that a problem was found; 2 that the sources file cannot be used."
)
@_domain
@_offline
@text_or_json
@runs("sources.check.show_checks")
def check() -> None:
    """Check the sources file and its pages, and show what would be quoted.

    Each page must exist, be quotable and not be withdrawn; each example must get the domain under
    which it stands and each of the not_examples another, as a story and as a question. Terms that
    hide terms of another domain, pages that stand twice and addresses without encryption are
    reported. What was fetched is kept in Redis, if that is configured.
    """


@sources.command(epilog="Exit code 1 means that a page could not be fetched.")
@runs("sources.check.warm_cache")
def warm() -> None:
    """Fetch all pages into Redis, so that no request waits for one."""


@sources.command()
@click.argument("text", required=False)
@click.option("--context", help="What happened.")
@click.option("--query", help="The question about it; it counts more.")
@click.option(
    "--fetch", "may_fetch", is_flag=True, help="Fetch the likely pages, as a dispute does."
)
@text_or_json
@runs("sources.explain.show_explanation")
def explain() -> None:
    """Explain why a dispute gets its domain, help lines and pages.

    TEXT is the story alone; use --context and --query to give story and question separately. A - in
    place of one of them reads stdin. All terms found in the text are shown, also those that count
    for nothing or were ignored. Pages are ranked by their text, if Redis has it.
    """


@sources.command(epilog="Exit code 1 means that nothing was written.")
@click.argument("url")
@click.option("--domain", metavar="NAME", help="The domain to add it to; detected by default.")
@click.option("--yes", "is_sure", is_flag=True, help="Write without asking.")
@runs("sources.add.add_source")
def add() -> None:
    """Fetch the page at URL, show what would be quoted, and add it to the sources.

    Title and topics are proposed from the page. Once you confirm, one entry is written to the file
    that has the domain; nothing else in it changes.
    """


@sources.command("try")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@_offline
@text_or_json
@runs("sources.explain.show_evaluation")
def try_file() -> None:
    """Measure detection on the labelled disputes in FILE.

    Each line is a JSON object with context, query, domain (`default` for none) and optionally
    pages, the addresses of the relevant pages. The results are the precision, recall and F1 of each
    domain, which domains are confused, and how many of the pages are found.
    """
