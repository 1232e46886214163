"""The work of `judge code`: build a repository's graph, query it, and print the answers."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
from codegraph.errors import AmbiguousSymbol, CodeGraphError, UnknownSymbol
from codegraph.models import BuildReport, LineageResult, WhereUsedResult
from codegraph.query.code_graph import CodeGraph
from codegraph.query.formats import Result, as_json, as_mermaid, as_text

from judge.entrypoints.cli.options import (
    COULD_NOT_ANSWER,
    FOUND_SOMETHING,
    is_terminal,
    require_text,
)
from judge.entrypoints.cli.plain_text import one_line, plain_lines
from judge.errors import InvalidRequest


def build_graph(_: object, *, repo: Path) -> int:
    """Build the graph of *repo* and print its figures; the exit code."""
    try:
        report = _build(repo)
    except CodeGraphError as error:
        return _print_error(error, as_json=True)
    figures = ("files", "nodes", "edges", "read", "linked", "unparsed", "submodules")
    done: dict[str, Any] = {"status": "ok", "graph": str(repo / ".judge" / "rag_graph.json")}
    done |= {name: getattr(report, name) for name in figures}
    if is_terminal():
        told = {name: ", ".join(x) if isinstance(x, tuple) else x for name, x in done.items()}
        click.echo(plain_lines("\n".join(f"{name}: {x}" for name, x in told.items() if x != "")))
    else:
        _print_json(done)
    return 0


def search(journal: object, *, ranked: bool, **options: Any) -> int:
    """Print the lines that hold the query, or with *ranked* what it is about; the exit code."""
    if not ranked:
        return _answer(CodeGraph.search, journal, **options)
    if options.pop("is_regex"):
        raise click.UsageError("--ranked takes words and --regex an expression: leave out one.")
    del options["ignore_case"]
    return _answer(CodeGraph.rank, journal, **options)


def _answer(
    ask: Callable[..., Result],
    _: object,
    *,
    repo: Path,
    refresh: bool,
    form: str | None,
    **question: Any,
) -> int:
    """Print what *ask* returns for the graph of *repo* and the *question*; the exit code."""
    form = form or ("text" if is_terminal() else "json")
    try:
        require_text(*(value for value in question.values() if isinstance(value, str)))
        if refresh:
            _build(repo)
        result = ask(CodeGraph(repo), **question)
    except (CodeGraphError, InvalidRequest) as error:
        return _print_error(error, as_json=form == "json")
    if form == "json":
        _print_json(as_json(result))
    elif form == "mermaid" and isinstance(result, WhereUsedResult | LineageResult):
        click.echo(plain_lines(as_mermaid(result)))
    else:
        click.echo(plain_lines(as_text(result)))
    return 0


where_used = partial(_answer, CodeGraph.where_used)
lineage = partial(_answer, CodeGraph.lineage)
context = partial(_answer, CodeGraph.context)


def _build(repo: Path) -> BuildReport:
    from codegraph.build import build_graph_for_repo  # No query needs them.

    from judge.entrypoints.cli.output import progress_bar

    with progress_bar("Reading the repository") as advance:
        return build_graph_for_repo(
            repo, on_progress=lambda done, total: advance(None, completed=done, total=total)
        )


def _print_error(error: Exception, *, as_json: bool) -> int:
    """Report *error* on stderr and, with *as_json*, as JSON on stdout; the exit code."""
    body: dict[str, Any] = {"status": "error", "error": type(error).__name__, "detail": str(error)}
    if isinstance(error, AmbiguousSymbol):
        body["candidates"] = list(error.candidates)
    if as_json:
        _print_json(body)
    click.echo(f"judge: {one_line(str(error))}", err=True)
    is_finding = isinstance(error, AmbiguousSymbol | UnknownSymbol)
    return FOUND_SOMETHING if is_finding else COULD_NOT_ANSWER


def _print_json(value: dict[str, Any]) -> None:
    # ASCII, so that nothing in a source file can steer a terminal. Compact when piped: indents
    # make it a third longer and spaces a twentieth, for which an assistant pays.
    indent, separators = (2, None) if is_terminal() else (None, (",", ":"))
    click.echo(json.dumps(value, indent=indent, separators=separators))
