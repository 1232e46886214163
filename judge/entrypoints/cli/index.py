"""`judge index`: keep your own documents in the search index."""

from collections.abc import Sequence

import click

from judge.entrypoints.cli.options import runs, text_or_json


def _one(_context: click.Context, _option: click.Parameter, given: Sequence[str]) -> str | None:
    if len(given) > 1:
        raise click.BadParameter("name one collection, and use the command once for each.")
    return next(iter(given), None)


_collection = click.option(
    "--collection",
    "-c",
    multiple=True,
    callback=_one,
    metavar="NAME",
    help="The collection; JUDGE_COLLECTION by default.",
)


@click.group()
def index() -> None:
    """Manage the search index of your own documents."""


@index.command(
    epilog="""\b
Examples:
judge index add docs
judge index add handbook.pdf https://example.org/terms --collection leases --tag 2025
judge index add src --glob '*.py' --prune

Files are Markdown, text, HTML, PDF, CSV, JSON, notebooks, mail and source code, 10 MiB at most;
others need pandoc. Exit code 1 means that something was skipped; stderr says what."""
)
@click.argument("places", nargs=-1, required=True, metavar="PATH|URL...")
@_collection
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Tag the documents; repeatable.")
@click.option("--folder", default=".", metavar="PATH", help="Prefix the ids with this folder.")
@click.option("--document", "document_id", metavar="ID", help="The id, for a single document.")
@click.option("--title", help="The title, for a single document.")
@click.option("--glob", "globs", multiple=True, metavar="GLOB", help="Only these files: '*.md'.")
@click.option(
    "--prune", "prunes", is_flag=True, help="Remove documents below PATH whose files are gone."
)
@click.option(
    "--replace", "replaces", is_flag=True, help="Read all again; remove the rest of the collection."
)
@text_or_json
@runs("indexing.add_documents")
def add() -> None:
    """Add files, folders and web pages; only changed files are read again."""


@index.command()
@click.argument("documents", nargs=-1, metavar="[ID]...")
@_collection
@click.option("--all", "is_all", is_flag=True, help="Remove the whole collection.")
@text_or_json
@runs("indexing.remove_documents")
def remove() -> None:
    """Remove documents by their ids, or a whole collection."""


@index.command("list")
@_collection
@text_or_json
@runs("indexing.show_documents")
def list_documents() -> None:
    """List the documents of a collection."""


@index.command()
@text_or_json
@runs("indexing.show_stats")
def stats() -> None:
    """Show the size of each collection."""
