"""`judge code`: build a repository's code graph and ask it questions."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from judge.entrypoints.cli.options import runs

SYMBOL_EPILOG = "Exit code 1: the name is unknown or ambiguous."

_repository = click.option(
    "--repo", "-r", type=click.Path(path_type=Path), default=".", help="The root of the repository."
)
_symbol = click.option("--symbol", "-s", required=True, help="A name, Class.method or a full name.")
_refresh = click.option("--refresh", is_flag=True, help="Update the graph first.")


def _form(*forms: str) -> Callable[[click.decorators.FC], click.decorators.FC]:
    return click.option(
        "--format",
        "form",
        type=click.Choice(forms),
        help="The output format: text on a terminal and else json, unless given.",
    )


_limit = partial(click.option, type=click.IntRange(1), help="The most items to show.")


@click.group()
def code() -> None:
    """Search a repository and find where its symbols are used."""


@code.command("build-graph")
@_repository
@runs("code.run.build_graph")
def build_graph() -> None:
    """Build or update the graph; only changed files are read.

    It is written to .judge/rag_graph.json in the repository.
    """


@code.command()
@_repository
@click.option("--query", "-q", required=True, help="What to look for.")
@_limit("--limit", "-l", default=20)
@click.option("--regex", "is_regex", is_flag=True, help="The query is a regular expression.")
@click.option("--ignore-case", "-i", is_flag=True, help="Ignore case.")
@click.option("--ranked", is_flag=True, help="Rank definitions by relevance to the query.")
@_refresh
@_form("json", "text")
@runs("code.run.search")
def search() -> None:
    """Find the lines that contain a text, or rank definitions by a question."""


@code.command("where-used", epilog=SYMBOL_EPILOG)
@_repository
@_symbol
@_limit("--limit", "-l", default=50)
@click.option(
    "--possible", "with_possible", is_flag=True, help="Also show uses on receivers of unknown type."
)
@click.option(
    "--text", "with_text", is_flag=True, help="Also show lines that only mention the name."
)
@_refresh
@_form("json", "text", "mermaid")
@runs("code.run.where_used")
def where_used() -> None:
    """Find the definitions and uses of a symbol.

    A symbol is a module, class, function, method, constant or field.
    """


@code.command(epilog=SYMBOL_EPILOG)
@_repository
@_symbol
@click.option(
    "--direction",
    "-d",
    default="downstream",
    help="upstream: what it depends on; downstream: what depends on it; or a synonym.",
)
@_limit("--max-results", "-m", default=50)
@click.option("--depth", type=click.IntRange(1), help="The most steps to follow.")
@_refresh
@_form("json", "text", "mermaid")
@runs("code.run.lineage")
def lineage() -> None:
    """Follow what a symbol depends on, or what depends on it."""


@code.command(epilog=SYMBOL_EPILOG)
@_repository
@_symbol
@click.option(
    "--tokens", "-t", type=click.IntRange(200), default=4000, help="About how long the answer is."
)
@_refresh
@_form("json", "text")
@runs("code.run.context")
def context() -> None:
    """Show a symbol's source, callers, callees and tests."""
