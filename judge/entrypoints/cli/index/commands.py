"""`judge index`: keep your own documents in the search index."""

from collections.abc import Awaitable
from typing import Any

import click

from judge.entrypoints.cli.options import text_or_json
from judge.entrypoints.cli.shell import Shell

ADD_EPILOG = """\b
Examples:
judge index add docs
judge index add handbook.pdf https://example.org/terms --collection leases --tag 2025
judge index add src --glob '*.py' --prune

Files are Markdown, text, HTML, PDF and source code, 10 MiB at most. Exit code 1 means that
something was skipped; it is named on stderr."""

_collection = click.option(
    "--collection", "-c", metavar="NAME", help="By default JUDGE_COLLECTION."
)


@click.group()
def index() -> None:
    """Keep your own documents in the search index."""


@index.command(epilog=ADD_EPILOG)
@click.argument("places", nargs=-1, required=True, metavar="PATH|URL...")
@_collection
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="For every document; repeat it.")
@click.option("--folder", default="", metavar="PATH", help="Put everything below this folder.")
@click.option("--document", "document_id", metavar="ID", help="The id; for a single document.")
@click.option("--title", metavar="TEXT", help="The title; for a single document.")
@click.option("--glob", "globs", multiple=True, metavar="GLOB", help="Only such files: '*.md'.")
@click.option(
    "--prune", "prunes", is_flag=True, help="Remove documents below PATH whose files are gone."
)
@click.option(
    "--replace", "replaces", is_flag=True, help="Read all anew; remove the rest of the collection."
)
@text_or_json
@click.pass_obj
def add(shell: Shell, /, **options: Any) -> Awaitable[int]:
    """Add files, folders and web pages; only what changed is read again."""
    from judge.entrypoints.cli.index.run import add_documents

    return add_documents(shell.journal, **options)


@index.command()
@click.argument("documents", nargs=-1, metavar="[ID]...")
@_collection
@click.option("--all", "is_all", is_flag=True, help="Remove the whole collection.")
@text_or_json
def remove(
    *, documents: tuple[str, ...], collection: str | None, is_all: bool, form: str
) -> Awaitable[int]:
    """Remove documents by their ids, or a whole collection."""
    from judge.entrypoints.cli.index.run import remove_documents

    if bool(documents) == is_all:
        raise click.UsageError("Name the documents to remove, or say --all.")
    return remove_documents(collection, documents, form)


@index.command("list")
@_collection
@text_or_json
def list_documents(*, collection: str | None, form: str) -> Awaitable[None]:
    """List the documents of a collection."""
    from judge.entrypoints.cli.index.run import show_documents

    return show_documents(collection, form)


@index.command()
@text_or_json
def stats(*, form: str) -> Awaitable[None]:
    """Tell how much every collection holds."""
    from judge.entrypoints.cli.index.run import show_stats

    return show_stats(form)
