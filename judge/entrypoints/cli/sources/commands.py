"""`judge sources`: what is in force, whether it works, and why a text gets its domain."""

import click

from judge.entrypoints.cli.options import runs, text_or_json

_offline = click.option("--offline", "is_offline", is_flag=True, help="Fetch no page.")
_domain = click.option("--domain", metavar="NAME", help="Only this one.")


@click.group()
def sources() -> None:
    """List, check, warm, explain and add the approved pages."""


@sources.command("list")
@text_or_json
@runs("sources.reports.show_sources")
def list_sources() -> None:
    """List the domains and their pages, those that were updated last first.

    The publishers' dates are known for pages that are kept in Redis.
    """


@sources.command()
@_domain
@text_or_json
@runs("sources.show.show_effective_sources")
def show() -> None:
    """Show what is in force, and in which file and line it stands.

    The sources file, those that it includes and the vocabulary of the package are put together.
    Without --domain, terms are counted; with it, each is shown.
    """


@sources.command(
    epilog="Exit code 1 means that something was found; 2 that the sources file cannot be used."
)
@_domain
@_offline
@text_or_json
@runs("sources.reports.show_checks")
def check() -> None:
    """Check the sources file before it is deployed, and show what would be quoted.

    Each page must be there, in force and quotable; each example must get the domain under which it
    stands and each of the not_examples another, as a story and as a question. Terms that stand
    twice or hide those of another domain, pages that stand twice and addresses without encryption
    are reported. What was fetched is kept in Redis, if that is configured.
    """


@sources.command(epilog="Exit code 1 means that a page failed.")
@runs("sources.reports.warm_cache")
def warm() -> None:
    """Fill the cache in Redis, so that nobody waits for a page."""


@sources.command()
@click.argument("text", required=False)
@click.option("--context", metavar="TEXT", help="What happened.")
@click.option("--query", metavar="TEXT", help="What is asked about it; it weighs more.")
@click.option(
    "--fetch", "may_fetch", is_flag=True, help="Read the likely pages, as a dispute does."
)
@text_or_json
@runs("sources.explanations.show_explanation")
def explain() -> None:
    """Say why a dispute is given its domain, its help lines and its pages.

    TEXT is the story alone; give --context and --query to tell story and question apart. A - in
    place of one of them is stdin. All terms found in the text are shown, also those that weigh
    nothing or were ignored. Pages are ranked by what Redis has of them.
    """


@sources.command(epilog="Exit code 1 means that nothing was written.")
@click.argument("url")
@click.option("--domain", metavar="NAME", help="The domain to add it to; else it is detected.")
@click.option("--yes", "is_sure", is_flag=True, help="Write without asking.")
@runs("sources.add.add_source")
def add() -> None:
    """Fetch the page at URL, show what would be quoted, and add it to the sources.

    Title and topics are proposed from the page. Once you confirm, one entry is written into the
    file that holds the domain, and nothing else in it is changed.
    """


@sources.command("try")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@_offline
@text_or_json
@runs("sources.evaluations.show_evaluation")
def try_file() -> None:
    """Score the labelled disputes in FILE, so that tuning can be measured.

    Each line is a JSON object with context, query and domain (`default` for none), and if you like
    pages, the addresses that bear on it. Precision, recall and F1 of each domain are shown,
    which domains are confused, and how many of the pages are found.
    """
