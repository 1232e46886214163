"""`judge code`: build a repository's code graph and ask it questions."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from judge.entrypoints.cli.options import COULD_NOT_ANSWER, FOUND_SOMETHING

if TYPE_CHECKING:
    from judge.codegraph.models import BuildReport
    from judge.codegraph.query.code_graph import CodeGraph
    from judge.codegraph.query.formats import Result

SYMBOL_EPILOG = "Exit code 1: the name is unknown or has several meanings."
_Command = TypeVar("_Command", bound=Callable[..., Any])

_repository = click.option(
    "--repo",
    "-r",
    type=click.Path(path_type=Path),
    default=".",
    show_default=True,
    help="The folder of the repository.",
)
_symbol = click.option("--symbol", "-s", required=True, help="A name, Class.method or a full name.")
_refresh = click.option("--refresh", is_flag=True, help="Build the graph first.")


def _form(*forms: str) -> Callable[[_Command], _Command]:
    return click.option(
        "--format",
        "form",
        type=click.Choice(forms),
        default="json",
        show_default=True,
        help="For programs, for people or for a picture.",
    )


def _limit(*names: str, default: int) -> Callable[[_Command], _Command]:
    return click.option(
        *names,
        type=click.IntRange(1),
        default=default,
        show_default=True,
        help="The largest number of items.",
    )


@click.group()
def code() -> None:
    """Find your way in a repository."""


@code.command("build-graph")
@_repository
def build_graph(*, repo: Path) -> int:
    """Write the graph, reading only what has changed.

    It goes to .judge/rag_graph.json in the repository.
    """
    from judge.errors import JudgeError

    try:
        report = _build(repo)
    except JudgeError as error:
        return _print_error(error, as_json=True)
    _print_json(
        {
            "status": "ok",
            "graph": str(repo / ".judge" / "rag_graph.json"),
            "files": report.files,
            "nodes": report.nodes,
            "edges": report.edges,
            "read": report.read,
            "linked": report.linked,
            "unparsed": list(report.unparsed),
        }
    )
    return 0


@code.command()
@_repository
@click.option("--query", "-q", required=True, help="What to look for.")
@_limit("--limit", "-l", default=20)
@click.option("--regex", "is_regex", is_flag=True, help="The query is a regular expression.")
@click.option("--ignore-case", "-i", is_flag=True, help="Upper and lower case are the same.")
@click.option("--ranked", is_flag=True, help="Definitions by relevance to a question.")
@_refresh
@_form("json", "text")
def search(
    *, repo: Path, refresh: bool, form: str, query: str, limit: int, ranked: bool, **how: bool
) -> int:
    """Find the lines that hold a text, or what a question is about."""

    def ask(graph: "CodeGraph") -> "Result":
        return graph.rank(query, limit) if ranked else graph.search(query, limit, **how)

    return _answer(repo, ask, form, refresh=refresh)


@code.command("where-used", epilog=SYMBOL_EPILOG)
@_repository
@_symbol
@_limit("--limit", "-l", default=50)
@click.option(
    "--possible", "with_possible", is_flag=True, help="Show uses on receivers of unknown type too."
)
@click.option(
    "--text", "with_text", is_flag=True, help="Show lines that only mention the name too."
)
@_refresh
@_form("json", "text", "mermaid")
def where_used(*, repo: Path, refresh: bool, form: str, **question: Any) -> int:
    """Find the definitions and uses of a symbol.

    That is a module, class, function or method, a constant or a field.
    """
    return _answer(repo, lambda graph: graph.where_used(**question), form, refresh=refresh)


@code.command(epilog=SYMBOL_EPILOG)
@_repository
@_symbol
@click.option(
    "--direction",
    "-d",
    default="downstream",
    show_default=True,
    help="upstream: what it depends on; downstream: what depends on it; or a synonym.",
)
@_limit("--max-results", "-m", default=50)
@click.option("--depth", type=click.IntRange(1), help="The longest way, in steps.")
@_refresh
@_form("json", "text", "mermaid")
def lineage(*, repo: Path, refresh: bool, form: str, **question: Any) -> int:
    """Follow what a symbol needs, or what needs it."""
    return _answer(repo, lambda graph: graph.lineage(**question), form, refresh=refresh)


@code.command(epilog=SYMBOL_EPILOG)
@_repository
@_symbol
@click.option(
    "--tokens",
    "-t",
    type=click.IntRange(200),
    default=4000,
    show_default=True,
    help="The size of the answer, about.",
)
@_refresh
@_form("json", "text")
def context(*, repo: Path, refresh: bool, form: str, **question: Any) -> int:
    """Show a symbol's source, callers, callees and tests."""
    return _answer(repo, lambda graph: graph.context(**question), form, refresh=refresh)


def _answer(
    repo: Path, question: "Callable[[CodeGraph], Result]", form: str, *, refresh: bool
) -> int:
    """Print what the graph of *repo* answers; the exit code."""
    from judge.codegraph.models import LineageResult, WhereUsedResult
    from judge.codegraph.query.code_graph import CodeGraph
    from judge.codegraph.query.formats import as_json, as_mermaid, as_text
    from judge.codegraph.store.artifact import collection_paused
    from judge.errors import JudgeError

    try:
        with collection_paused():
            seen = _build(repo).seen if refresh else None
            result = question(CodeGraph(repo, seen))
            # All of it is in use until the process ends; to look for garbage would take a while.
            gc.freeze()
    except JudgeError as error:
        return _print_error(error, as_json=form == "json")
    if form == "json":
        _print_json(as_json(result))
    elif form == "mermaid" and isinstance(result, WhereUsedResult | LineageResult):
        click.echo(as_mermaid(result))
    else:
        click.echo(as_text(result))
    return 0


def _build(repo: Path) -> "BuildReport":
    from judge.codegraph.build import build_graph_for_repo

    with _progress() as on_progress:
        return build_graph_for_repo(repo, on_progress=on_progress)


def _print_error(error: Exception, *, as_json: bool) -> int:
    """Say what went wrong: a sentence on stderr and, where JSON is wanted, JSON on stdout."""
    from judge.codegraph.errors import AmbiguousSymbol, UnknownSymbol

    found: dict[str, Any] = {"status": "error", "error": type(error).__name__, "detail": str(error)}
    if isinstance(error, AmbiguousSymbol):
        found["candidates"] = list(error.candidates)
    if as_json:
        _print_json(found)
    click.echo(f"judge: {error}", err=True)
    is_finding = isinstance(error, AmbiguousSymbol | UnknownSymbol)
    return FOUND_SOMETHING if is_finding else COULD_NOT_ANSWER


def _print_json(value: dict[str, Any]) -> None:
    import json

    # ASCII, so that nothing in a source file can steer a terminal. Indented it is a third longer,
    # which an assistant pays for and a program does not read.
    click.echo(json.dumps(value, indent=2 if sys.stdout.isatty() else None))


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr when stdout is a terminal that welcomes one; else nothing."""
    if not sys.stdout.isatty():
        yield None
        return
    from judge.entrypoints.cli.output import progress_bar

    with progress_bar("Reading the repository", 1) as advance:
        shown = 0.0

        def on_progress(done: int, total: int) -> None:
            nonlocal shown
            share = done / max(total, 1)
            advance(share - shown)
            shown = share

        yield on_progress
