"""The work of `judge search`: check what was typed, search, print, and the exit code."""

import asyncio
import traceback
from collections.abc import Mapping
from dataclasses import dataclass

import click

from judge.bootstrap import open_search
from judge.entrypoints.cli.events import TerminalJournal
from judge.entrypoints.cli.main import COULD_NOT_ANSWER
from judge.entrypoints.cli.options import FOUND_SOMETHING
from judge.entrypoints.cli.output import say
from judge.entrypoints.cli.plain_text import one_line, plain_lines
from judge.entrypoints.cli.search_text import (
    Failure,
    Results,
    failure_json,
    failure_text,
    results_json,
    results_text,
)
from judge.errors import BadScope, IndexUnavailable, InvalidRequest, JudgeError, MissingKey
from judge.search.answers import bad_marks, count_sources, find_marks, format_answer
from judge.search.service import MAX_QUERY, Asked, EmptyQuery, Found
from judge.settings import Settings, load_settings
from judge.types.search import Clause, Scope

FEWEST, MOST = 3, 8
"""Results, as the command's contract has it."""

EVERYTHING = "*"


@dataclass(frozen=True, slots=True)
class Search:
    """What was typed; `form` is `text`, `json` or `answer`."""

    query: str
    k: str
    collection: str | None
    context: str | None
    form: str


class NoConnection(IndexUnavailable):
    """The server that was configured does not answer; *details* says how."""

    def __init__(self, url: str, details: str) -> None:
        super().__init__(f"Cannot connect to Qdrant at {url}")
        self.details = details


class BadNumber(InvalidRequest):
    """How many results are wanted is no number."""


INTERNAL = "INTERNAL_ERROR"
CODES: Mapping[type, str] = {
    EmptyQuery: "EMPTY_QUERY",
    BadNumber: "INVALID_K",
    BadScope: "BAD_SCOPE",
    MissingKey: "MISSING_KEY",
    NoConnection: "CONNECTION_ERROR",
}
"""Where a class is not listed its nearest ancestor counts."""


def show_results(wanted: Search, *, is_verbose: bool) -> int:
    """Print what was found, or the error as the format wants it; the exit code."""
    try:
        results = _search(wanted)
    except Exception as error:
        if is_verbose:
            raise
        return _tell_failure(_failure(error), wanted.form)
    for warning in results.warnings:
        say(f"Warning: {one_line(warning)}")
    if results.hint:
        say(f"Hint: {one_line(results.hint)}")
    click.echo(_shown(results, wanted.form), nl=False)
    return FOUND_SOMETHING if results.warnings else 0


def check_reply(wanted: Search, reply: str, *, has_query: bool) -> int:
    """Say which marks in *reply* name no source; the exit code is 1 if any does not.

    The sources are the results of the query, or without one the numbered blocks in *reply*.
    """
    sources = len(_search(wanted).hits) if has_query else count_sources(reply)
    if sources is None:
        raise InvalidRequest(
            "It cannot be told how many sources there were: the reply has no numbered blocks. "
            "Give the query as well, and --k if you gave it."
        )
    bad = bad_marks(reply, sources)
    for mark in bad:
        click.echo(f"line {mark.line}: {one_line(mark.text)} has no source; there are {sources}.")
    say(f"{len(find_marks(reply))} citation marks, {len(bad)} without a source.")
    return FOUND_SOMETHING if bad else 0


def _search(wanted: Search) -> Results:
    query = wanted.query.strip()
    if not query:
        raise EmptyQuery
    warnings: list[str] = []
    limit = _limit(wanted.k, warnings)
    if len(query) > MAX_QUERY:
        warnings.append(f"The query has {len(query)} characters; it was cut to {MAX_QUERY}.")
    settings = load_settings()
    found = _find_or_explain(settings, wanted, query, limit)
    warnings += found.results.warnings
    return Results(
        query=query[:MAX_QUERY],
        collection=_collection(found, wanted),
        hits=found.results.hits,
        warnings=tuple(warnings),
        hint=found.hint,
    )


def _find_or_explain(settings: Settings, wanted: Search, query: str, limit: int) -> Found:
    try:
        return asyncio.run(_find(settings, wanted, query, limit))
    except IndexUnavailable as error:
        if settings.qdrant_url is None:
            raise
        raise NoConnection(_without_password(settings.qdrant_url), str(error)) from error


def _without_password(url: str) -> str:
    scheme, sign, rest = url.partition("://")
    return f"{scheme}{sign}{rest.rpartition('@')[2]}"


async def _find(settings: Settings, wanted: Search, query: str, limit: int) -> Found:
    named = wanted.collection
    filters = Scope() if named in {None, EVERYTHING} else _only(named or "")
    async with open_search(settings, TerminalJournal(is_verbose=False)) as corpus:
        return await corpus.search.search(
            Asked(
                query,
                context=wanted.context,
                filters=filters,
                default_collection=None if named else settings.collection,
                limit=limit,
            )
        )


def _only(collection: str) -> Scope:
    if not collection.strip():
        raise BadScope("--collection: a value is missing.")
    return Scope((Clause("collection", (collection.strip(),)),))


def _limit(k: str, warnings: list[str]) -> int:
    """How many results to show: *k* within its bounds."""
    try:
        number = int(k[:20])
    except ValueError:
        raise BadNumber("K must be an integer") from None
    limit = min(max(number, FEWEST), MOST)
    if limit != number:
        warnings.append(f"k must be from {FEWEST} to {MOST}; {limit} is used instead of {number}.")
    return limit


def _collection(found: Found, wanted: Search) -> str:
    """The collections that were searched, as the heading names them."""
    if wanted.collection:
        return wanted.collection.strip()
    named = [
        name
        for clause in found.scope.clauses
        if clause.kind == "collection" and not clause.is_excluded
        for name in clause.values
    ]
    return ", ".join(named) or EVERYTHING


def _shown(results: Results, form: str) -> str:
    match form:
        case "json":
            return results_json(results)
        case "answer":
            return plain_lines(format_answer(results.hits))
        case _:
            return results_text(results)


def _tell_failure(failure: Failure, form: str) -> int:
    if form == "json":
        click.echo(failure_json(failure), nl=False)
    else:
        click.echo(failure_text(failure), nl=False, err=True)
    return COULD_NOT_ANSWER


def _failure(error: Exception) -> Failure:
    """*error* under the code that scripts know it by."""
    if isinstance(error, JudgeError):
        code = next((CODES[kind] for kind in type(error).__mro__ if kind in CODES), INTERNAL)
        return Failure(code, str(error), _details(error))
    # The words of an error that nobody foresaw may be somebody's.
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{type(error).__name__} in {place.filename}, line {place.lineno}"
    return Failure(INTERNAL, "Something went wrong that should not have", where)


def _details(error: JudgeError) -> str:
    """What helps to go on."""
    match error:
        case NoConnection():
            return error.details
        case BadScope() if error.valid:
            return f"Valid are: {', '.join(error.valid)}"
        case BadScope():
            return "Scopes are explained in docs/scopes.md"
        case EmptyQuery():
            return "Give a query: judge search TEXT"
        case BadNumber():
            return f"Give a number from {FEWEST} to {MOST}"
        case _:
            return "Nothing was searched"
