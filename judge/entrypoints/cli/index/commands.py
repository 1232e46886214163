"""`judge index`: keep your own documents in the search index."""

from collections.abc import Awaitable

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
@click.option("--document", metavar="ID", help="The id; for a single document.")
@click.option("--title", metavar="TEXT", help="The title; for a single document.")
@click.option("--glob", "globs", multiple=True, metavar="GLOB", help="Only such files: '*.md'.")
@click.option("--prune", is_flag=True, help="Remove documents below PATH whose files are gone.")
@click.option("--replace", is_flag=True, help="Read all anew; remove the rest of the collection.")
@text_or_json
@click.pass_obj
def add(
    shell: Shell,
    *,
    places: tuple[str, ...],
    collection: str | None,
    tags: tuple[str, ...],
    folder: str,
    document: str | None,
    title: str | None,
    globs: tuple[str, ...],
    prune: bool,
    replace: bool,
    form: str,
) -> Awaitable[int]:
    """Add files, folders and web pages; only what changed is read again."""
    from judge.entrypoints.cli.index.run import add_documents
    from judge.search.indexing.plan import IndexingOptions
    from judge.settings import load_settings

    settings = load_settings()
    options = IndexingOptions(
        collection=(collection or settings.collection).strip(),
        tags=tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip())),
        folder=folder,
        document_id=document,
        title=title,
        globs=globs,
        prunes=prune,
        replaces=replace,
    )
    return add_documents(settings, places, options, form, shell.journal)


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
    from judge.settings import load_settings

    if bool(documents) == is_all:
        raise click.UsageError("Name the documents to remove, or say --all.")
    settings = load_settings()
    return remove_documents(settings, collection or settings.collection, documents, form)


@index.command("list")
@_collection
@text_or_json
def list_documents(*, collection: str | None, form: str) -> Awaitable[None]:
    """List the documents of a collection."""
    from judge.entrypoints.cli.index.run import show_documents
    from judge.settings import load_settings

    settings = load_settings()
    return show_documents(settings, collection or settings.collection, form)


@index.command()
@text_or_json
def stats(*, form: str) -> Awaitable[None]:
    """Tell how much every collection holds."""
    from judge.entrypoints.cli.index.run import show_stats
    from judge.settings import load_settings

    return show_stats(load_settings(), form)
